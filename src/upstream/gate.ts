/**
 * How many calls a service gets at once: few while it is quick, more while calls wait.
 *
 * A burst of quick calls is as fast over a few connections and easier on the service. Of a service that is far away or slow, each
 * connection is idle most of the time; there, waiting for one gains nothing. And slow calls must not hold up the rest.
 */
import { type Ticking, type Timed, createClock } from './clock.ts';
import { type Place, createQueue, join, leave } from './queue.ts';

export interface GateSettings {
  maxConnections: number;
  maxBusyConnections: number;
}

export interface Gate {
  /** Undefined where a call may begin; else its place in the queue: `begin` is called when it may, unless it gives up. Who is in must leave. */
  enter: (begin: () => void) => Waiting | undefined;
  /** False where it was let in already. */
  giveUp: (waiting: Waiting) => boolean;
  /** `tookMs`: since it was let in. */
  leave: (tookMs: number) => void;
  running: () => number;
  waiting: () => number;
}
export type Waiting = Place<Waiter>;

/** Having waited this long, a call may use a connection past the calm number: slow ones hold up quick ones. */
const PATIENCE_MS = 4;

/** Where the quickest call of late took longer than this, none waits for the calm number. */
const QUICK_MS = 2;

/** Of late: so many calls, and those since. */
const LATE = 500;

interface Waiter extends Timed {
  begin: () => void;
  isImpatient: boolean;
  patience: Ticking | undefined;
}

export function createGate({ maxConnections, maxBusyConnections }: GateSettings): Gate {
  const queue = createQueue<Waiter>();
  const clock = createClock(PATIENCE_MS);
  const quickest = createQuickest();
  let running = 0;
  let pumping = false;

  const calmly = () => (quickest.ms() > QUICK_MS ? maxBusyConnections : maxConnections);

  /** The oldest first; none is more impatient than the oldest. Who leaves at once does not begin it anew: it goes on by itself. */
  function pump(): void {
    if (pumping) return;
    pumping = true;
    try {
      while (queue.first) {
        const waiter = queue.first.who;
        if (running >= (waiter.isImpatient ? maxBusyConnections : calmly())) return;
        quit(queue.first);
        running++;
        waiter.begin();
      }
    } finally {
      pumping = false;
    }
  }
  function quit(place: Waiting): boolean {
    if (place.who.patience) clock.stop(place.who.patience);
    return leave(queue, place);
  }
  function overdue(this: Waiter): void {
    this.isImpatient = true;
    pump();
  }

  return {
    running: () => running,
    waiting: () => queue.size,
    enter(begin) {
      if (running < calmly() && queue.size === 0) {
        running++;
        return undefined;
      }
      const waiter: Waiter = { begin, isImpatient: false, patience: undefined, overdue };
      waiter.patience = clock.start(waiter);
      return join(queue, waiter);
    },
    giveUp: quit,
    leave(tookMs) {
      running--;
      quickest.add(tookMs);
      if (queue.size > 0) pump();
    },
  };
}

interface Quickest {
  add: (tookMs: number) => void;
  /** 0 until enough is known. */
  ms: () => number;
}

/** How long the quickest call of late took. Not the usual one: where this process is the slow one, all take long but those it reads first. */
function createQuickest(): Quickest {
  let before = 0;
  let current = Infinity;
  let many = 0;
  return {
    ms: () => Math.min(before, current),
    add(tookMs) {
      if (tookMs < current) current = tookMs;
      if (++many < LATE) return;
      before = current;
      current = Infinity;
      many = 0;
    },
  };
}

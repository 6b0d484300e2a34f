/**
 * How many calls a service gets at once: few while they are quick, more while calls wait.
 *
 * A burst of quick calls is as fast over a few connections and easier on the service; slow ones must not hold up the rest.
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
  leave: () => void;
  running: () => number;
  waiting: () => number;
}
export type Waiting = Place<Waiter>;

/** Having waited this long, a call may use a connection past the calm number. */
const PATIENCE_MS = 4;

interface Waiter extends Timed {
  begin: () => void;
  isImpatient: boolean;
  patience: Ticking | undefined;
}

export function createGate({ maxConnections, maxBusyConnections }: GateSettings): Gate {
  const queue = createQueue<Waiter>();
  const clock = createClock(PATIENCE_MS);
  let running = 0;
  let pumping = false;

  /** The oldest first; none is more impatient than the oldest. Who leaves at once does not begin it anew: it goes on by itself. */
  function pump(): void {
    if (pumping) return;
    pumping = true;
    try {
      while (queue.first) {
        const waiter = queue.first.who;
        if (running >= (waiter.isImpatient ? maxBusyConnections : maxConnections)) return;
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
      if (running < maxConnections && queue.size === 0) {
        running++;
        return undefined;
      }
      const waiter: Waiter = { begin, isImpatient: false, patience: undefined, overdue };
      waiter.patience = clock.start(waiter);
      return join(queue, waiter);
    },
    giveUp: quit,
    leave() {
      running--;
      if (queue.size > 0) pump();
    },
  };
}

/**
 * How many calls a service gets at once: few while it is quick, more while calls wait.
 *
 * A burst of quick calls is as fast over a few connections and easier on the service. Of a service that is far away or slow, each
 * connection is idle most of the time; there, waiting for one gains nothing. And slow calls must not hold up the rest.
 */
import { type Deadline, type DeadlineListener, createDeadlineQueue } from '../../lib/deadlines.ts';
import { type FairQueueNode, type FairQueue, createFairQueue } from '../../lib/fair-queue.ts';

export interface ConcurrencySettings {
  maxConnections: number;
  maxBusyConnections: number;
}

export interface ConcurrencyLimiter {
  /**
   * Undefined if the call may begin now; else its place in the queue: `begin` is called later, unless the wait is cancelled. A call that
   * has begun must be released. Owners take turns, so that one operation with many calls does not delay another.
   */
  acquire: (owner: object, call: LimitedCall) => QueuedCall | undefined;
  /** False where it was let in already. */
  cancelWait: (waiting: QueuedCall) => boolean;
  /** `tookMs`: since it was let in. */
  release: (tookMs: number) => void;
  running: () => number;
  waiting: () => number;
}
export type QueuedCall = FairQueueNode<Waiter>;

export interface LimitedCall {
  begin: () => void;
}

/** Having waited this long, a call may use a connection past the calm number: slow ones hold up quick ones. */
const PATIENCE_MS = 4;

/** Where the quickest call of late took longer than this, none waits for the calm number. */
const QUICK_MS = 2;

/** Of late: so many calls, and those since. */
const LATE = 500;

interface Waiter extends DeadlineListener {
  call: LimitedCall;
  isImpatient: boolean;
  patience: Deadline | undefined;
}

export function createConcurrencyLimiter({
  maxConnections,
  maxBusyConnections,
}: ConcurrencySettings): ConcurrencyLimiter {
  const queue: FairQueue<Waiter> = createFairQueue();
  const clock = createDeadlineQueue(PATIENCE_MS);
  const quickest = createQuickest();
  let running = 0;
  /** Waiters whose patience has run out. */
  let impatient = 0;
  let pumping = false;

  const calmly = () => (quickest.ms() > QUICK_MS ? maxBusyConnections : maxConnections);

  /** Re-entrant calls return at once; the running loop continues. */
  function pump(): void {
    if (pumping) return;
    pumping = true;
    try {
      while (running < (impatient > 0 ? maxBusyConnections : calmly())) {
        const next = queue.take();
        if (!next) return;
        stopWaiting(next);
        running++;
        next.call.begin();
      }
    } finally {
      pumping = false;
    }
  }
  function stopWaiting({ patience, isImpatient }: Waiter): void {
    if (patience) clock.stop(patience);
    if (isImpatient) impatient--;
  }
  function cancelWait(waiting: QueuedCall): boolean {
    if (!queue.remove(waiting)) return false;
    stopWaiting(waiting.item);
    return true;
  }
  function losePatience(this: Waiter): void {
    this.isImpatient = true;
    impatient++;
    pump();
  }

  return {
    running: () => running,
    waiting: () => queue.size(),
    acquire(owner, call) {
      if (running < calmly() && queue.size() === 0) {
        running++;
        return undefined;
      }
      const waiter: Waiter = { call, isImpatient: false, patience: undefined, onDeadline: losePatience };
      waiter.patience = clock.start(waiter);
      return queue.add(owner, waiter);
    },
    cancelWait,
    release(tookMs) {
      running--;
      quickest.add(tookMs);
      if (queue.size() > 0) pump();
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

/**
 * How many calls a service gets at once: few while it is quick, more while calls wait.
 *
 * Few connections are as fast for a burst of quick calls and easier on the service. A service that is slow or far away leaves each
 * connection idle most of the time, so waiting for one gains nothing; and slow calls must not hold up quick ones.
 */
import type { Config } from '../../config/settings.ts';
import { afterPendingReads } from '../../lib/event-loop.ts';
import { type FairQueueNode, createFairQueue } from '../../lib/fair-queue.ts';

/** The second is for while the service is slow, or a call has waited too long. */
type ConcurrencySettings = Pick<Config, 'maxConnections' | 'maxBusyConnections'>;

export type ConcurrencyLimiter = ReturnType<typeof createConcurrencyLimiter>;

export interface LimitedCall {
  begin: () => void;
}

export type QueuedCall = FairQueueNode<WaitingCall>;

interface WaitingCall {
  call: LimitedCall;
  isWaiting: boolean;
  isOverdue: boolean;
  patience: NodeJS.Timeout;
}

/** A call that has waited this long may use a connection above `maxConnections`. */
const PATIENCE_MS = 4;

/** A service whose quickest recent call took longer is slow. Not the usual call: if this process is busy, all but the first look slow. */
const QUICK_MS = 2;

/** The calls that count as recent: the last this many, and those since. */
const RECENT_CALLS = 500;

export function createConcurrencyLimiter({ maxConnections, maxBusyConnections }: ConcurrencySettings) {
  const queue = createFairQueue<WaitingCall>();
  let running = 0;
  /** Waiting calls past their patience. */
  let overdue = 0;
  let isPumping = false;
  /** While the service is slow or quick. */
  let limit = maxConnections;
  let quickestBefore = 0;
  let quickest = Infinity;
  let calls = 0;
  function observe(tookMs: number): void {
    if (tookMs < quickest) quickest = tookMs;
    limit = Math.min(quickestBefore, quickest) > QUICK_MS ? maxBusyConnections : maxConnections;
    if (++calls < RECENT_CALLS) return;
    quickestBefore = quickest;
    quickest = Infinity;
    calls = 0;
  }

  /** Begins waiting calls while there is room. Re-entrant calls return at once; the running loop continues. */
  function pump(): void {
    if (isPumping) return;
    isPumping = true;
    try {
      while (running < (overdue > 0 ? maxBusyConnections : limit)) {
        const next = queue.take();
        if (!next) return;
        stopWaiting(next);
        running++;
        next.call.begin();
      }
    } finally {
      isPumping = false;
    }
  }

  function stopWaiting(waiting: WaitingCall): void {
    waiting.isWaiting = false;
    clearTimeout(waiting.patience);
    if (waiting.isOverdue) overdue--;
  }

  function onOverdue(waiting: WaitingCall): void {
    if (!waiting.isWaiting) return;
    waiting.isOverdue = true;
    overdue++;
    pump();
  }

  return {
    running: () => running,
    waiting: () => queue.size,
    /**
     * Undefined if the call may begin now; else its place in the queue: `begin` is called later, unless the wait is cancelled. A call that
     * has begun must be released. Owners take turns, so that one operation with many calls does not delay another.
     */
    acquire(owner: object, call: LimitedCall): QueuedCall | undefined {
      if (running < limit && queue.size === 0) {
        running++;
        return undefined;
      }
      const patience = setTimeout(afterPendingReads, PATIENCE_MS, () => onOverdue(waiting)).unref();
      const waiting: WaitingCall = { call, isWaiting: true, isOverdue: false, patience };
      return queue.add(owner, waiting);
    },
    /** False if the call has begun. */
    cancelWait(queued: QueuedCall): boolean {
      if (!queue.remove(queued)) return false;
      stopWaiting(queued.node.item);
      return true;
    },
    /** `tookMs`: since the call began; undefined if it was not sent. */
    release(tookMs?: number): void {
      running--;
      if (tookMs !== undefined) observe(tookMs);
      if (queue.size > 0) pump();
    },
  };
}

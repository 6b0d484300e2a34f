/**
 * How many calls a service gets at once: few while it is quick, more while calls wait.
 *
 * Few connections are as fast for a burst of quick calls and easier on the service. A service that is slow or far away leaves each
 * connection idle most of the time, so waiting for one gains nothing; and slow calls must not hold up quick ones.
 */
import type { Config } from '../../config/settings.ts';
import { afterPendingReads } from '../../lib/event-loop.ts';
import { type QueuePlace, createSemaphore } from './semaphore.ts';

/** The second is for while the service is slow, or a call has waited too long. */
type ConcurrencySettings = Pick<Config, 'maxConnections' | 'maxBusyConnections'>;

export type ConcurrencyLimiter = ReturnType<typeof createConcurrencyLimiter>;

export interface QueuedCall {
  /** Does nothing if the call has begun. */
  cancelWait: () => void;
}

/** A call that has waited this long may use a connection above `maxConnections`. */
const PATIENCE_MS = 4;

/** A service whose quickest recent call took longer is slow. Not the usual call: if this process is busy, all but the first look slow. */
const QUICK_MS = 2;

/** The time of the quickest call counts for so much more after each later one: one of half a ms is forgotten after 500 calls. */
const FORGOTTEN = 1.003;

export function createConcurrencyLimiter({ maxConnections, maxBusyConnections }: ConcurrencySettings) {
  /** Waiting calls past their patience. */
  let overdue = 0;
  let quickestMs = QUICK_MS / 4; // nothing is known yet
  const calls = createSemaphore(() => (overdue > 0 || quickestMs > QUICK_MS ? maxBusyConnections : maxConnections));

  function wait(owner: object, begin: () => void): QueuedCall {
    let lateness: 0 | 1 = 0;
    let place: QueuePlace | undefined = calls.wait(owner, () => {
      stop();
      begin();
    });
    const stop = () => {
      clearTimeout(patience);
      place = undefined;
      overdue -= lateness;
    };
    const onOverdue = () => {
      if (!place) return;
      overdue += lateness = 1;
      calls.pump();
    };
    const patience = setTimeout(afterPendingReads, PATIENCE_MS, onOverdue).unref();
    return { cancelWait: () => place && calls.cancelWait(place) && stop() };
  }

  return {
    running: calls.running,
    waiting: calls.waiting,
    /**
     * Undefined if the call may begin now; else `begin` is called later, unless the wait is cancelled. A call that has begun must be
     * released. Owners take turns, so that one operation with many calls does not delay another.
     */
    acquire: (owner: object, call: { begin: () => void }): QueuedCall | undefined =>
      calls.enter() ? undefined : wait(owner, () => call.begin()),
    /** `tookMs`: since the call began; undefined if it was not sent. */
    release(tookMs?: number): void {
      if (tookMs !== undefined) quickestMs = Math.min(tookMs, quickestMs * FORGOTTEN);
      calls.leave();
    },
  };
}

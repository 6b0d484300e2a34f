/** One timer for all deadlines of equal length: they pass in the order in which they began. Nearly all are stopped before. */
import { type QueueNode, append, createQueue, unlink } from './queue.ts';

export interface DeadlineListener {
  onDeadline: () => void;
}

export type DeadlineQueue = ReturnType<typeof createDeadlineQueue>;
export type Deadline = QueueNode<{ listener: DeadlineListener; until: number }>;

export function createDeadlineQueue(ms: number) {
  const queue = createQueue<Deadline['item']>();
  let timer: NodeJS.Timeout | undefined;

  function onTimer(): void {
    for (let first = queue.first; first; first = queue.first) {
      const left = first.item.until - performance.now();
      if (left > 0) return setTimer(left);
      unlink(queue, first);
      first.item.listener.onDeadline();
    }
    timer = undefined;
  }

  /** A deadline does not keep the process alive. */
  function setTimer(afterMs: number): void {
    timer = setTimeout(afterPendingReads, afterMs, onTimer).unref();
  }

  return {
    start(listener: DeadlineListener): Deadline {
      if (!timer) setTimer(ms);
      return append(queue, { listener, until: performance.now() + ms });
    },
    stop: (deadline: Deadline): void => void unlink(queue, deadline),
    /** The listener whose deadline is the next. */
    first: (): DeadlineListener | undefined => queue.first?.item.listener,
    /** Running deadlines. */
    size: () => queue.size,
  };
}

/** Two turns of the event loop later: if this process was busy, responses that have arrived are read before they count as late. */
export const afterPendingReads = (then: () => void): void => void setImmediate(() => setImmediate(then));

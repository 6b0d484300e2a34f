/**
 * One timer for all that have the same time: they are over in the order in which they began, so only the oldest is watched.
 *
 * Nearly all end before their time; a timer for each would cost more than most of what it guards.
 */
import { type QueueNode, createQueue, append, unlink } from './queue.ts';

export interface DeadlineQueue {
  start: (timed: DeadlineListener) => Deadline;
  stop: (ticking: Deadline) => void;
  /** How many deadlines are running. */
  size: () => number;
}

export interface DeadlineListener {
  onDeadline: () => void;
}

/** One that the clock runs for. */
export type Deadline = QueueNode<{ timed: DeadlineListener; until: number }>;

export function createDeadlineQueue(ms: number): DeadlineQueue {
  const queue = createQueue<{ timed: DeadlineListener; until: number }>();
  let timer: NodeJS.Timeout | undefined;

  function ring(): void {
    for (let first = queue.first; first; first = queue.first) {
      const left = first.item.until - performance.now();
      if (left > 0) return wind(left);
      unlink(queue, first);
      first.item.timed.onDeadline();
    }
    timer = undefined;
  }
  function wind(after: number): void {
    timer = setTimeout(afterPendingReads, after, ring).unref(); // what it guards keeps the process alive, or nothing does
  }

  return {
    start(timed) {
      if (!timer) wind(ms);
      return append(queue, { timed, until: performance.now() + ms });
    },
    stop: (ticking) => void unlink(queue, ticking),
    size: () => queue.size,
  };
}

/** Two turns of the event loop later: this process may be the busy one, and what has come meanwhile is read before it is called late. */
export const afterPendingReads = (then: () => void): void => void setImmediate(() => setImmediate(then));

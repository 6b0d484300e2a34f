/**
 * One timer for all that have the same time: they are over in the order in which they began, so only the oldest is watched.
 *
 * Nearly all end before their time; a timer for each would cost more than most of what it guards.
 */
import { type Place, createQueue, join, leave } from './queue.ts';

export interface Clock {
  start: (timed: Timed) => Ticking;
  stop: (ticking: Ticking) => void;
  /** How many deadlines are running. */
  size: () => number;
}

export interface Timed {
  overdue: () => void;
}

/** One that the clock runs for. */
export type Ticking = Place<{ timed: Timed; until: number }>;

export function createClock(ms: number): Clock {
  const queue = createQueue<{ timed: Timed; until: number }>();
  let timer: NodeJS.Timeout | undefined;

  function ring(): void {
    for (let first = queue.first; first; first = queue.first) {
      const left = first.who.until - performance.now();
      if (left > 0) return wind(left);
      leave(queue, first);
      first.who.timed.overdue();
    }
    timer = undefined;
  }
  function wind(after: number): void {
    timer = setTimeout(afterReading, after, ring).unref(); // what it guards keeps the process alive, or nothing does
  }

  return {
    start(timed) {
      if (!timer) wind(ms);
      return join(queue, { timed, until: performance.now() + ms });
    },
    stop: (ticking) => void leave(queue, ticking),
    size: () => queue.size,
  };
}

/** Two turns of the event loop later: this process may be the busy one, and what has come meanwhile is read before it is called late. */
export const afterReading = (then: () => void): void => void setImmediate(() => setImmediate(then));

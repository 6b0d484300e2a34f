/**
 * One timer for all that have the same time: they are over in the order in which they began, so only the oldest is watched.
 *
 * Nearly all end before their time; a timer for each would cost more than most of what it guards.
 */
import { type Place, createLine, join, leave } from './line.ts';

export interface Clock {
  start: (timed: Timed) => Ticking;
  stop: (ticking: Ticking) => void;
}

export interface Timed {
  overdue: () => void;
}

/** One that the clock runs for. */
export type Ticking = Place<{ timed: Timed; until: number }>;

export function createClock(ms: number): Clock {
  const line = createLine<{ timed: Timed; until: number }>();
  let timer: NodeJS.Timeout | undefined;

  function ring(): void {
    timer = undefined;
    while (line.first) {
      const { timed, until } = line.first.who;
      const left = until - performance.now();
      if (left > 0) return wind(left);
      leave(line, line.first);
      timed.overdue();
    }
  }
  function wind(after: number): void {
    timer ??= setTimeout(ring, after).unref(); // what it guards keeps the process alive, or nothing does
  }

  return {
    start(timed) {
      if (!timer) wind(ms);
      return join(line, { timed, until: performance.now() + ms });
    },
    stop: (ticking) => void leave(line, ticking),
  };
}

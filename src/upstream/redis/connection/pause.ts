/** A pause between attempts of something that fails: each time twice as long, up to a limit. */
export const FIRST_MS = 250;
const LONGEST_MS = 30_000;

export type Pause = ReturnType<typeof createPause>;

export function createPause() {
  let ms = 0;
  let until = 0;
  return {
    isOn: (): boolean => ms > 0 && performance.now() < until,
    /** Until it is over, in ms. */
    left: (): number => (ms > 0 ? Math.max(0, until - performance.now()) : 0),
    /** It failed again. Failures during a pause belong to calls from before it. */
    grow(longestMs = LONGEST_MS): void {
      if (ms > 0 && performance.now() < until) return;
      ms = Math.min(longestMs, ms * 2 || FIRST_MS);
      until = performance.now() + ms;
    },
    end(): void {
      ms = 0;
    },
  };
}

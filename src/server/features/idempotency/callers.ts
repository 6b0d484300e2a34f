/** How many requests with keys of each caller run in this process, with those whose clients have left and whose writes go on. */
import { tooManyWrites } from './refusals.ts';

const RUNNING_MAX = 64;

/** Returns what counts a request of a caller until its end, which throws if too many run. */
export function createCallers() {
  const running = new Map<string, number>();
  return (caller: string): (() => void) => {
    const before = running.get(caller) ?? 0;
    if (before >= RUNNING_MAX) throw tooManyWrites();
    running.set(caller, before + 1);
    return () => {
      const left = running.get(caller)! - 1;
      if (left > 0) running.set(caller, left);
      else running.delete(caller);
    };
  };
}

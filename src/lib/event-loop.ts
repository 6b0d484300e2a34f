/** What runs in another tick of the event loop. */

/** Two ticks later: if this process was busy, responses that have arrived are read before they count as late. */
export const afterPendingReads = (then: () => void): void => void setImmediate(() => setImmediate(then));

/**
 * Collects the items of one tick and passes them on together, before anything else runs for the first of them: the code of a step that runs
 * for all of them stays in the processor's caches. Items wait for the rest of the tick only. `end` does not throw.
 */
export function atEndOfTick<T>(end: (items: T[]) => void) {
  let items: T[] = [];
  function flush(): void {
    const all = items;
    items = [];
    end(all);
  }
  return {
    /** Items that wait for the end of the tick. */
    size: () => items.length,
    add(item: T): void {
      if (items.push(item) === 1) setImmediate(flush);
    },
  };
}

/** Runs the work once at a time. All who call while it runs share the next run, which sees what they did before. It does not reject. */
export function oneAtATime<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  return () =>
    (next ??= running.then(() => {
      next = undefined;
      const run = work();
      running = run;
      return run;
    }));
}

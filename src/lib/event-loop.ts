/** What runs at another turn of the event loop. */

/** Two turns later: if this process was busy, responses that have arrived are read before they count as late. */
export const afterPendingReads = (then: () => void): void => void setImmediate(() => setImmediate(then));

/**
 * Runs a step for all items of one turn, one after the other, before anything else runs for the first of them: its code stays in the
 * processor's caches. Items wait for the rest of the turn only. `run` does not throw.
 */
export function createBatch<T>(run: (item: T) => void) {
  let items: T[] = [];
  function flush(): void {
    const now = items;
    items = [];
    for (const item of now) run(item);
  }
  return {
    /** Items that wait for the end of the turn. */
    size: () => items.length,
    add(item: T): void {
      if (items.length === 0) setImmediate(flush);
      items.push(item);
    },
  };
}

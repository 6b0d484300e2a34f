/**
 * Does together what came in one turn of the event loop: the same step for all of them, then the next for all.
 *
 * Code that runs for one after another finds itself in the processor's caches; run from end to end for each, every step would find the
 * others' there. It waits for nothing but the rest of the turn.
 */

export interface Batch<T> {
  add: (item: T) => void;
  /** Those that wait for the end of the turn. */
  size: () => number;
}

/** `run` does not throw. */
export function createBatch<T>(run: (item: T) => void): Batch<T> {
  let items: T[] = [];
  function flush(): void {
    const now = items;
    items = [];
    for (const item of now) run(item);
  }
  return {
    size: () => items.length,
    add(item) {
      if (items.length === 0) setImmediate(flush);
      items.push(item);
    },
  };
}

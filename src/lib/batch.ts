/**
 * Runs a step for all items of one turn of the event loop, one after the other, before anything else runs for the first of them: its code
 * stays in the processor's caches. Items wait for the rest of the turn only.
 */

export interface Batch<T> {
  add: (item: T) => void;
  /** Items that wait for the end of the turn. */
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

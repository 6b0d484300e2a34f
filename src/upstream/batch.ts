/**
 * Does together what came in one turn of the event loop: the same step for all of them, then the next for all.
 *
 * Code that runs for one after another finds itself in the processor's caches; run from end to end for each, every step would find the
 * others' there. It waits for nothing but the rest of the turn.
 */

/** `run` does not throw. */
export function createBatch<T>(run: (item: T) => void): (item: T) => void {
  let items: T[] = [];
  function flush(): void {
    const now = items;
    items = [];
    for (const item of now) run(item);
  }
  return (item) => {
    if (items.length === 0) setImmediate(flush);
    items.push(item);
  };
}

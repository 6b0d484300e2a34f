/** Remembers the results of a function of a header: clients send few different values. */
export function remembering<T>(compute: (header: string | undefined) => T): (header: string | undefined) => T {
  const results = new Map<string | undefined, T>();
  return (header) => {
    if (results.has(header)) return results.get(header)!;
    const result = compute(header);
    if (results.size >= RESULTS_MAX) results.clear();
    if ((header?.length ?? 0) <= CHARACTERS_MAX) results.set(header, result);
    return result;
  };
}

/** Computes the result for each object once; it lives as long as the object. */
export function oncePer<Key extends object, Result>(compute: (key: Key) => Result): (key: Key) => Result {
  const results = new WeakMap<Key, { result: Result }>();
  return (key) => {
    let known = results.get(key);
    if (!known) results.set(key, (known = { result: compute(key) }));
    return known.result;
  };
}

/**
 * Options of an LRU cache of at most so many entries, which grows as it fills. With its option `max` the library allocates and fills
 * arrays for all of them at once: tens of thousands in each facade, most of which are never used.
 */
export const atMost = (entries: number) => ({ maxSize: entries, sizeCalculation: () => 1 });

const RESULTS_MAX = 500;
const CHARACTERS_MAX = 500;

/** The largest size of each cache of a process, in bytes. The doctor adds them up. */
export const CACHE_MAX_BYTES = {
  records: 64_000_000,
  documents: 64_000_000,
  plans: 50_000_000,
  responses: 8_000_000,
} as const;

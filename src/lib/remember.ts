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

const RESULTS_MAX = 500;
const CHARACTERS_MAX = 500;

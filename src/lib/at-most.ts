/**
 * Options of an LRU cache of at most so many entries, which grows as it fills. With its option `max` the library allocates and fills all
 * places at once: tens of thousands in each facade, which most never use.
 */
export const atMost = (entries: number) => ({ maxSize: entries, sizeCalculation: () => 1 });

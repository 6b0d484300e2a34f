/** Helpers for values that may be promises; plain values never cost a promise. */

export const isPromise = (value: unknown): value is Promise<unknown> => value instanceof Promise;

export const withValue = (value: unknown, next: (value: unknown) => unknown): unknown =>
  isPromise(value) ? value.then(next) : next(value);

export const asError = (reason: unknown): Error => (reason instanceof Error ? reason : new Error(String(reason)));

/** Computes the value at the first call and returns it at every call. */
export function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

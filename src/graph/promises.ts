/** Values that are there at once or come as promises: what is there costs no promise. */

export const isPromise = (value: unknown): value is Promise<unknown> => value instanceof Promise;

export const withValue = (value: unknown, next: (value: unknown) => unknown): unknown =>
  isPromise(value) ? value.then(next) : next(value);

export const asError = (reason: unknown): Error => (reason instanceof Error ? reason : new Error(String(reason)));

/** Worked out when it is first asked for. */
export function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

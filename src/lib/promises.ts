/** Helpers for values that may be promises; plain values never cost a promise. */

export const isPromise = (value: unknown): value is Promise<unknown> => value instanceof Promise;

export const withValue = (value: unknown, next: (value: unknown) => unknown): unknown =>
  value instanceof Promise ? value.then(next) : next(value);

export const asError = (reason: unknown): Error => (reason instanceof Error ? reason : new Error(String(reason)));

/** Whether the work settles in time; rejects if it does. */
export async function settlesWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, ms, false)));
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Computes the value at the first call and returns it at every call. */
export function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

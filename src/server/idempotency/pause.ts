import { type CancellationToken, addListener, removeListener } from '../../lib/cancellation.ts';

/** Resolves after a while, or when the token is cancelled. */
export function pauseUnlessCancelled(ms: number, cancellation: CancellationToken): Promise<void> {
  return unlessCancelled(
    new Promise((resolve) => {
      setTimeout(resolve, ms).unref();
    }),
    cancellation,
  );
}

/** Resolves with the promise, or when the token is cancelled. */
export function unlessCancelled(promise: Promise<void>, cancellation: CancellationToken): Promise<void> {
  return new Promise((resolve) => {
    const listener = { onCancel: () => resolve() };
    addListener(cancellation, listener);
    void promise.then(() => {
      removeListener(cancellation, listener);
      resolve();
    });
  });
}

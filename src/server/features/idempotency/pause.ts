import { type CancellationToken, addListener, removeListener } from '../../../lib/cancellation.ts';

/** Resolves after a while, or when the token is cancelled. */
export async function pauseUnlessCancelled(ms: number, cancellation: CancellationToken): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const pause = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await unlessCancelled(pause, cancellation);
  clearTimeout(timer);
}

/** Resolves with the promise, or when the token is cancelled; false in that case. */
export function unlessCancelled(promise: Promise<unknown>, cancellation: CancellationToken): Promise<boolean> {
  return new Promise((resolve) => {
    const listener = { onCancel: () => resolve(false) };
    addListener(cancellation, listener);
    void promise.then(() => {
      removeListener(cancellation, listener);
      resolve(true);
    });
  });
}

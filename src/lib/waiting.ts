/** Waits that a cancellation ends. */
import { type CancellationToken, addListener, removeListener } from './cancellation.ts';

/**
 * `begin` gets what ends the wait, to be called later, and returns what leaves the queue if the token is cancelled before. The wait is then
 * rejected with the reason, unless leaving has ended it in another way.
 */
export function waitUnlessCancelled<T>(
  token: CancellationToken,
  begin: (resolve: (value: T) => void, reject: (reason: unknown) => void) => () => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const ending =
      <A>(end: (result: A) => void) =>
      (result: A): void => {
        removeListener(token, listener);
        end(result);
      };
    const leave = begin(ending(resolve), ending(reject));
    const listener = {
      onCancel(reason: Error) {
        leave();
        reject(reason);
      },
    };
    addListener(token, listener);
  });
}

/** Resolves with the promise, or when the token is cancelled; false in that case. */
export const unlessCancelled = (promise: Promise<unknown>, token: CancellationToken): Promise<boolean> =>
  waitUnlessCancelled(token, (resolve) => {
    void promise.then(() => resolve(true));
    return () => resolve(false);
  });

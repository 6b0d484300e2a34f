import { asError } from './promises.ts';

/**
 * A light AbortSignal: an operation is cancelled at its deadline or when its client leaves, a shared request when nobody waits for it.
 * Each call of an operation has several listeners, and those of an AbortSignal cost several times as much.
 */
export interface CancellationToken {
  /** Why it was cancelled; undefined if it was not. */
  reason: Error | undefined;
  /** Most tokens have a single listener. */
  first: CancellationListener | undefined;
  others: Set<CancellationListener> | undefined;
}

export interface CancellationListener {
  /** Called once. */
  onCancel: (reason: Error) => void;
}

export const createCancellationToken = (): CancellationToken => ({
  reason: undefined,
  first: undefined,
  others: undefined,
});

/** Calls all listeners, unless it was cancelled before. */
export function cancel(token: CancellationToken, reason: Error): void {
  if (token.reason) return;
  token.reason = reason;
  const { first, others } = token;
  token.first = undefined;
  first?.onCancel(reason);
  // A listener that is removed meanwhile is not called.
  if (others) for (const other of others) other.onCancel(reason);
  token.others = undefined;
}

/** Calls the listener at once if the token is cancelled already. */
export function addListener(token: CancellationToken, listener: CancellationListener): void {
  if (token.reason) listener.onCancel(token.reason);
  else if (!token.first) token.first = listener;
  else (token.others ??= new Set()).add(listener);
}

export function removeListener(token: CancellationToken, listener: CancellationListener): void {
  if (token.first === listener) token.first = undefined;
  else token.others?.delete(listener);
}

/**
 * `begin` gets what ends the wait, to be called later, and returns what leaves the queue if the token is cancelled before. The wait is then
 * rejected with the reason, unless leaving has ended it in another way.
 */
export function waitUnlessCancelled<T>(
  token: CancellationToken,
  begin: (resolve: (value: T) => void, reject: (reason: unknown) => void) => () => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = begin(
      (value) => {
        removeListener(token, listener);
        resolve(value);
      },
      (reason) => {
        removeListener(token, listener);
        reject(asError(reason));
      },
    );
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

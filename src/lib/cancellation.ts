/**
 * How long something goes on: an operation until its deadline or until its client leaves, a call until nobody waits for it.
 *
 * It tells what an AbortSignal tells, at a fraction of the cost: each call of an operation listens to several.
 */
export interface CancellationToken {
  /** Why it is over; undefined while it goes on. */
  reason: Error | undefined;
  /** Most often there is one. */
  first: CancellationListener | undefined;
  others: Set<CancellationListener> | undefined;
}

/** Told once, when a lifetime is over. */
export interface CancellationListener {
  onCancel: (reason: Error) => void;
}

export const createCancellationToken = (): CancellationToken => ({
  reason: undefined,
  first: undefined,
  others: undefined,
});

/** Ends it, and tells whoever listens; nothing where it is over already. */
export function cancel(lifetime: CancellationToken, reason: Error): void {
  if (lifetime.reason) return;
  lifetime.reason = reason;
  const { first, others } = lifetime;
  lifetime.first = undefined;
  first?.onCancel(reason);
  // Who leaves meanwhile is not told.
  if (others) for (const other of others) other.onCancel(reason);
  lifetime.others = undefined;
}

/** Listens for the end; told at once where it is over. */
export function addListener(lifetime: CancellationToken, listener: CancellationListener): void {
  if (lifetime.reason) listener.onCancel(lifetime.reason);
  else if (!lifetime.first) lifetime.first = listener;
  else (lifetime.others ??= new Set()).add(listener);
}

export function removeListener(lifetime: CancellationToken, listener: CancellationListener): void {
  if (lifetime.first === listener) lifetime.first = undefined;
  else lifetime.others?.delete(listener);
}

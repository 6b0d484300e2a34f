/**
 * How long something goes on: an operation until its deadline or until its client leaves, a call until nobody waits for it.
 *
 * It tells what an AbortSignal tells, at a fraction of the cost: each call of an operation listens to several.
 */
export interface Lifetime {
  /** Why it is over; undefined while it goes on. */
  ended: Error | undefined;
  /** Most often there is one. */
  listener: Listener | undefined;
  others: Set<Listener> | undefined;
}

/** Told once, when a lifetime is over. */
export interface Listener {
  over: (reason: Error) => void;
}

export const createLifetime = (): Lifetime => ({ ended: undefined, listener: undefined, others: undefined });

/** Ends it, and tells whoever listens; nothing where it is over already. */
export function end(lifetime: Lifetime, reason: Error): void {
  if (lifetime.ended) return;
  lifetime.ended = reason;
  const { listener, others } = lifetime;
  lifetime.listener = undefined;
  listener?.over(reason);
  // Who leaves meanwhile is not told.
  if (others) for (const other of others) other.over(reason);
  lifetime.others = undefined;
}

/** Listens for the end; told at once where it is over. */
export function onEnd(lifetime: Lifetime, listener: Listener): void {
  if (lifetime.ended) listener.over(lifetime.ended);
  else if (!lifetime.listener) lifetime.listener = listener;
  else (lifetime.others ??= new Set()).add(listener);
}

export function offEnd(lifetime: Lifetime, listener: Listener): void {
  if (lifetime.listener === listener) lifetime.listener = undefined;
  else lifetime.others?.delete(listener);
}

/**
 * How long something goes on: an operation until its deadline or until its client leaves, a call until nobody waits for it.
 *
 * It tells what an AbortSignal tells, at a fraction of the cost: each call of an operation listens to several.
 */
export interface Lifetime {
  /** Why it is over; undefined while it goes on. */
  ended: Error | undefined;
  listeners: Set<Listener> | undefined;
}
type Listener = (reason: Error) => void;

export const createLifetime = (): Lifetime => ({ ended: undefined, listeners: undefined });

/** Ends it, and tells whoever listens; nothing where it is over already. */
export function end(lifetime: Lifetime, reason: Error): void {
  if (lifetime.ended) return;
  lifetime.ended = reason;
  // Who leaves meanwhile is not told.
  if (lifetime.listeners) for (const listener of lifetime.listeners) listener(reason);
  lifetime.listeners = undefined;
}

/** Listens for the end; told at once where it is over. */
export function onEnd(lifetime: Lifetime, listener: Listener): void {
  if (lifetime.ended) listener(lifetime.ended);
  else (lifetime.listeners ??= new Set()).add(listener);
}

export function offEnd({ listeners }: Lifetime, listener: Listener): void {
  listeners?.delete(listener);
}

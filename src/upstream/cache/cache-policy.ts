/**
 * How long an answer may be used again, and by whom: no longer than the shortest-lived thing that was read for it.
 *
 * One for each operation, told of each read where it happens. What cannot be shared at all is told as null: what belongs to the
 * viewer, what upstream forbids to keep, what stood in while upstream failed, and every write.
 */

import type { Endpoint } from '../../api/endpoint.ts';

/** Anybody's cache, the caller's own alone, or none. */
export type CacheScope = 'public' | 'private' | 'none';

export interface CachePolicy {
  /** Milliseconds, as Date.now() tells them; Infinity while nothing was read. */
  readonly freshUntil: number;
  /** Never public where a token was sent, whatever was read with it. */
  readonly scope: CacheScope;
  /** Content that people write was read. It may change at any time, and caches outside of the facade would not learn of it. */
  readonly mayChange: boolean;
  /** Something was read that may be used again until then; null: something that may not. */
  restrict: (freshUntil: number | null, endpoint?: Endpoint) => void;
}

export const createCachePolicy = (hasToken: boolean): CachePolicy => ({
  freshUntil: Infinity,
  scope: hasToken ? 'private' : 'public',
  mayChange: false,
  restrict,
});

function restrict(
  this: { freshUntil: number; scope: CacheScope; mayChange: boolean },
  freshUntil: number | null,
  endpoint?: Endpoint,
): void {
  if (endpoint?.isWritten) this.mayChange = true;
  if (freshUntil === null) this.scope = 'none';
  else if (freshUntil < this.freshUntil) this.freshUntil = freshUntil;
}

/**
 * How long an answer may be used again, and by whom: no longer than the shortest-lived thing that was read for it.
 *
 * One for each operation, told of each read where it happens. What cannot be shared at all is told as null: what belongs to the
 * viewer, what upstream forbids to keep, what stood in while upstream failed, and every write.
 */

import type { Endpoint } from '../../api/endpoint.ts';

/** Anybody's cache, the caller's own alone, or none. */
export type Sharing = 'public' | 'private' | 'none';

export interface Freshness {
  /** Milliseconds, as Date.now() tells them; Infinity while nothing was read. */
  readonly freshUntil: number;
  /** Never public where a token was sent, whatever was read with it. */
  readonly share: Sharing;
  /** Content that people write was read. It may change at any time, and caches outside of the facade would not learn of it. */
  readonly mayChange: boolean;
  /** Something was read that may be used again until then; null: something that may not. */
  read: (freshUntil: number | null, endpoint?: Endpoint) => void;
}

export const createFreshness = (hasToken: boolean): Freshness => ({
  freshUntil: Infinity,
  share: hasToken ? 'private' : 'public',
  mayChange: false,
  read,
});

function read(
  this: { freshUntil: number; share: Sharing; mayChange: boolean },
  freshUntil: number | null,
  endpoint?: Endpoint,
): void {
  if (endpoint?.isWritten) this.mayChange = true;
  if (freshUntil === null) this.share = 'none';
  else if (freshUntil < this.freshUntil) this.freshUntil = freshUntil;
}

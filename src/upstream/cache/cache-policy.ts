/**
 * How long the response to an operation may be reused, and by whom: no longer than the shortest-lived data that was read for it. Each
 * operation has one policy, and every read restricts it.
 */
import type { Endpoint } from '../../api/endpoint.ts';

/** Any cache, only the caller's own, or none. */
export type CacheScope = 'public' | 'private' | 'none';

export class CachePolicy {
  /** By performance.now(); Infinity until something is read. */
  freshUntil = Infinity;
  /** Never public if a token was sent. */
  scope: CacheScope;
  /** User-written content was read. It may change at any time, and caches outside the facade would not notice. */
  mayChange = false;
  /** Upstream said `no-store` of something that was read: not even the caller may store it. */
  forbidsStoring = false;

  constructor(hasToken: boolean) {
    this.scope = hasToken ? 'private' : 'public';
  }

  /** Null: not reusable. That is data of the viewer, data that upstream forbids to store, stale data, and every write. */
  restrict(freshUntil: number | null, endpoint?: Endpoint): void {
    if (endpoint?.isWritten) this.mayChange = true;
    if (freshUntil === null) this.scope = 'none';
    else if (freshUntil < this.freshUntil) this.freshUntil = freshUntil;
  }
}

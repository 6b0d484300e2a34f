import type { ServerResponse } from 'node:http';
import type { CachePolicy } from '../../upstream/cache/cache-policy.ts';

/**
 * Sets Cache-Control of the response to a read: `no-store`, until the returned function is called with the policy of the data. Responses
 * to a POST are not cached without such a header, so they get none.
 */
export function cacheControl(response: ServerResponse): (policy: CachePolicy) => void {
  response.setHeader('cache-control', 'no-store');
  return (policy) => response.setHeader('cache-control', headerFor(policy));
}

/**
 * `no-store` for less than a second, or if nothing was read. Also for content that people write: it may be deleted or made private at any
 * time, and nobody can invalidate the caches of clients.
 */
function headerFor({ scope, freshUntil, mayChange }: CachePolicy): string {
  const seconds = Math.floor((freshUntil - Date.now()) / 1000);
  return scope === 'none' || mayChange || seconds < 1 || !Number.isFinite(seconds)
    ? 'no-store'
    : `${scope}, max-age=${seconds}`;
}

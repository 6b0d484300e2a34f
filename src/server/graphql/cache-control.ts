import type { ServerResponse } from 'node:http';
import type { CachePolicy } from '../../upstream/cache/cache-policy.ts';

/**
 * Sets Cache-Control of the response to a read: `no-store`, until the returned function is called with the policy of the data. Responses
 * to a POST are not cached without such a header, so they get none.
 */
export function cacheControl(response: ServerResponse): (policy: CachePolicy) => void {
  response.setHeader('cache-control', 'no-store');
  return (policy) => {
    const seconds = secondsToKeep(policy);
    if (seconds > 0) response.setHeader('cache-control', `${policy.scope}, max-age=${seconds}`);
  };
}

/**
 * How long a client may keep a response; 0 if nothing was read. Also 0 for content that people write: it may be deleted or made private at
 * any time, and nobody can invalidate the caches of clients.
 */
export function secondsToKeep({ scope, freshUntil, mayChange }: CachePolicy): number {
  const seconds = Math.floor((freshUntil - Date.now()) / 1000);
  return scope === 'none' || mayChange || !Number.isFinite(seconds) ? 0 : Math.max(0, seconds);
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CachePolicy } from '../../upstream/cache/cache-policy.ts';

/**
 * Writes the Cache-Control of an answer: of a GET nothing may be kept, unless what is given back is told how long.
 *
 * An answer to a POST is in no cache that it does not invite, so nothing is said of it.
 */
export function cacheControl(
  { method }: IncomingMessage,
  response: ServerResponse,
): ((freshness: CachePolicy) => void) | undefined {
  if (method !== 'GET') return undefined;
  response.setHeader('cache-control', 'no-store');
  return (freshness) => response.setHeader('cache-control', wordFor(freshness));
}

/**
 * `no-store` for less than a second, or if nothing was read. Also for content that people write: it may be deleted or made private at any
 * time, and nobody can invalidate the caches of clients.
 */
function wordFor({ scope, freshUntil, mayChange }: CachePolicy): string {
  const seconds = Math.floor((freshUntil - Date.now()) / 1000);
  return scope === 'none' || mayChange || seconds < 1 || !Number.isFinite(seconds)
    ? 'no-store'
    : `${scope}, max-age=${seconds}`;
}

/** What the two loaders of an operation share: its calls, and its view of the cache. */
import type { Path } from 'graphql/jsutils/Path.js';
import type { Endpoint } from '../../api/endpoint.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { CachePolicy } from '../cache/cache-policy.ts';
import { type CacheHandle, type ViewerCache, ageOf } from '../cache/handle.ts';
import type { CacheEntry } from '../cache/memory.ts';
import { RateLimited, TierRequired, UpstreamFailure, UpstreamRejection, isForbidden, isRateLimit } from '../errors.ts';
import type { CallPolicy } from '../http/call-policy.ts';
import type { ApiRequest } from '../../api/api-request.ts';

export interface LoadContext {
  readonly calls: Pick<CallPolicy, keyof CallPolicy>;
  readonly cache: ViewerCache;
  readonly viewer: Viewer;
  /** Restricted by everything that is read. */
  readonly cachePolicy: CachePolicy;
}

/** Notes that a fresh entry of the cache answers the request. */
export function useFresh(
  { calls, cachePolicy }: LoadContext,
  request: ApiRequest,
  cache: CacheHandle,
  cached: CacheEntry,
  path?: Path,
): void {
  calls.logCached(request, path, { how: 'cached', ...(cache.isOld(cached) && { ageSeconds: ageOf(cached) }) });
  cachePolicy.restrict(cached.isAbsent ? null : cached.freshUntil, request.endpoint);
}

/** The entry that may be used although upstream failed, or undefined. Drops the entry if upstream or the tier denied access. */
export function staleAfter(
  { cachePolicy, viewer }: LoadContext,
  { share }: Endpoint,
  cache: CacheHandle,
  cached: CacheEntry | undefined,
  error: unknown,
): CacheEntry | undefined {
  cachePolicy.restrict(null);
  // Anybody can send an unknown token: an error for a caller's token proves nothing about public data, unless it is a 404.
  if (isForbidden(error)) {
    const { status } = error.details;
    if (status === 404 || share !== 'public' || !viewer.isLoggedIn) cache.delete();
  }
  if (error instanceof TierRequired) cache.delete();
  return mayServeStale(error) ? cached : undefined;
}

/** Whether stale data may be served: upstream failed, or refused what is no matter of the record, and did not deny access. */
const mayServeStale = (error: unknown): boolean =>
  (error instanceof UpstreamFailure && !isForbidden(error)) ||
  error instanceof RateLimited ||
  (error instanceof UpstreamRejection && (isRateLimit(error.details) || error.details.ofFacade === true));

/** Whether the call may be unnecessary. Where the rate limit leaves no room for the call of a film, a stale entry stands in. */
export const maySaveCall = ({ share }: Endpoint, cache: CacheHandle, cached: CacheEntry): boolean =>
  share === 'tier' || cache.isFresh(cached);

/** What the two loaders of an operation share: its calls, and its view of the cache. */
import type { Endpoint } from '../../api/endpoint.ts';
import { withMembers } from '../../lib/objects.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { CachePolicy } from '../cache/cache-policy.ts';
import type { ViewerCache } from '../cache/record-cache.ts';
import { UpstreamFailure, UpstreamRejection, isDenial } from '../errors.ts';
import type { Calls } from '../http/calls.ts';
import { type ApiRequest, createApiRequest } from '../http/request.ts';
import type { FieldNames } from './record-state.ts';

export interface LoadContext {
  readonly calls: Pick<Calls, keyof Calls>;
  readonly cache: ViewerCache;
  readonly viewer: Viewer;
  /** Restricted by everything that is read. */
  readonly cachePolicy: CachePolicy;
}

/** A request for these fields of the response. The Atom service has no such parameter. */
export const projectedRequest = (endpoint: Endpoint, input: object, names: FieldNames | undefined): ApiRequest =>
  createApiRequest(
    endpoint,
    names && endpoint.service === 'catalog' ? withMembers(input, { fields: names.join(',') }) : input,
  );

/**
 * Upstream denied access, so cached data must not be shown again. Anybody can send an unknown token: a denial of a caller's token proves
 * nothing about public data, unless it is a 404.
 */
export function isDenied({ viewer }: LoadContext, { share }: Endpoint, error: unknown): boolean {
  if (!(error instanceof UpstreamRejection || error instanceof UpstreamFailure) || !isDenial(error.details))
    return false;
  return error.details.status === 404 || share !== 'public' || !viewer.isLoggedIn;
}

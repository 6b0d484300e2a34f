/** Counts responses that are not cached because of their headers. */
import { type Endpoint, type Share, isForEverybody } from '../../api/endpoint.ts';
import type { Credential } from '../auth/credentials.ts';
import type { Service } from '../errors.ts';
import {
  type Cacheability,
  type CachingHeaders,
  type Refusal,
  areConstant,
  cacheabilityOf,
  unspecified,
  varies,
} from './caching-header.ts';
import { isCached } from './lifetime.ts';
import type { Config } from '../../config/settings.ts';

type Known = Partial<Record<Share, { headers: CachingHeaders; reuse: Cacheability }>>;

export type CachingWatch = ReturnType<typeof createCachingWatch>;

export function createCachingWatch({
  upstreamCache: mode,
  recordTtlSeconds,
}: Pick<Config, 'upstreamCache' | 'recordTtlSeconds'>) {
  const counts: Record<Exclude<Refusal, 'unsure'> | 'expired', number> = {
    'no-store': 0,
    'no-cache': 0,
    private: 0,
    vary: 0,
    expired: 0,
  };
  /** The last headers of each scope, of others' credentials and the own, and what follows from them: a service sends the same with nearly all its responses. */
  const last: Record<Service, Known[]> = { catalog: [{}, {}], events: [{}, {}] };

  function count(endpoint: Endpoint, reuse: Cacheability): void {
    // RECORD_TTL_SECONDS=0 is not a matter of headers.
    const isKept = isCached(endpoint, reuse, recordTtlSeconds || undefined);
    if (!isKept && reuse.refusal !== 'unsure') counts[reuse.refusal ?? 'expired']++;
  }

  return {
    /** By reason. */
    refused: (): Readonly<Record<string, number>> => counts,
    /** How the response to a call may be used again. `sent`: see `CachingRules`. */
    reuseOf(
      endpoint: Endpoint,
      { isOwn }: Pick<Credential, 'isOwn'>,
      headers: CachingHeaders,
      sent: readonly string[],
    ): Cacheability {
      const { service, share } = endpoint;
      const rules = { share, isPersonal: share === 'tier' && !isOwn, mode, sent };
      const all = (last[service] ??= [{}, {}])[isOwn ? 1 : 0]!;
      const known = all[share];
      const isKnown =
        known !== undefined &&
        headers.age === undefined &&
        headers['cache-control'] === known.headers['cache-control'] &&
        headers.vary === known.headers.vary &&
        headers.expires === known.headers.expires &&
        (headers.vary === undefined || varies(headers.vary, rules) === (known.reuse.refusal === 'vary'));
      const reuse = isKnown ? known.reuse : cacheabilityOf(headers, rules);
      if (reuse !== unspecified && (isForEverybody({ share }) || (share === 'anonymous' && isOwn)))
        count(endpoint, reuse);
      if (!isKnown && areConstant(headers)) all[share] = { headers, reuse };
      return reuse;
    },
  };
}

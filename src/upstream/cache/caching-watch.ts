/** Counts responses that are not cached because of their headers. */
import { type Endpoint, isForEverybody } from '../../api/endpoint.ts';
import type { Credential } from '../auth/credentials.ts';
import { type Cacheability, type CachingHeaders, type Refusal, cacheabilityOf, unspecified } from './caching-header.ts';
import { isCached } from './lifetime.ts';
import type { Config } from '../../config/settings.ts';

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
      const { share } = endpoint;
      const reuse = cacheabilityOf(headers, { share, isPersonal: share === 'tier' && !isOwn, mode, sent });
      if (reuse !== unspecified && (isForEverybody({ share }) || (share === 'anonymous' && isOwn)))
        count(endpoint, reuse);
      return reuse;
    },
  };
}

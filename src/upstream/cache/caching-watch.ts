/** Counts responses that are not cached because of their headers, and reports once for each service what its headers forbid. */
import { type Endpoint, isForEverybody } from '../../api/endpoint.ts';
import type { Credential } from '../auth/credentials.ts';
import type { Service } from '../errors.ts';
import {
  type Cacheability,
  type CachingHeaders,
  type Refusal,
  cacheabilityOf,
  forbiddingWords,
  isRelaxed,
  unspecified,
} from './caching-header.ts';
import { isCached } from './lifetime.ts';
import type { Config } from '../../config/settings.ts';

/** `words`: see `forbiddingWords`. `isObeyed`: the responses are not cached, or only for an outage. */
export type OnForbidden = (service: Service, words: readonly string[], isObeyed: boolean) => void;

export type CachingWatch = ReturnType<typeof createCachingWatch>;

export function createCachingWatch(
  { upstreamCache: mode, recordTtlSeconds }: Pick<Config, 'upstreamCache' | 'recordTtlSeconds'>,
  onForbidden: OnForbidden | undefined,
) {
  const counts: Record<Exclude<Refusal, 'unsure'> | 'expired', number> = {
    'no-store': 0,
    'no-cache': 0,
    private: 0,
    vary: 0,
    expired: 0,
  };
  const reported = new Set<string>();

  function see(endpoint: Endpoint, headers: CachingHeaders, reuse: Cacheability): void {
    const { service, share } = endpoint;
    // RECORD_TTL_SECONDS=0 is not a matter of headers.
    const isKept = isCached(endpoint, reuse, recordTtlSeconds || undefined);
    if (!isKept && reuse.refusal !== 'unsure') counts[reuse.refusal ?? (reuse.isForOutage ? 'no-cache' : 'expired')]++;
    const report = `${service} ${isKept}`;
    if (reported.has(report) || (isKept && !isRelaxed({ share, mode }))) return;
    const words = forbiddingWords(headers, reuse, isKept);
    if (words.length === 0) return;
    reported.add(report);
    onForbidden?.(service, words, !isKept);
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
        see(endpoint, headers, reuse);
      return reuse;
    },
  };
}

/** Counts responses that their headers forbid to store, and reports once for each service what its headers forbid. */
import { type Endpoint, type Share, isForEverybody } from '../../api/endpoint.ts';
import type { Credential } from '../auth/credentials.ts';
import type { Service } from '../errors.ts';
import {
  type Cacheability,
  type CachingHeaders,
  type Refusal,
  areConstant,
  cacheabilityOf,
  forbiddingWords,
  isRelaxed,
  unspecified,
} from './caching-header.ts';
import type { Config } from '../../config/settings.ts';

/** `words`: see `forbiddingWords`. `isObeyed`: the responses are not stored, or only for an outage. */
export type OnForbidden = (service: Service, words: readonly string[], isObeyed: boolean) => void;

type Known = Partial<Record<Share, { headers: CachingHeaders; reuse: Cacheability }>>;

export type CachingWatch = ReturnType<typeof createCachingWatch>;

export function createCachingWatch(mode: Config['upstreamCache'], onForbidden: OnForbidden | undefined) {
  const refused: Record<Exclude<Refusal, 'unsure'>, number> = { 'no-store': 0, 'no-cache': 0, private: 0, vary: 0 };
  const reported = new Set<string>();
  /** The last headers of each scope, of others' credentials and the own, and what follows from them: a service sends the same with nearly all its responses. */
  const last: Record<Service, Known[]> = { catalog: [{}, {}], events: [{}, {}] };

  function see(service: Service, share: Share, headers: CachingHeaders, { refusal }: Cacheability): void {
    if (refusal !== undefined && refusal !== 'unsure') refused[refusal]++;
    const isObeyed = refusal !== undefined || !isRelaxed({ share, mode });
    const report = `${service} ${isObeyed}`;
    if (reported.has(report)) return;
    const words = forbiddingWords(headers, share);
    if (words.length === 0) return;
    reported.add(report);
    onForbidden?.(service, words, isObeyed);
  }

  return {
    /** By reason. */
    refused: (): Readonly<Record<string, number>> => refused,
    /** How the response to a call may be used again. */
    reuseOf({ service, share }: Endpoint, { isOwn }: Pick<Credential, 'isOwn'>, headers: CachingHeaders): Cacheability {
      const all = (last[service] ??= [{}, {}])[isOwn ? 1 : 0]!;
      const known = all[share];
      const isKnown =
        known !== undefined &&
        headers.age === undefined &&
        headers['cache-control'] === known.headers['cache-control'] &&
        headers.vary === known.headers.vary &&
        headers.expires === known.headers.expires;
      const reuse = isKnown
        ? known.reuse
        : cacheabilityOf(headers, { share, isPersonal: share === 'tier' && !isOwn, mode });
      const isToReport = reuse.refusal !== undefined || (!isKnown && reuse !== unspecified);
      if (isToReport && (isForEverybody({ share }) || (share === 'anonymous' && isOwn)))
        see(service, share, headers, reuse);
      if (!isKnown && areConstant(headers)) all[share] = { headers, reuse };
      return reuse;
    },
  };
}

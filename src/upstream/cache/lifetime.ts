/** How long an entry is fresh and kept. */
import type { Endpoint, Share } from '../../api/endpoint.ts';
import type { Cacheability } from './caching-header.ts';
import type { CacheEntry } from './memory.ts';

/** How long lists are fresh, records requested by something other than their id, and records of an endpoint that does not say. */
export const responseSeconds: Readonly<Record<Share, number>> = { public: 300, tier: 300, anonymous: 30, viewer: 0 };
/** How much longer an entry is kept, to be served while upstream fails. */
const STALE_SECONDS = 3600;
/** A longer max-age of upstream is cut to this. */
const MAX_AGE_SECONDS = 86_400;

export interface LifetimeSettings {
  /** Replaces every time to live, also the max-age of upstream; 0: nothing is cached. */
  ttlSeconds: number | undefined;
  /** How long it is remembered that a record is absent; 0: not at all. */
  absentTtlSeconds: number;
}

/** Until when a record counts as absent: no longer than upstream says, and than a record would be cached. */
export const absentUntil = (
  { maxAge = Infinity, age }: Cacheability,
  { ttlSeconds = Infinity, absentTtlSeconds }: LifetimeSettings,
): number => performance.now() + 1000 * Math.max(0, Math.min(maxAge - age, ttlSeconds, absentTtlSeconds));

/** Seconds for which a response is used without a call. `seconds`: if upstream does not say. */
const freshFor = ({ refusal, maxAge, age }: Cacheability, seconds: number, ttlSeconds: number | undefined): number =>
  refusal !== undefined ? 0 : (ttlSeconds ?? Math.max(0, Math.min(maxAge ?? seconds, MAX_AGE_SECONDS) - age));

/** Whether a response is used again for a second at least: else each read is a call. */
export const isCached = (
  { freshSeconds: seconds, share }: Endpoint,
  reuse: Cacheability,
  ttlSeconds: number | undefined,
): boolean => freshFor(reuse, seconds ?? responseSeconds[share], ttlSeconds) >= 1;

/** `seconds`: how long it is fresh if upstream does not say. */
export function timesOf(
  seconds: number,
  reuse: Cacheability,
  { ttlSeconds }: Pick<LifetimeSettings, 'ttlSeconds'>,
): Omit<CacheEntry, 'value' | 'bytes'> {
  const now = performance.now();
  const freshUntil = now + 1000 * freshFor(reuse, seconds, ttlSeconds);
  const keptUntil = freshUntil + (reuse.mustRevalidate ? 0 : 1000 * STALE_SECONDS);
  return { since: now - reuse.age * 1000, freshUntil, keptUntil };
}

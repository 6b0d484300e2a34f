/** How long an entry is fresh, served and kept. */
import type { Endpoint, Share } from '../../api/endpoint.ts';
import type { Cacheability } from './caching-header.ts';
import type { CacheEntry } from './memory.ts';

/** Seconds that a record is fresh, by kind, if upstream does not say. */
// A table is read down its columns.
// prettier-ignore
export const recordSeconds: Readonly<Record<string, number>> = {
  Book:       3600,
  Subject:    3600,
  Celebrity:  3600,
  City:       3600,
  Event:        60, // people join all the time
  Annotation:   60,
  Collection:   30,
};
/** The same for lists, and for records requested by something other than their id. */
export const responseSeconds: Readonly<Record<Share, number>> = { public: 300, tier: 300, anonymous: 30, viewer: 0 };
/** How much longer an entry is kept, to be served while upstream fails. */
const STALE_SECONDS = 3600;
/** A longer max-age of upstream is cut to this. */
const MAX_AGE_SECONDS = 86_400;

export interface LifetimeSettings {
  /** Replaces every time to live, also the max-age of upstream; 0: nothing is cached. */
  ttlSeconds: number | undefined;
  revalidateSeconds: number;
}

/** `seconds`: how long it is fresh if upstream does not say. */
export function timesOf(
  { share }: Endpoint,
  seconds: number,
  { maxAge = seconds, mustRevalidate, staleWhileRevalidate, age = 0 }: Cacheability,
  { ttlSeconds, revalidateSeconds }: LifetimeSettings,
): Omit<CacheEntry, 'value' | 'bytes'> {
  const now = Date.now();
  const freshUntil = now + 1000 * (ttlSeconds ?? Math.max(0, Math.min(maxAge, MAX_AGE_SECONDS) - age));
  const mayServe = !mustRevalidate && (share === 'public' || share === 'tier');
  const servedUntil = freshUntil + (mayServe ? 1000 * (staleWhileRevalidate ?? revalidateSeconds) : 0);
  const keptUntil = mustRevalidate ? freshUntil : Math.max(servedUntil, freshUntil + STALE_SECONDS * 1000);
  return { since: now - age * 1000, freshUntil, servedUntil, keptUntil };
}

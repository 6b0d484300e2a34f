/**
 * Whole answers, as the bytes that went out: what is asked again word for word, by callers without a token, is not run again.
 *
 * One stands as long as everything that was read for it is fresh and nothing was cleared since: a write drops them all.
 */
import { LRUCache } from 'lru-cache';
import type { CachePolicy } from '../../upstream/cache/cache-policy.ts';

export interface ResponseCache {
  /** The answer to this body for this media type. */
  get: (media: string, body: string) => Buffer | undefined;
  /** Keeps one that is reusable, unless anything was cleared since its operation began: in `epoch`. */
  put: (media: string, body: string, answer: Buffer, freshness: CachePolicy, epoch: number | null) => void;
}

const ANSWERS_MAX_BYTES = 8_000_000;
const OVERHEAD_BYTES = 300;

interface Kept {
  media: string;
  answer: Buffer;
  freshUntil: number;
}

/** `epoch`: tells when anything was cleared; null where others clear too and nothing may be kept. */
export function createResponseCache(epoch: () => number | null): ResponseCache {
  const kept = new LRUCache<string, Kept>({
    maxSize: ANSWERS_MAX_BYTES,
    sizeCalculation: ({ answer }, key) => OVERHEAD_BYTES + 2 * key.length + answer.length,
  });
  let keptIn: number | null = null;

  return {
    get(media, body) {
      if (kept.size === 0) return undefined;
      if (epoch() !== keptIn) {
        kept.clear();
        return undefined;
      }
      const found = kept.get(keyOf(media, body));
      return found?.media === media && found.freshUntil > Date.now() ? found.answer : undefined;
    },
    put(media, body, answer, { freshUntil }, begun) {
      if (begun === null || begun !== epoch()) return;
      if (keptIn !== begun) kept.clear();
      keptIn = begun;
      kept.set(keyOf(media, body), { media, answer, freshUntil });
    },
  };
}

/** Whether anybody may be shown it again; what nothing was read for has no time to live. */
export const isCacheable = ({ scope, freshUntil }: CachePolicy): boolean =>
  scope === 'public' && Number.isFinite(freshUntil) && freshUntil > Date.now();

/** For the usual media type no text is put together; a body that begins with the name of the other is told apart by what was kept. */
const keyOf = (media: string, body: string): string => (media === 'application/json' ? body : media + body);

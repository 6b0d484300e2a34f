/**
 * Caches whole responses as bytes, for requests without a token that repeat an earlier one exactly. A response is valid while everything
 * that was read for it is fresh and no record was invalidated: a write empties the cache.
 */
import { LRUCache } from 'lru-cache';
import type { CachePolicy } from '../../upstream/cache/cache-policy.ts';

export type ResponseCache = ReturnType<typeof createResponseCache>;

const MAX_BYTES = 8_000_000;
const OVERHEAD_BYTES = 300;

interface Entry {
  media: string;
  response: Buffer;
  operationName: string | undefined;
  freshUntil: number;
}

/** `epoch` changes whenever records are invalidated. It is null if other replicas invalidate too: then nothing is cached. */
export function createResponseCache(epoch: () => number | null) {
  const entries = new LRUCache<string, Entry>({
    maxSize: MAX_BYTES,
    // The compressed copies of a response are stored with it; each has a fifth of its length or so.
    sizeCalculation: ({ response }, key) => OVERHEAD_BYTES + 2 * key.length + Math.ceil(1.5 * response.length),
  });
  let cachedIn: number | null = null;

  return {
    /** The response to this body in this media type. */
    get(media: string, body: string): Entry | undefined {
      if (entries.size === 0) return undefined;
      if (epoch() !== cachedIn) {
        entries.clear();
        return undefined;
      }
      const entry = entries.get(keyOf(media, body));
      return entry?.media === media && entry.freshUntil > Date.now() ? entry : undefined;
    },
    /** `begun`: the epoch in which the operation began. If anything was invalidated since, the response is not cached. */
    put(
      media: string,
      body: string,
      response: Buffer,
      { freshUntil }: CachePolicy,
      begun: number | null,
      operationName?: string,
    ): void {
      if (begun === null || begun !== epoch()) return;
      if (cachedIn !== begun) entries.clear();
      cachedIn = begun;
      entries.set(keyOf(media, body), { media, response, operationName, freshUntil });
    },
  };
}

/** Whether anybody may receive the response again. A response for which nothing was read has no time to live. */
export const isCacheable = ({ scope, freshUntil }: Pick<CachePolicy, 'scope' | 'freshUntil'>): boolean =>
  scope === 'public' && Number.isFinite(freshUntil) && freshUntil > Date.now();

/** Avoids concatenation for application/json. A clash with another media type's key is detected by comparing the stored media. */
const keyOf = (media: string, body: string): string => (media === 'application/json' ? body : media + body);

/**
 * The writer of JSON: a JSON body in, a JSON response out, without Yoga. It stores whole responses as bytes, for requests without a token
 * that repeat an earlier one exactly. A stored response is valid while everything that was read for it is fresh and no record was
 * invalidated: a write empties the cache. Where replicas write too, the log of their invalidations is asked for before it is served.
 */
import { LRUCache } from 'lru-cache';
import type { CachePolicy } from '../../upstream/cache/cache-policy.ts';
import type { UpstreamClient } from '../../upstream/client.ts';
import type { Exchange } from '../http/exchange.ts';
import { sendBody } from '../http/response/send.ts';
import type { StatusOf } from '../http/response/status.ts';
import type { NamedOperation } from '../../engine/documents/prepare.ts';
import { type WholeOutcome, errorHeaders, isCacheable, resultText } from './outcome.ts';
import type { JsonRequest, Received } from './request.ts';
import { CACHE_MAX_BYTES } from '../../lib/remember.ts';

export type JsonWriter = ReturnType<typeof createJsonWriter>;

/** A response of at most this many characters is sent in one chunk with its headers; for a longer one that would cost a copy. */
const SHORT = 5_000;

type Epochs = Pick<UpstreamClient, 'epoch' | 'confirmEpoch'>;

export function createJsonWriter({ epoch, confirmEpoch }: Epochs, statusOf: StatusOf) {
  const cache = createResponseCache(epoch);
  return {
    /** The stored response of an equal request. */
    storedFor({ media, body }: JsonRequest): StoredResponse | Promise<StoredResponse | undefined> | undefined {
      const stored = cache.get(media, body);
      if (!stored || !confirmEpoch) return stored;
      return confirmEpoch().then((isKnown) => (isKnown ? cache.get(media, body) : undefined));
    },

    sendStored(exchange: Exchange, { media, response }: StoredResponse): void {
      exchange.headers.push('content-type', `${media}; charset=utf-8`);
      sendBody(exchange, 200, exchange.headers, response, true);
    },

    /** Sends the response, and stores it if others may get it. */
    send(
      received: Received,
      { media, body }: JsonRequest,
      { result, document, cachePolicy, epoch }: WholeOutcome,
    ): void {
      const { exchange } = received;
      const text = resultText(result);
      const response = text.length > SHORT ? Buffer.from(text) : text;
      exchange.headers.push('content-type', `${media}; charset=utf-8`);
      if (result.errors) exchange.headers.push(...errorHeaders(result));
      sendBody(exchange, statusOf(result, media), exchange.headers, response);
      // Another client may get a document with incremental delivery in parts.
      const mayStore = document?.incrementalSelections.length === 0 && received.isForEverybody;
      if (mayStore && cachePolicy && isCacheable(cachePolicy))
        cache.put(media, body, unpooled(response), cachePolicy, epoch, document.named);
    },
  };
}

/** A copy with memory of its own: a small Buffer is a slice of a larger pool, which it would keep alive. */
const unpooled = (response: Buffer | string): Buffer =>
  typeof response === 'string' ? Buffer.from(new TextEncoder().encode(response).buffer) : response;

const OVERHEAD_BYTES = 300;

export interface StoredResponse {
  media: string;
  response: Buffer;
  operation: NamedOperation;
  freshUntil: number;
}

/** `epoch` changes whenever records are invalidated. It is null if nothing may be cached. */
export function createResponseCache(epoch: () => number | null) {
  const entries = new LRUCache<string, StoredResponse>({
    maxSize: CACHE_MAX_BYTES.responses,
    // The compressed copies of a response are stored with it; each has a fifth of its length or so.
    sizeCalculation: ({ response }, key) => OVERHEAD_BYTES + 2 * key.length + Math.ceil(1.5 * response.length),
  });
  let cachedIn: number | null = null;

  return {
    /** The response to this body in this media type. */
    get(media: string, body: string): StoredResponse | undefined {
      if (entries.size === 0) return undefined;
      if (epoch() !== cachedIn) {
        entries.clear();
        return undefined;
      }
      const entry = entries.get(keyOf(media, body));
      return entry?.media === media && entry.freshUntil > performance.now() ? entry : undefined;
    },
    /** `begun`: the epoch in which the operation began. If anything was invalidated since, the response is not cached. */
    put(
      media: string,
      body: string,
      response: Buffer,
      { freshUntil }: CachePolicy,
      begun: number | null,
      operation: NamedOperation,
    ): void {
      if (begun === null || begun !== epoch()) return;
      if (cachedIn !== begun) entries.clear();
      cachedIn = begun;
      entries.set(keyOf(media, body), { media, response, operation, freshUntil });
    },
  };
}

/** Avoids concatenation for application/json. A clash with another media type's key is detected by comparing the stored media. */
const keyOf = (media: string, body: string): string => (media === 'application/json' ? body : media + body);

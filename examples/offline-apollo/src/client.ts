import { ApolloClient, ApolloLink, HttpLink, InMemoryCache, type NormalizedCacheObject } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { cacheOptions } from 'catalog-graphql-client/apollo';
import { documentId } from 'catalog-graphql-client/trusted';
import { get, set } from 'idb-keyval';
import { outbox } from './outbox.ts';

/** The reader of the demo. */
export const TOKEN = 'demo-alice';
const CACHE = 'cache';

/** A client with the cache of the last visit. Reads are GETs with the id of a trusted document; no request has its text. */
export async function createClient(): Promise<ApolloClient> {
  const cache = new InMemoryCache(cacheOptions());
  const stored = await get<NormalizedCacheObject>(CACHE);
  if (stored) cache.restore(stored);
  const client = new ApolloClient({
    cache,
    link: ApolloLink.from([
      outbox.link,
      new PersistedQueryLink({ generateHash: documentId, useGETForHashedQueries: true }),
      new HttpLink({ uri: '/graphql', headers: { authorization: `Bearer ${TOKEN}` } }),
    ]),
  });
  keep(cache);
  return client;
}

/** Stores the cache a moment after each change, without what is only expected: queued writes are stored by themselves. */
function keep(cache: InMemoryCache): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const store = () => void set(CACHE, cache.extract()).catch(() => undefined); // private windows may have no storage
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(store, 200);
  };
  for (const method of ['write', 'evict', 'modify', 'reset'] as const) {
    const original = cache[method].bind(cache) as (...args: unknown[]) => unknown;
    Object.assign(cache, {
      [method]: (...args: unknown[]) => {
        soon();
        return original(...args);
      },
    });
  }
}

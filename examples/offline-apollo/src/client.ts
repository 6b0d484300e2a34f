import { ApolloClient, ApolloLink, HttpLink, InMemoryCache, type NormalizedCacheObject } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { cacheOptions } from 'catalog-graphql-client/apollo';
import { documentId } from 'catalog-graphql-client/trusted';
import { get, set } from 'idb-keyval';
import { catchError, map, of } from 'rxjs';
import { isOutage, outbox } from './outbox.ts';

/** The reader of the demo. */
export const TOKEN = 'demo-alice';
const CACHE = 'cache';

// A refused list is null and the rest of the page is shown.
const errorPolicy = 'all';
declare module '@apollo/client' {
  namespace ApolloClient.DeclareDefaultOptions {
    interface WatchQuery {
      errorPolicy?: 'all';
    }
  }
}

/** During an outage a page has what was seen last, beside the error: the nulls of the response do not replace it in the cache. */
const lastSeen = new ApolloLink((operation, forward) => {
  if (operation.operationType !== 'query') return forward(operation);
  const { client, query, variables } = operation;
  const seen = () => client.cache.readQuery<Record<string, unknown>>({ query, variables });
  return forward(operation).pipe(
    map((result) => {
      const data = isOutage(result.errors) && seen();
      return data ? { ...result, data } : result;
    }),
    catchError((error: Error) => {
      const data = seen();
      if (!data) throw error;
      return of({ data, errors: [{ message: error.message }] });
    }),
  );
});

/** A client with the cache of the last visit. Reads are GETs with the id of a trusted document; no request has its text. */
export async function createClient(): Promise<ApolloClient> {
  const cache = new InMemoryCache(cacheOptions());
  const stored = await get<NormalizedCacheObject>(CACHE);
  if (stored) cache.restore(stored);
  const client = new ApolloClient({
    cache,
    link: ApolloLink.from([
      outbox.link,
      lastSeen,
      new PersistedQueryLink({ generateHash: documentId, useGETForHashedQueries: true }),
      new HttpLink({ uri: '/graphql', headers: { authorization: `Bearer ${TOKEN}` } }),
    ]),
    defaultOptions: { watchQuery: { errorPolicy } },
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

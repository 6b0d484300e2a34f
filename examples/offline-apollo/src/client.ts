import { ApolloClient, ApolloLink, HttpLink, InMemoryCache, type NormalizedCacheObject } from '@apollo/client';
import { SetContextLink } from '@apollo/client/link/context';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { cacheOptions } from 'catalog-graphql-client/apollo';
import { documentId } from 'catalog-graphql-client/trusted';
import { get, set } from 'idb-keyval';
import { catchError, map, of } from 'rxjs';
import { isOutage } from './outage.ts';
import { token } from './session.ts';

const CACHE = 'cache';
const OPENED = 'opened';
/** What is kept of the pages of books: those that were opened last. */
const BOUNDS = { books: 50, bytes: 3_000_000 };

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
  const stored = await kept<NormalizedCacheObject>(CACHE);
  if (stored) cache.restore(stored);
  opened = (await kept<string[]>(OPENED)) ?? [];
  const client = new ApolloClient({
    cache,
    link: ApolloLink.from([
      lastSeen,
      new SetContextLink(() => ({ headers: { authorization: `Bearer ${token()}` } })),
      new PersistedQueryLink({ generateHash: documentId, useGETForHashedQueries: true }),
      new HttpLink({ uri: '/graphql' }),
    ]),
    defaultOptions: { watchQuery: { errorPolicy } },
  });
  keep(cache);
  return client;
}

// A browser may refuse storage, also by an exception of `open`: then the cache ends with the page.
async function kept<Value>(key: string): Promise<Value | undefined> {
  try {
    return await get<Value>(key);
  } catch {
    return undefined;
  }
}
async function store(key: string, value: unknown): Promise<void> {
  try {
    await set(key, value);
  } catch {
    return undefined;
  }
}

/** The books that were opened, the last one at the end. */
let opened: string[] = [];

/** The page of a book is kept as the last one. */
export function keepPage(client: ApolloClient, book: string): void {
  opened = [...opened.filter((each) => each !== book), book];
  bound(client.cache as InMemoryCache);
  void store(OPENED, opened);
}

/** Removes the oldest pages over the bounds, with what only they show. */
function bound(cache: InMemoryCache): NormalizedCacheObject {
  for (;;) {
    const content = cache.extract();
    const isOver = opened.length > BOUNDS.books || JSON.stringify(content).length > BOUNDS.bytes;
    const oldest = opened.length > 1 && isOver ? opened.shift() : undefined;
    if (oldest === undefined) return content;
    cache.evict({ id: 'ROOT_QUERY', fieldName: 'book', args: { id: oldest } });
    cache.gc();
  }
}

/** Stores the cache a moment after each change. */
function keep(cache: InMemoryCache): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(() => void store(CACHE, bound(cache)), 200);
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

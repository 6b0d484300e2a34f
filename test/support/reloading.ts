import { createServer } from 'node:http';
import type { Flags } from '../../src/config/read.ts';
import { listen } from './listen.ts';
import { redisServer } from './redis.ts';
import { replica } from './replica.ts';

export const BOOK = '{ book(id: "7") { title } }';

/** As many aliases `at0`, `at1` and so on of a field with an id, from 1 upwards. */
export const aliases = (count: number, fieldOf: (id: number) => string): string =>
  `{ ${Array.from({ length: count }, (_, at) => `at${at}: ${fieldOf(at + 1)}`).join(' ')} }`;

/** Settings with which an operation may have so many aliases. */
export const manyAliases = { maxAliases: '200', maxRootFields: '200' };

/** A service with one title everywhere, which changes when the test says so. */
export async function changingService() {
  const requests: string[] = [];
  const state = {
    title: 'first',
    status: 200,
    body: undefined as string | undefined,
    cacheControl: 'max-age=600',
    retryAfter: undefined as string | undefined,
    /** Whether connections are closed without a response. */
    isGone: false,
    /** Reads are answered, with what they found, when it resolves. */
    heldUntil: undefined as Promise<void> | undefined,
  };
  const url = await listen(
    createServer((request, response) => {
      requests.push(request.url!);
      const { title, status, cacheControl, retryAfter, heldUntil } = state;
      if (state.isGone) return void request.socket.destroy();
      const body = state.body ?? JSON.stringify(bodyOf(request.url!, title));
      const headers = { 'content-type': 'application/json', 'cache-control': cacheControl };
      const respond = () =>
        response.writeHead(status, retryAfter ? { ...headers, 'retry-after': retryAfter } : headers).end(body);
      if (heldUntil && request.method === 'GET') void heldUntil.then(respond);
      else respond();
    }),
  );
  return {
    url,
    requests,
    state,
    /** There is no book from now on. */
    losesBook: () =>
      void Object.assign(state, {
        status: 404,
        body: '{"msg":"book_not_found","code":6000,"request":"GET /v2/book/7"}',
      }),
    findsBook: () => void Object.assign(state, { status: 200, body: undefined }),
    /** Reads from now on wait until the function that it returns is called; later ones do not. */
    hold: () => {
      let resolve!: () => void;
      state.heldUntil = new Promise((resolved) => (resolve = resolved));
      return () => {
        state.heldUntil = undefined;
        resolve();
      };
    },
  };
}

function bodyOf(url: string, title: string): object {
  const { pathname, searchParams } = new URL(url, 'http://service');
  const [, id = '7'] = /(\d+)(?:\/collection)?$/.exec(pathname) ?? [];
  const directors = ['1', '2', '3', '4'].map((id) => ({ id, name: title, alt: '', avatars: null }));
  const whole = { id, title, publisher: title, pages: '7', born_place: title, directors };
  const members = searchParams.get('fields')?.split(',') ?? Object.keys(whole);
  const record = Object.fromEntries(Object.entries(whole).filter(([member]) => members.includes(member)));
  if (pathname.endsWith('/collection')) return { id: 1, book_id: id, user_id: '5', status: 'reading', book: whole };
  if (!/\/(?:search|coming_soon|in_theaters)$/.test(pathname)) return record;
  const [start, count] = ['start', 'count'].map((name) => Number(searchParams.get(name) ?? 0));
  const items = Array.from({ length: Math.min(count!, 20) }, (_, at) => ({ ...record, id: String(start! + at + 1) }));
  return { start, count, total: 20, books: items, subjects: items };
}

interface Shown {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- data of any query
  data: any;
  errors?: { extensions: { code: string } }[];
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- extensions of any query
  extensions?: any;
}

/** Sends queries with and without the header; `from`: the address that a proxy names. */
export function clientAt(url: string) {
  const ask = async (query: string, headers: Record<string, string>) => {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query }),
    });
    return {
      status: response.headers.get('cache-status'),
      headers: response.headers,
      ...((await response.json()) as Shown),
    };
  };
  return {
    plain: (query: string, headers = {}) => ask(query, headers),
    reload: (query: string, from = '192.0.2.1', headers = {}) =>
      ask(query, { 'cache-control': 'no-cache', 'x-forwarded-for': from, ...headers }),
  };
}

export async function openReloading(settings: Flags = {}) {
  const made = await changingService();
  const { url } = await replica(made.url, { trustedProxies: '127.0.0.1', ...settings });
  return { ...made, ...clientAt(url), url };
}

/** Two replicas over one Redis. */
export async function openReplicas() {
  const made = await changingService();
  const redis = await redisServer();
  const settings = { trustedProxies: '127.0.0.1', redisUrl: redis.url };
  const open = async () => clientAt((await replica(made.url, settings)).url);
  return { ...made, redis, one: await open(), other: await open() };
}

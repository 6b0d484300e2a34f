import { createServer } from 'node:http';
import type { Flags } from '../../src/config/read.ts';
import { listen } from './listen.ts';
import { replica } from './replica.ts';

/** A service with one title everywhere, which changes when the test says so. */
export async function changingService() {
  const requests: string[] = [];
  const state = {
    title: 'first',
    status: 200,
    body: undefined as string | undefined,
    cacheControl: 'max-age=600',
    retryAfter: undefined as string | undefined,
    /** Reads are answered, with what they found, when it resolves. */
    isHeldUntil: undefined as Promise<void> | undefined,
  };
  const url = await listen(
    createServer((request, response) => {
      requests.push(request.url!);
      const { title, status, cacheControl, retryAfter, isHeldUntil } = state;
      const body = state.body ?? JSON.stringify(bodyOf(request.url!, title));
      const headers = { 'content-type': 'application/json', 'cache-control': cacheControl };
      const respond = () =>
        response.writeHead(status, retryAfter ? { ...headers, 'retry-after': retryAfter } : headers).end(body);
      if (isHeldUntil && request.method === 'GET') void isHeldUntil.then(respond);
      else respond();
    }),
  );
  return { url, requests, state };
}

function bodyOf(url: string, title: string): object {
  const { pathname, searchParams } = new URL(url, 'http://service');
  const [, id = '7'] = /(\d+)(?:\/collection)?$/.exec(pathname) ?? [];
  const whole = { id, title, publisher: title, pages: '7' };
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

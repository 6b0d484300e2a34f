/** Which headers of a client reach the service, and which of the service reach the client. Everything else stays where it came from. */
import { expect, test } from 'vitest';
import { USER_AGENT } from '../../../../src/package.ts';
import { json, response } from '../../../support/hostile.ts';
import { startFacade } from '../../../support/start-facade.ts';

const app = { origin: 'https://app.example' };
const facade = () => startFacade({ recordTtlSeconds: undefined }, { CORS_ORIGINS: app.origin });
const record = '{"id":"7","title":"x"}';
const query = '?query={book(id:7){title}}';

/** What a client sends and the service gets. */
const passed: Record<string, string> = {
  authorization: 'Bearer alice',
  'x-request-id': 'page-7',
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  tracestate: 'a=1',
};
/** What the service gets of every request, whatever its client sent. */
const own = { accept: 'application/json', 'accept-encoding': 'gzip', 'user-agent': USER_AGENT };
const words = (text: string): string[] => text.trim().split(/\s+/);
/** What the service does not get: the other headers that a page may send, and what browsers and proxies add. */
const kept: Record<string, string> = {
  ...{ 'cache-control': 'max-age=0', 'content-type': 'application/json', 'x-explain': 'trace' },
  ...Object.fromEntries(
    words(`
      idempotency-key if-none-match x-graphql-csrf apollo-require-preflight apollographql-client-name
      apollographql-client-version graphql-client-name graphql-client-version x-graphql-client-name
      x-graphql-client-version x-client-name x-client-version x-apollo-operation-name x-apollo-operation-id
      x-apollo-operation-type cookie forwarded referer x-forwarded-for accept-language x-other`).map((name) => [
      name,
      '1',
    ]),
  ),
};

test('of the headers of a client its token, its request id and its trace alone are sent upstream, beside our own', async () => {
  const { books, url } = await facade();
  books.behave(json(record));
  expect((await fetch(url + query, { headers: { ...passed, ...kept, 'user-agent': 'page' } })).status).toBe(200);
  const { headers } = books.requests[0]!;
  expect(headers).toMatchObject({ ...passed, ...own });
  const all = [...Object.keys(passed), ...Object.keys(own), 'connection', 'host'];
  expect(Object.keys(headers).sort()).toEqual(all.sort());
});

test('a page may send what is passed on, and each header that it may send is in a table', async () => {
  const { url } = await facade();
  const preflight = await fetch(url, {
    method: 'OPTIONS',
    headers: { ...app, 'access-control-request-method': 'POST' },
  });
  const names = preflight.headers.get('access-control-allow-headers')!.split(', ');
  expect(names).toEqual(expect.arrayContaining(Object.keys(passed)));
  expect(names.filter((name) => !(name in passed) && !(name in kept))).toEqual([]);
});

/** What the service sends with a record, and what the client's response to a GET has of it: the seconds for which it is public, or nothing. */
const ofService: [name: string, sent: string, publicFor: number, shown?: Record<string, string>][] = [
  ['cache-control', 'max-age=100', 100],
  ['cache-control', 'no-store', 0],
  ['cache-control', 'no-cache, private', 3600],
  ['x-request-id', 'of-the-service', 3600, { 'x-request-id': 'page-7' }],
  ...['set-cookie', 'etag', 'location', 'server', 'x-powered-by', 'content-language', 'x-other', 'warning'].map(
    (name): [string, string, number] => [name, 'of-the-service', 3600],
  ),
  ['access-control-allow-origin', 'https://other.example', 3600, { 'access-control-allow-origin': app.origin }],
];

test.each(ofService)(
  'with %s: %s of the service a response is public for %i seconds',
  async (name, sent, publicFor, shown = {}) => {
    const { books, url } = await facade();
    books.behave(response(200, 'application/json', record, { [name]: sent }));
    const { headers } = await fetch(url + query, { headers: { ...app, 'x-request-id': 'page-7' } });
    const [, seconds = 0] = /^public, max-age=(\d+)$/.exec(headers.get('cache-control')!) ?? [];
    expect(Math.abs(Number(seconds) - publicFor)).toBeLessThan(20); // a record grows old
    expect([...headers.values()].join()).not.toContain('of-the-service');
    for (const [each, value] of Object.entries(shown)) expect(headers.get(each)).toBe(value);
  },
);

test.each([429, 503])('Retry-After of a %i is in the error of the field, in seconds', async (status) => {
  const { books, execute } = await facade();
  books.behave(response(status, 'text/plain', 'later', { 'retry-after': '30' }));
  const { errors } = await execute('{ book(id: 7) { title } }');
  expect(errors![0]!.extensions.retryAfter).toBe(30);
});

import { createServer } from 'node:http';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { bookEndpoints } from '../../../src/api/book.ts';
import { serviceHeaders } from '../../../src/api/service-headers.ts';
import type { TestFlags } from '../../support/config.ts';
import { unspecified } from '../../../src/upstream/cache/caching-header.ts';
import { createMemoryCache } from '../../../src/upstream/cache/memory.ts';
import { createRecordCache } from '../../../src/upstream/cache/record-cache.ts';
import { listen } from '../../support/listen.ts';
import { hasRedis, redisServer, until } from '../../support/redis.ts';
import { replica } from '../../support/replica.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'] }));
afterEach(() => void vi.useRealTimers());
const later = (seconds: number) => vi.advanceTimersByTime(seconds * 1000);

const FILM = (id: number | string) => `{ subject(id: "${id}") { title } }`;
const NOTE = 'A text that is longer than fifteen characters.';
const ANNOTATION = '{ annotation(id: "5") { content } }';

/** A service without films below 100, and with the annotation 5 after it was written; its requests. */
async function service(headers: Record<string, string> = serviceHeaders) {
  const requests: string[] = [];
  const state = { hasCodes: true, isAnnotated: false, isDown: false };
  const url = await listen(
    createServer((request, response) => {
      const line = `${request.method} ${request.url!.split('?')[0]}`;
      requests.push(line);
      request.resume();
      const send = (status: number, body: object) => {
        response.writeHead(status, { 'content-type': 'application/json', ...headers });
        response.end(JSON.stringify(body));
      };
      const id = /(\d+)$/.exec(line)?.[1] ?? '';
      const annotation = { id: '5', book_id: '7', content: NOTE, author_user: { id: '1', name: 'alice' } };
      if (state.isDown) return send(503, {});
      if (request.method === 'POST') {
        state.isAnnotated = true;
        return send(201, annotation);
      }
      const isThere = line.includes('annotation')
        ? state.isAnnotated
        : line.includes('isbn')
          ? false
          : Number(id) >= 100;
      if (isThere) return send(200, line.includes('annotation') ? annotation : { id, title: `film ${id}` });
      send(
        404,
        state.hasCodes ? { code: line.includes('movie') ? 5000 : 6000, msg: 'x', request: line } : { error: 'x' },
      );
    }),
  );
  return { url, requests, state };
}

async function open(settings: TestFlags = {}, headers?: Record<string, string>) {
  const made = await service(headers);
  return { ...made, execute: await replica(made.url, { filmTier: 'basic', accessToken: 'own', ...settings }) };
}

test('what is below a book that is known to be absent is not requested', async () => {
  const { execute, requests, state } = await open();
  state.isAnnotated = true; // the list is answered with what no cache keeps
  const page = `{ book(id: "7") { title annotations(first: 20) { nodes { id } } } }`;
  expect((await execute(page)).data).toEqual({ book: null });
  await new Promise((resolve) => setImmediate(resolve));
  requests.length = 0;
  for (let view = 0; view < 5; view++) expect((await execute(page)).data).toEqual({ book: null });
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(requests).toEqual([]);
});

test('thirty views of an absent film make one call, and leave the quota to other films', async () => {
  const { execute, requests } = await open();
  for (let view = 0; view < 30; view++) expect(await execute(FILM(7))).toEqual({ data: { subject: null } });
  expect(requests).toHaveLength(1);
  for (let id = 101; id <= 119; id++)
    expect(await execute(FILM(id))).toEqual({ data: { subject: { title: `film ${id}` } } });
});

test.each<[what: string, settings: TestFlags, headers: Record<string, string> | undefined, seconds: number]>([
  ['30 s by default', {}, undefined, 30],
  ['as the setting says', { absentTtlSeconds: '90' }, undefined, 90],
  ['no longer than the service says', {}, { 'cache-control': 'max-age=10' }, 10],
  ['no longer than records are cached', { recordTtlSeconds: '7' }, undefined, 7],
])('absence is remembered for %s', async (_, settings, headers, seconds) => {
  const { execute, requests } = await open(settings, headers);
  await execute(FILM(7));
  later(seconds - 1);
  await execute(FILM(7));
  expect(requests).toHaveLength(1);
  later(2);
  await execute(FILM(7));
  expect(requests).toHaveLength(2);
});

test.each<[why: string, settings: TestFlags, headers?: Record<string, string>]>([
  ['the setting is 0', { absentTtlSeconds: '0' }],
  ['nothing is cached', { recordTtlSeconds: '0' }],
  ['the service says no-store', {}, { 'cache-control': 'no-store' }],
  ['the headers of the service are obeyed', { upstreamCache: 'strict' }, serviceHeaders],
  ['it varies with the reader', {}, { vary: 'X-Request-Id' }],
])('absence is not remembered if %s', async (_, settings, headers) => {
  const { execute, requests } = await open(settings, headers);
  for (let view = 0; view < 3; view++) await execute(FILM(7));
  expect(requests).toHaveLength(3);
});

test('a 404 without a code of the service is not remembered as absence', async () => {
  const { execute, requests, state } = await open();
  state.hasCodes = false;
  for (let view = 0; view < 2; view++) expect((await execute(FILM(7))).data).toEqual({ subject: null });
  state.hasCodes = true;
  expect(await execute(FILM(7))).toEqual({ data: { subject: null } });
  expect(requests).toHaveLength(3);
});

test('what is requested by something other than its id is remembered as absent too', async () => {
  const { execute, requests } = await open();
  for (let view = 0; view < 3; view++)
    expect(await execute('{ bookByIsbn(isbn: "9787506365437") { title } }')).toEqual({ data: { bookByIsbn: null } });
  expect(requests).toHaveLength(1);
});

test('absence for one token is not that for another', async () => {
  const { execute, requests } = await open();
  for (const token of ['a', 'b', 'a', undefined]) await execute(FILM(7), token);
  expect(requests).toHaveLength(3);
});

test('a write clears the absence of what it makes', async () => {
  const { execute, requests } = await open();
  for (let view = 0; view < 2; view++) expect(await execute(ANNOTATION)).toEqual({ data: { annotation: null } });
  expect(requests).toHaveLength(1);
  const write = `mutation { createAnnotation(input: { bookId: "7", content: "${NOTE}", page: 7 }) { annotation { id } } }`;
  expect((await execute(write, 'alice')).errors).toBeUndefined();
  expect(await execute(ANNOTATION)).toEqual({ data: { annotation: { content: NOTE } } });
});

test('a response with something absent is revalidated each time, also while the absence is remembered', async () => {
  const { execute } = await open();
  for (let view = 0; view < 2; view++) {
    const response = await fetch(`${execute.url}/graphql?query=${encodeURIComponent(FILM(7))}`);
    expect(response.headers.get('cache-control')).toBe('private, no-cache');
  }
});

test('what is remembered of made-up ids is bounded, and clears no whole responses', async () => {
  const records = createRecordCache({ absentTtlSeconds: 30, cache: createMemoryCache(100_000) });
  const viewer = records.forViewer({ credential: { id: 'own', isOwn: true, accepted: false } });
  const epoch = records.epoch();
  for (let id = 0; id < 2_000; id++)
    viewer.record(bookEndpoints.byId, 'Book', `made-up${id}`).putAbsent({ reuse: unspecified });
  expect(records.size().bytes).toBeLessThanOrEqual(100_000);
  expect(records.epoch()).toBe(epoch);
  expect(await viewer.record(bookEndpoints.byId, 'Book', 'made-up1999').get(['id'])).toMatchObject({ isAbsent: true });
  expect(await viewer.record(bookEndpoints.byId, 'Book', 'made-up0').get(['id'])).toBeUndefined();
});

test('a record that was absent and is there is cached, and one that is there no longer is absent', async () => {
  const viewer = createRecordCache({ absentTtlSeconds: 30 }).forViewer({
    credential: { id: 'own', isOwn: true, accepted: false },
  });
  const book = () => viewer.record(bookEndpoints.byId, 'Book', '7');
  const meta = { bytes: 10, reuse: unspecified };
  book().putAbsent(meta);
  book().putRecord({ title: 'x' }, ['title'], meta);
  expect(await book().get(['title'])).toMatchObject({ value: { title: 'x' } });
  book().putAbsent(meta);
  expect(await book().get(['title'])).toMatchObject({ value: {}, isAbsent: true });
});

test.skipIf(!hasRedis)('what is below a book that any replica knows to be absent is not requested', async () => {
  vi.useRealTimers();
  const redis = await redisServer();
  const redisUrl = redis.url;
  const { url, requests, state } = await service();
  state.isAnnotated = true; // the lists are answered with what no cache keeps
  const [one, other] = [
    await replica(url, { redisUrl, accessToken: 'own' }),
    await replica(url, { redisUrl, accessToken: 'own' }),
  ];
  const page = (book: number, token?: string) =>
    [`{ book(id: "${book}") { title annotations(first: 20) { nodes { id } } tags { name } } }`, token] as const;
  // Until both are connected; each time another book, because each remembers what it asked for itself.
  let book = 1;
  await until(async () => {
    await one(...page(++book));
    requests.length = 0;
    await other(`{ book(id: "${book}") { title } }`);

    return requests.length === 0;
  });
  await one(...page(++book));
  await until(async () => (await redis.dump()).includes(`Book:${book}`));
  requests.length = 0;
  for (const token of [undefined, 'alice'])
    for (const execute of [other, one, other])
      expect((await execute(...page(book, token))).data).toEqual({ book: null });
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(requests).toEqual([]);
  expect((await other(...page(100))).data).toMatchObject({ book: { title: 'film 100' } });
});

test.skipIf(!hasRedis)('replicas share it, and a write at one clears it for the other', async () => {
  vi.useRealTimers(); // Redis has a clock of its own
  const { url: redisUrl } = await redisServer();
  const { url, requests } = await service();
  const [one, other] = [
    await replica(url, { redisUrl, accessToken: 'own' }),
    await replica(url, { redisUrl, accessToken: 'own' }),
  ];
  // Until both are connected; each time another film, because each remembers what it asked for itself.
  let film = 1;
  await until(async () => {
    await one(FILM(++film));
    const before = requests.length;
    expect(await other(FILM(film))).toEqual({ data: { subject: null } });
    return requests.length === before;
  });
  for (const execute of [one, other]) expect(await execute(ANNOTATION)).toEqual({ data: { annotation: null } });
  const write = `mutation { createAnnotation(input: { bookId: "7", content: "${NOTE}", page: 7 }) { annotation { id } } }`;
  await one(write, 'alice');
  expect(await other(ANNOTATION)).toEqual({ data: { annotation: { content: NOTE } } });
});

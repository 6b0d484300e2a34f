import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Cacheability, unspecified } from '../../../src/upstream/cache/caching-header.ts';
import { bookEndpoints, bookMembers } from '../../../src/api/book.ts';
import { type Tier, tiers } from '../../../src/api/endpoint.ts';
import { filmEndpoints, subjectMembers } from '../../../src/api/film.ts';
import { CachePolicy } from '../../../src/upstream/cache/cache-policy.ts';
import { createRecordCache } from '../../../src/upstream/cache/record-cache.ts';
import { TierRequired } from '../../../src/upstream/errors.ts';
import type { ApiRequest } from '../../../src/api/api-request.ts';
import type { ApiResponse } from '../../../src/upstream/http/response.ts';
import type { LoadContext } from '../../../src/upstream/loading/load-context.ts';
import { RecordLoader } from '../../../src/upstream/loading/record-loader.ts';
import type { RecordSource } from '../../../src/api/record-source.ts';
import { filmTiers } from '../../../src/api/film-tiers.ts';
import { ResponseLoader } from '../../../src/upstream/loading/response-loader.ts';

const books: RecordSource = { endpoint: bookEndpoints.byId, input: (id) => ({ id }), members: bookMembers };
const reuse: Cacheability = { ...unspecified, refusal: 'no-cache' };
const fieldsOf = ({ members }: ApiRequest) => [...members!];
const idOf = ({ input }: ApiRequest) => (input as { id: string }).id;
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Loaders over an upstream that responds when the test says so. */
function setUp(ttlSeconds = 0, possible: readonly Tier[] = [], absent: readonly string[] = []) {
  const pending: { request: ApiRequest; resolve: (response: ApiResponse) => void; reject: (reason: Error) => void }[] =
    [];
  const sent: ApiRequest[] = [];
  const context: LoadContext = {
    calls: {
      send: (request) => {
        sent.push(request);
        return new Promise((resolve, reject) => pending.push({ request, resolve, reject }));
      },
      requireLogin: () => undefined,
      refuses: () => false,
      tiers: filmTiers,
      possibleTiers: () => possible,
      tierEvidence: (source, members) => filmTiers.evidence(source, members, possible),
      logCached: () => undefined,
    },
    cache: createRecordCache({ ttlSeconds }).forViewer({ credential: { id: 'nobody', isOwn: true, accepted: false } }),
    viewer: { isLoggedIn: false, filmTier: null },
    cachePolicy: new CachePolicy(false),
  };
  const valueOf = (request: ApiRequest) =>
    Object.fromEntries(
      fieldsOf(request)
        .filter((name) => !absent.includes(name))
        .map((name) => [name, name === 'id' ? idOf(request) : `${name} of it`]),
    );
  const respond = (which: (request: ApiRequest) => boolean = () => true) => {
    for (const { request, resolve } of pending.splice(0).filter((each) => which(each.request) || !pending.push(each))) {
      const response: ApiResponse = { value: valueOf(request), bytes: 10, status: 200, reuse };
      resolve(response);
    }
  };
  const fail = (reason: Error) => {
    for (const { reject } of pending.splice(0)) reject(reason);
  };
  const { cache } = context;
  return { cache, records: new RecordLoader(context), responses: new ResponseLoader(context), sent, respond, fail };
}

const load = async (records: RecordLoader, id: string, names: readonly string[]) =>
  records.load('Book', books, id, names, { id }, undefined);

test('the loads of a tick for one record are one request with the union of their fields', async () => {
  const { records, sent, respond } = setUp();
  const loads = [load(records, '7', ['title']), load(records, '7', ['author', 'pages']), load(records, '7', ['title'])];
  await turn();
  expect(sent.map(fieldsOf)).toEqual([['author', 'id', 'pages', 'title']]);
  respond();
  expect(await loads[1]).toMatchObject({ author: 'author of it', pages: 'pages of it' });
});

test('no field of a record is requested twice in an operation, whatever is loaded when', async () => {
  const names = fc.uniqueArray(fc.constantFrom('title', 'author', 'pages', 'summary', 'price'), { minLength: 1 });
  const ticks = fc.array(fc.array(fc.tuple(fc.constantFrom('1', '2'), names), { maxLength: 4 }), { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(ticks, fc.boolean(), async (tickLoads, isAnsweredLast) => {
      const { records, sent, respond } = setUp();
      const loads: Promise<void>[] = [];
      for (const tick of tickLoads) {
        const before = sent.length;
        for (const [id, fields] of tick)
          loads.push(
            load(records, id, fields).then((record) =>
              expect(record).toMatchObject(Object.fromEntries(fields.map((field) => [field, `${field} of it`]))),
            ),
          );
        await turn();
        expect(new Set(sent.slice(before).map(idOf)).size).toBe(sent.length - before);
        if (!isAnsweredLast) respond();
      }
      respond();
      await Promise.all(loads);
      const requested = sent.flatMap((request) =>
        fieldsOf(request)
          .filter((name) => name !== 'id')
          .map((name) => `${idOf(request)} ${name}`),
      );
      expect(requested).toHaveLength(new Set(requested).size);
    }),
  );
});

test('an absent member that a replica cached because it knew the tier is withheld for one that does not know it', async () => {
  const films: RecordSource = {
    endpoint: filmEndpoints.subject,
    input: (id) => ({ id }),
    members: Object.keys(subjectMembers).sort(),
  };
  const { cache, records, sent, respond } = setUp(60, tiers, ['durations', 'languages', 'pubdates']);
  const response: ApiResponse = { value: { id: '7' }, bytes: 10, status: 200, reuse: unspecified };
  cache.record(films.endpoint, 'Subject', '7').putRecord({ id: '7' }, ['id', 'pubdates'], response);
  expect(await records.wouldRequest('Subject', films, '7', ['pubdates'])).toBe('Subject:7');
  const film = records.load('Subject', films, '7', ['pubdates'], { id: '7' }, undefined);
  await turn();
  expect(sent.map(fieldsOf)).toEqual([['durations', 'id', 'languages']]);
  respond();
  const loaded = await film;
  expect(() => loaded!.pubdates).toThrow(TierRequired);
});

test('a record resolves as soon as its own response arrives, though another of its batch is still loading', async () => {
  const { records, respond } = setUp();
  const done: string[] = [];
  const loads = ['1', '2'].map((id) => load(records, id, ['title']).then(() => done.push(id)));
  await turn();
  respond((request) => idOf(request) === '2');
  await turn();
  expect(done).toEqual(['2']);
  respond();
  await Promise.all(loads);
  expect(done).toEqual(['2', '1']);
});

test('a failed request fails only its own fields, and is not repeated', async () => {
  const { records, sent, respond, fail } = setUp();
  const title = load(records, '7', ['title']);
  await turn();
  respond();
  await title;
  const both = load(records, '7', ['title', 'author']);
  await turn();
  fail(new Error('gone'));
  const record = (await both)!;
  expect(record.title).toBe('title of it');
  expect(() => record.author).toThrow('gone');
  await expect(load(records, '7', ['author'])).rejects.toThrow('gone');
  expect(sent.map(fieldsOf)).toEqual([
    ['id', 'title'],
    ['author', 'id'],
  ]);
});

test('equal requests are made once, whether they succeed or fail, until the loader is cleared', async () => {
  const { responses, sent, respond, fail } = setUp();
  const list = () => responses.load(bookEndpoints.search, { q: 'x' }, ['id'], undefined);
  const first = [list(), list()];
  await turn();
  respond();
  expect(await first[0]).toBe(await first[1]);
  expect(await list()).toBe(await first[0]);
  expect(sent).toHaveLength(1);

  responses.clear();
  const again = [list(), list()].map((each) => each.catch((error: Error) => error.message));
  await turn();
  fail(new Error('gone'));
  expect(await Promise.all(again)).toEqual(['gone', 'gone']);
  await expect(list()).rejects.toThrow('gone');
  expect(sent).toHaveLength(2);
});

test('a fresh record is there at once, without a promise, and only what it lacks would be requested', async () => {
  const { records, cache, sent } = setUp(60);
  cache.record(books.endpoint, 'Book', '7').putRecord({ id: '7', title: '活着' }, ['id', 'title'], {
    bytes: 10,
    reuse: unspecified,
  });
  const wouldRequest = (...names: string[]) => records.wouldRequest('Book', books, '7', names);
  expect(await wouldRequest('title', 'a name that only the facade has')).toBeNull();
  expect(await wouldRequest('title', 'author')).toBe('Book:7');
  expect(records.load('Book', books, '7', ['title'], { id: '7' }, undefined)).toMatchObject({ title: '活着' });
  expect(sent).toEqual([]);
});

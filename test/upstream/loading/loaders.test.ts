import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { catalogService } from '../../../src/graph/service/descriptor.ts';
import { readConfig } from '../../../src/config/read.ts';
import { bookEndpoints, bookMembers } from '../../../src/api/book.ts';
import type { RecordSource } from '../../../src/api/record-source.ts';
import { createCancellationToken } from '../../../src/lib/cancellation.ts';
import type { ViewerCache } from '../../../src/upstream/cache/handle.ts';
import { type RecordCache, createRecordCache } from '../../../src/upstream/cache/record-cache.ts';
import { createUpstream } from '../../../src/upstream/client.ts';
import { type Behaviour, type ReceivedRequest, hostile, json, until } from '../../support/hostile.ts';
import { patient } from '../../support/patient.ts';
import { afterUse } from '../../support/hooks.ts';

const books: RecordSource = { endpoint: bookEndpoints.byId, input: (id) => ({ id }) };
const broken = new Error('the cache is broken');
const breaks = () => {
  throw broken;
};

/** Two operations over one service; the cache of the first fails on every write. */
async function twoOperations(behaviour: Behaviour) {
  const service = await hostile(behaviour);
  const recordCache = createRecordCache({ ttlSeconds: 0 });
  let openedCaches = 0;
  const records: RecordCache = {
    ...recordCache,
    forViewer: (viewer): ViewerCache => {
      const cache = recordCache.forViewer(viewer);
      if (openedCaches++ > 0) return cache;
      const failing = { put: breaks, putRecord: breaks, putAbsent: breaks, delete: breaks };
      const record: ViewerCache['record'] = (...args) =>
        Object.assign(recordCache.forViewer(viewer).record(...args), failing);
      const response: ViewerCache['response'] = (...args) =>
        Object.assign(recordCache.forViewer(viewer).response(...args), failing);
      return Object.assign(cache, { record, response });
    },
  };
  const settings = { ...readConfig({}), ...patient, baseUrl: service.url, eventBaseUrl: service.url };
  const upstream = createUpstream(catalogService, settings, { records });
  const requestContext = { authorization: undefined, address: '127.0.0.1', requestId: 'test' };
  const operations = [1, 2].map(() => upstream.forOperation(requestContext, createCancellationToken()));
  return { service, operations };
}

const notFound = json('{"code":6000,"msg":"book_not_found"}', 404);
const rejected = json('{"code":1000,"msg":"need_permission"}', 403);

test.each([
  ['exists', json('{"id":"7","title":"x"}'), { title: 'x' }],
  ['is absent', notFound, null],
])(
  'a failing cache fails only its own operation, and shared responses still reach the other: the record %s',
  async (_, received, expected) => {
    const { service, operations } = await twoOperations(received);
    const results = await Promise.allSettled(
      operations.map(async (operation) =>
        operation.responses.load(bookEndpoints.byId, { id: '7' }, ['title'], undefined),
      ),
    );
    expect(service.requests).toHaveLength(1);
    expect(results[0]).toEqual({ status: 'rejected', reason: broken });
    expect(results[1]).toMatchObject({ status: 'fulfilled', value: expected });
  },
);

test('a failing cache fails only its own operation, and shared rejections still reach the other', async () => {
  const { service, operations } = await twoOperations(rejected);
  const loads = await Promise.allSettled(
    operations.map(async (operation) => operation.records.load('Book', books, '7', ['title'], { id: '7' }, undefined)),
  );
  expect(service.requests).toHaveLength(1);
  expect(loads[0]).toEqual({ status: 'rejected', reason: broken });
  expect(loads[1]).toMatchObject({ status: 'rejected', reason: { details: { status: 403 } } });
});

const requestContext = { authorization: undefined, address: '127.0.0.1', requestId: 'test' };
const wholeBooks: RecordSource = { ...books, members: bookMembers };
const titleOnly = ['title'];
const otherFields = bookMembers.filter((name) => name !== 'id' && name !== 'title');
const book = { id: '7', title: '活着', pages: '191', publisher: '作家出版社' };
const members = (request: ReceivedRequest) => new URL(request.path, 'http://x').searchParams.get('fields')?.split(',');

/** Operations that share one cache and one service. */
async function operationsOver(behaviour: Behaviour) {
  const service = await hostile(behaviour);
  const upstream = createUpstream(catalogService, {
    ...readConfig({}),
    ...patient,
    baseUrl: service.url,
    eventBaseUrl: service.url,
  });
  afterUse(() => upstream.close());
  return { service, open: () => upstream.forOperation(requestContext, createCancellationToken()) };
}

test('a response with some fields that comes after the whole record is not cached as the whole record', async () => {
  let held: (() => void) | undefined;
  const { service, open } = await operationsOver((socket: Socket, request) => {
    const fields = members(request);
    if (!fields) return json(JSON.stringify(book))(socket, request);
    const part = Object.fromEntries(Object.entries(book).filter(([name]) => fields.includes(name)));
    held = () => json(JSON.stringify(part))(socket, request);
  });
  const first = open();
  const title = first.records.load('Book', wholeBooks, '7', titleOnly, {}, undefined);
  await until(() => held !== undefined);
  await first.records.load('Book', wholeBooks, '7', otherFields, {}, undefined);
  held!();
  await title;
  const later = await open().records.load('Book', wholeBooks, '7', ['pages', 'publisher'], {}, undefined);
  expect(later).toMatchObject({ pages: '191', publisher: '作家出版社' });
  expect(service.requests).toHaveLength(2);
});

test('a response with one extra field is not taken for the whole record: the extra field is used, other fields are loaded', async () => {
  const { service, open } = await operationsOver((socket, request) => {
    const fields = [...(members(request) ?? Object.keys(book)), 'alt'];
    const record = { ...book, alt: 'http://book.example/7' };
    const part = Object.entries(record).filter(([name]) => fields.includes(name));
    json(JSON.stringify(Object.fromEntries(part)))(socket, request);
  });
  await open().records.load('Book', wholeBooks, '7', ['title'], {}, undefined);
  const operation = open();
  expect(await operation.records.load('Book', wholeBooks, '7', ['alt'], {}, undefined)).toMatchObject({
    alt: 'http://book.example/7',
  });
  expect(await operation.records.load('Book', wholeBooks, '7', ['pages'], {}, undefined)).toMatchObject({
    pages: '191',
  });
  expect(await open().records.load('Book', wholeBooks, '7', ['publisher'], {}, undefined)).toMatchObject({
    publisher: '作家出版社',
  });
  expect(service.requests.map(members)).toEqual([
    ['id', 'title'],
    ['id', 'pages'],
    ['id', 'publisher'],
  ]);
});

test('all fields of a response are cached, even if upstream ignores the requested fields', async () => {
  const { service, open } = await operationsOver(json(JSON.stringify(book)));
  await open().records.load('Book', wholeBooks, '7', ['title'], {}, undefined);
  expect(await open().records.load('Book', wholeBooks, '7', ['pages', 'publisher'], {}, undefined)).toMatchObject({
    pages: '191',
  });
  expect(service.requests).toHaveLength(1);
});

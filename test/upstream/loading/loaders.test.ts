import type { Socket } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { readConfig } from '../../../src/config/read.ts';
import { bookEndpoints, bookMembers } from '../../../src/api/book.ts';
import type { RecordSource } from '../../../src/upstream/loading/record-state.ts';
import { createCancellationToken } from '../../../src/lib/cancellation.ts';
import { type RecordCache, type ViewerCache, createRecordCache } from '../../../src/upstream/cache/record-cache.ts';
import { createUpstream } from '../../../src/upstream/client.ts';
import { type Behaviour, type Heard, hostile, json, until } from '../../support/hostile.ts';
import { patient } from '../../support/patient.ts';

const books: RecordSource = { endpoint: bookEndpoints.byId, input: (id) => ({ id }) };
const broken = new Error('the cache is broken');
const breaks = () => {
  throw broken;
};

/** Two operations over one service, of which the first has a cache that fails whenever anything came. */
async function twoOver(behaviour: Behaviour) {
  const service = await hostile(behaviour);
  const kept = createRecordCache({ ttlSeconds: 0 });
  let opened = 0;
  const records: RecordCache = {
    ...kept,
    forViewer: (partition): ViewerCache => {
      const seen = kept.forViewer(partition);
      const failing = { put: breaks, delete: breaks, putResponse: breaks, deleteResponse: breaks };
      return opened++ === 0 ? { ...seen, ...failing } : seen;
    },
  };
  const settings = { ...readConfig({}), ...patient, baseUrl: service.url, eventBaseUrl: service.url };
  const upstream = createUpstream(settings, { records });
  const asker = { authorization: undefined, address: '127.0.0.1', requestId: 'test' };
  const operations = [1, 2].map(() => upstream.forOperation(asker, createCancellationToken()));
  return { service, operations };
}

const unknown = json('{"code":6000,"msg":"book_not_found"}', 404);
const refused = json('{"code":106,"msg":"expired_token"}', 401);

test.each([
  ['came', json('{"id":"7","title":"x"}'), { title: 'x' }],
  ['is absent', unknown, null],
])('a cache that fails over an answer that %s costs nobody else theirs, and nobody the end', async (_, came, shown) => {
  const { service, operations } = await twoOver(came);
  const answers = await Promise.allSettled(
    operations.map(async (operation) => operation.list(bookEndpoints.byId, { id: '7' }, ['title'], undefined)),
  );
  expect(service.heard).toHaveLength(1);
  expect(answers[0]).toEqual({ status: 'rejected', reason: broken });
  expect(answers[1]).toMatchObject({ status: 'fulfilled', value: shown });
});

test('a cache that fails over a refusal costs nobody else theirs, and nobody the end', async () => {
  const { service, operations } = await twoOver(refused);
  const wants = await Promise.allSettled(
    operations.map(async (operation) => operation.load('Book', books, '7', ['title'], { id: '7' }, undefined)),
  );
  expect(service.heard).toHaveLength(1);
  expect(wants[0]).toEqual({ status: 'rejected', reason: broken });
  expect(wants[1]).toMatchObject({ status: 'rejected', reason: { details: { status: 401 } } });
});

const asker = { authorization: undefined, address: '127.0.0.1', requestId: 'test' };
const wholeBooks: RecordSource = { ...books, members: bookMembers };
const few = ['title'];
const many = bookMembers.filter((name) => name !== 'id' && name !== 'title');
const book = { id: '7', title: '活着', pages: '191', publisher: '作家出版社' };
const members = (heard: Heard) => new URL(heard.path, 'http://x').searchParams.get('fields')?.split(',');

/** Operations over one cache and one service. */
async function operationsOver(behaviour: Behaviour) {
  const service = await hostile(behaviour);
  const upstream = createUpstream({ ...readConfig({}), ...patient, baseUrl: service.url, eventBaseUrl: service.url });
  afterAll(() => upstream.close());
  return { service, open: () => upstream.forOperation(asker, createCancellationToken()) };
}

test('a partial answer that comes after the whole one is not kept as if it told every member', async () => {
  let held: (() => void) | undefined;
  const { service, open } = await operationsOver((socket: Socket, heard) => {
    const fields = members(heard);
    if (!fields) return json(JSON.stringify(book))(socket, heard);
    const part = Object.fromEntries(Object.entries(book).filter(([name]) => fields.includes(name)));
    held = () => json(JSON.stringify(part))(socket, heard);
  });
  const first = open();
  const title = first.load('Book', wholeBooks, '7', few, {}, undefined);
  await until(() => held !== undefined);
  await first.load('Book', wholeBooks, '7', many, {}, undefined);
  held!();
  await title;
  const later = await open().load('Book', wholeBooks, '7', ['pages', 'publisher'], {}, undefined);
  expect(later).toMatchObject({ pages: '191', publisher: '作家出版社' });
  expect(service.heard).toHaveLength(2);
});

test('one member more than was asked for does not stand for the whole record: what came is used, the rest is asked', async () => {
  const { service, open } = await operationsOver((socket, heard) => {
    const fields = [...(members(heard) ?? Object.keys(book)), 'alt'];
    const record = { ...book, alt: 'http://book.example/7' };
    const part = Object.entries(record).filter(([name]) => fields.includes(name));
    json(JSON.stringify(Object.fromEntries(part)))(socket, heard);
  });
  await open().load('Book', wholeBooks, '7', ['title'], {}, undefined);
  const operation = open();
  expect(await operation.load('Book', wholeBooks, '7', ['alt'], {}, undefined)).toMatchObject({
    alt: 'http://book.example/7',
  });
  expect(await operation.load('Book', wholeBooks, '7', ['pages'], {}, undefined)).toMatchObject({ pages: '191' });
  expect(await open().load('Book', wholeBooks, '7', ['publisher'], {}, undefined)).toMatchObject({
    publisher: '作家出版社',
  });
  expect(service.heard.map(members)).toEqual([
    ['id', 'title'],
    ['id', 'pages'],
    ['id', 'publisher'],
  ]);
});

test('an upstream that sends everything whatever is asked for is used for all that it sent', async () => {
  const { service, open } = await operationsOver(json(JSON.stringify(book)));
  await open().load('Book', wholeBooks, '7', ['title'], {}, undefined);
  expect(await open().load('Book', wholeBooks, '7', ['pages', 'publisher'], {}, undefined)).toMatchObject({
    pages: '191',
  });
  expect(service.heard).toHaveLength(1);
});

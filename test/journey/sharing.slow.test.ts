import { createServer } from 'node:http';
import { beforeAll, describe, expect, test } from 'vitest';
import { readers, termOf, writers } from '../../src/atom/media.ts';
import { type Cache, createMemoryCache } from '../../src/upstream/cache/memory.ts';
import { createRecordCache } from '../../src/upstream/cache/record-cache.ts';
import { journey } from '../support/journey.ts';
import { hasRedis, redisServer, until, waitBriefly } from '../support/redis.ts';
import { clientOf, replica } from '../support/replica.ts';
import { listen } from '../support/listen.ts';

/** The cache is off: its responses are those of the service for each client. */
let cold: Awaited<ReturnType<typeof journey>>;
beforeAll(async () => {
  cold = await journey({ recordTtlSeconds: '0' });
});

const page = `{
  subject(id: "26266893") { title summary directors { name } comments(first: 5) { nodes { content } } }
  book(id: "6082808") { title series { books(first: 5) { nodes { title } } } }
  city(id: "beijing") { events(first: 5) { nodes { title } } }
}`;

describe('reads in flight', () => {
  test('a hundred equal concurrent queries make the upstream calls of one', async () => {
    const { calls: ofOne, response } = await cold.cost(page);
    const execute = await replica(cold.proxy.url, { accessToken: 'demo-app', filmTier: 'advance' });
    cold.proxy.start({ waves: true });
    const responses = await Promise.all(Array.from({ length: 100 }, () => execute(page)));
    expect(cold.proxy.stop().length).toBe(ofOne);
    for (const each of responses) expect(each).toEqual(response);
  });

  test('clients with different tokens share no upstream calls', async () => {
    const tokens = ['demo-alice', 'demo-bob'];
    cold.proxy.start({ waves: true });
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        cold.execute('{ book(id: "6082808") { viewerCollection { status } } }', { token: tokens[n % 2]! }),
      ),
    );
    expect(cold.proxy.stop().length).toBe(2);
  });

  test('a shared upstream call continues while one client waits, and is cancelled with the last', async () => {
    const slow = await controlledService();
    const execute = await replica(slow.url);
    const document = '{ book(id: "6082808") { title } }';
    const [first, second] = [new AbortController(), new AbortController()];
    const running = (count: number) =>
      until(async () => {
        const metrics = await (await fetch(`${execute.url}/metrics`)).text();
        return metrics.includes(`\ncatalog_operations_running ${count}\n`);
      });
    const cancelled = [first, second].map(({ signal }) => execute(document, undefined, signal).catch(() => 'gone'));
    await until(() => slow.open === 1);
    await running(2);
    first.abort();
    await cancelled[0];
    await running(1);
    expect(slow).toMatchObject({ documentsToRun: 1, open: 1 });
    const third = execute(document);
    await running(2);
    second.abort();
    slow.answer('{"id":"6082808","title":"百年孤独"}');
    expect((await third).data).toEqual({ book: { title: '百年孤独' } });
    expect(slow.documentsToRun).toBe(1);

    const last = new AbortController();
    const lastRequest = execute('{ book(id: "1") { title } }', undefined, last.signal).catch(() => 'gone');
    await until(() => slow.documentsToRun === 2);
    last.abort();
    await lastRequest;
    await until(() => slow.open === 0);
  });
});

/** A service whose responses the test controls. */
async function controlledService() {
  const service = { url: '', documentsToRun: 0, open: 0, answer: (_: string) => undefined as void };
  const server = createServer((_, response) => {
    service.documentsToRun++;
    service.open++;
    response.once('close', () => service.open--);
    service.answer = (body) => void response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  });
  service.url = await listen(server);
  return service;
}

const MARK = '只有我知道';
const books = ['6082808', '26340138'];

/** Everything that a user may keep private, marked with the user's name. */
async function writePrivately(person: 'alice' | 'bob'): Promise<string> {
  const { origin } = cold;
  const mark = `${MARK} ${person}`;
  for (const id of books) {
    await origin.delete(`/v2/book/${id}/collection`, person);
    await origin.post(`/v2/book/${id}/collection`, person, {
      status: 'read',
      comment: mark,
      tags: `${person}的`,
      privacy: 'private',
    });
    const text = `${mark}，`.repeat(5);
    expect(
      (await origin.post(`/v2/book/${id}/annotations`, person, { content: text, page: '3', privacy: 'private' }))
        .status,
    ).toBe(201);
  }
  expect((await origin.post('/v2/notes', person, { title: mark, content: mark, privacy: 'private' })).status).toBe(201);
  const at = (hours: number) => `${new Date(Date.now() + hours * 3_600_000).toISOString().slice(0, 19)}+00:00`;
  const event = await origin.post(
    '/events',
    person,
    writers.eventDraft({
      title: '聚会',
      term: termOf('party'),
      content: `${'很长的介绍。'.repeat(60)}${mark}`,
      startTime: at(24),
      endTime: at(26),
      where: '屋顶',
    }),
  );
  return readers.event(event.text).id;
}

async function documents(): Promise<string[]> {
  const events = [await writePrivately('alice'), await writePrivately('bob')];
  const people = ['alice', 'bob'];
  return [
    ...books.flatMap((id) => [
      `{ book(id: "${id}") { title viewerCollection { status comment tagNames } } }`,
      `{ book(id: "${id}") { title authors pages } }`,
      `{ book(id: "${id}") { title annotations(first: 20, order: NEWEST) { nodes { content abstract privacyLevel author { name } } } } }`,
      `{ book(id: "${id}") {
        isbn10 isbn13 title subtitle originalTitle alternativeTitle authors translators publisher publishedOn binding price pages summary authorIntro
        cover { large } webUrl tags { name } series { id } rating { average } tableOfContents ebook { price } viewerCollection { comment }
      } }`,
    ]),
    '{ searchBooks(query: "的", first: 10) { nodes { title viewerCollection { status } } } }',
    '{ searchBooks(query: "的", first: 10) { nodes { title authors } } }',
    ...people.flatMap((id) => [
      `{ user(id: "${id}") { bookCollections(first: 10) { nodes { comment status book { title viewerCollection { status } } } } } }`,
      `{ user(id: "${id}") { annotations(first: 10) { nodes { content book { title } } } bookTags { nodes { name count } } } }`,
      `{ user(id: "${id}") { notes(first: 5) { nodes { title content } } } }`,
      `{ user(id: "${id}") { events(relation: INITIATED, first: 5) { nodes { title content viewerRelation } } } }`,
    ]),
    ...events.map(
      (id) => `{ event(id: "${id}") { title content viewerRelation participants(first: 3) { nodes { name } } } }`,
    ),
    '{ searchEvents(query: "聚会", first: 5) { nodes { title content viewerRelation } } }',
    '{ subject(id: "26266893") { title summary languages } }',
    '{ subject(id: "26266893") { title comments(first: 3) { nodes { content } } } }',
    '{ celebrity(id: "1000525") { name summary } }',
    '{ top250(first: 5) { nodes { title } } }',
  ];
}
describe('a hundred interleaved queries of two users and an anonymous client', () => {
  const clients = [
    { name: 'alice', token: 'demo-alice' },
    { name: 'bob', token: 'demo-bob' },
    { name: 'nobody', token: undefined },
  ];

  let all: { query: string; name: string; token: string | undefined }[];
  /** The response of the service to each query of each client. */
  const expected = new Map<string, unknown>();
  beforeAll(async () => {
    const own = clientOf(cold.facade.url);
    all = (await documents()).flatMap((query) => clients.map((client) => ({ query, ...client })));
    for (const { query, name, token } of all) expected.set(`${name} ${query}`, await own(query, token));
  });

  /** Each query of each client, twice, in mixed order. */
  async function interleaved(facades: ReturnType<typeof clientOf>[]) {
    const twice = [...all, ...all]
      .map((each, n) => ({ each, at: (n * 37) % (2 * all.length) }))
      .sort((a, b) => a.at - b.at);
    expect(twice.length).toBeGreaterThan(100);
    const texts: Record<string, string> = { alice: '', bob: '', anonymous: '' };
    for (let n = 0; n < twice.length; n += 4) {
      await Promise.all(
        twice.slice(n, n + 4).map(async ({ each: { query, name, token } }, offset) => {
          const answer = await facades[(n + offset) % facades.length]!(query, token);
          expect({ name, query, answer }).toEqual({ name, query, answer: expected.get(`${name} ${query}`) });
          texts[name] += JSON.stringify(answer);
        }),
      );
    }
    expect(texts.alice).toContain(`${MARK} alice`);
    expect(texts.bob).toContain(`${MARK} bob`);
    expect(texts.alice).not.toContain(`${MARK} bob`);
    expect(texts.bob).not.toContain(`${MARK} alice`);
    expect(texts.nobody).not.toContain(MARK);
  }

  test('have the service’s responses to each client, and leave nothing private in the memory cache', async () => {
    const entries: string[] = [];
    const memory = createMemoryCache(10_000_000);
    const recording: Cache = {
      ...memory,
      set(place, mark, entry) {
        entries.push(`${JSON.stringify(place)} ${JSON.stringify(entry)}`);
        memory.set(place, mark, entry);
      },
    };
    const settings = { accessToken: 'demo-app', filmTier: 'advance' };
    await interleaved([await replica(cold.proxy.url, settings, { records: createRecordCache({ cache: recording }) })]);
    expect(entries.length).toBeGreaterThan(20);
    for (const entry of entries) expect(entry).not.toMatch(/demo-|只有我知道|current_user_collection/);
  });

  test.skipIf(!hasRedis)('have the same through two facades, and leave nothing private in Redis', async () => {
    const server = await redisServer();
    const settings = { accessToken: 'demo-app', filmTier: 'advance', redisUrl: server.url };
    const facades = [await replica(cold.proxy.url, settings), await replica(cold.proxy.url, settings)];
    await until(async () => {
      await facades[0]!('{ book(id: "6082808") { title } }');
      return (await server.dump()).includes('Book:6082808');
    });
    await interleaved(facades);
    const dump = await server.dump();
    expect(dump.split('\n').length).toBeGreaterThan(20);
    expect(dump).not.toMatch(/demo-|只有我知道|current_user_collection/);
  });
});

test('a cursor of one facade works at another', async () => {
  const settings = { accessToken: 'demo-app', filmTier: 'advance' };
  const facades = [await replica(cold.proxy.url, settings), await replica(cold.proxy.url, settings)];
  const pageOf = async (execute: (typeof facades)[number], first: number, after: string | null) => {
    const list = `annotations(first: ${first}, after: ${JSON.stringify(after)})`;
    const { data } = await execute(`{ book(id: "6082808") { ${list} { nodes { id } pageInfo { endCursor } } } }`);
    return data.book.annotations as { nodes: unknown[]; pageInfo: { endCursor: string } };
  };
  const found: unknown[] = [];
  for (let after: string | null = null; found.length < 20;) {
    const { nodes, pageInfo } = await pageOf(facades[found.length % 8 ? 1 : 0]!, 4, after);
    found.push(...nodes);
    after = pageInfo.endCursor;
  }
  expect(found).toEqual((await pageOf(facades[0]!, 20, null)).nodes);
});

test.skipIf(!hasRedis)('queries are answered while Redis stops, restarts and hangs', async () => {
  waitBriefly();
  const server = await redisServer();
  const execute = await replica(cold.proxy.url, { accessToken: 'demo-app', filmTier: 'advance', redisUrl: server.url });
  const answer = await execute(page);
  await until(async () => {
    expect(await execute(page)).toEqual(answer);
    return (await server.dump()).includes('Book:6082808');
  });
  await server.stop();
  for (let more = 0; more < 5; more++) expect(await execute(page)).toEqual(answer);
  await server.start();
  await until(async () => {
    expect(await execute(page)).toEqual(answer);
    return (await server.dump()).includes('Book:6082808');
  });
  server.freeze(); // unresponsive: waiting would never end
  for (let more = 0; more < 5; more++) expect(await execute(page)).toEqual(answer);
  server.thaw();
});

import { describe, expect, test } from 'vitest';
import type { GraphQLResponse } from '../support/facade.ts';
import { journey } from '../support/journey.ts';
import { patientEnv } from '../support/patient.ts';
import { startProgram } from '../support/program.ts';
import { hasRedis, redisServer, until } from '../support/redis.ts';
import { clientOf, replica } from '../support/replica.ts';

/** The limit of the basic tier per minute, and the share of one address. */
const LIMIT = 40;
const SHARE = LIMIT / 2;

type Ask = (query: string, token?: string) => Promise<GraphQLResponse>;

/** Distinct film queries. */
const distinct = (count: number, from = 0) =>
  Array.from({ length: count }, (_, n) => `{ searchSubjects(query: "storm ${from + n}") { nodes { title } } }`);

/** Runs the queries, `atOnce` at a time, and counts those that were not rejected. */
async function runAll(execute: Ask, queries: string[], token?: string, atOnce = queries.length) {
  const responses: GraphQLResponse[] = [];
  for (let n = 0; n < queries.length; n += atOnce)
    responses.push(...(await Promise.all(queries.slice(n, n + atOnce).map((query) => execute(query, token)))));
  const rejected = responses.filter(({ errors }) => errors);
  for (const { errors } of rejected) {
    expect(errors).toMatchObject([{ extensions: { code: 'RATE_LIMITED' } }]);
    const { retryAfter } = errors![0]!.extensions as { retryAfter: number };
    expect(retryAfter).toBeGreaterThanOrEqual(1);
    expect(retryAfter).toBeLessThanOrEqual(60);
  }
  return { answered: responses.length - rejected.length, responses };
}

/** A service of its own, whose rate limit is unused, and its call log. */
async function setUp() {
  const { proxy } = await journey();
  return {
    url: proxy.url,
    /** Counts the calls during `work`, and those with status 429. */
    countCalls: async <T>(work: () => Promise<T>): Promise<T & { passed: number; rejected: number }> => {
      proxy.start();
      const result = await work();
      const passed = proxy.stop();
      return { ...result, passed: passed.length, rejected: passed.filter(({ status }) => status === 429).length };
    },
  };
}

describe('many distinct film queries at once', () => {
  test('without a token they cause no 429: half of the limit is used for one address, the rest is rejected', async () => {
    const { url, countCalls } = await setUp();
    const execute = await replica(url);
    const queries = distinct(100);
    expect(await countCalls(() => runAll(execute, queries))).toMatchObject({
      answered: SHARE,
      passed: SHARE,
      rejected: 0,
    });
    // The successful ones are cached.
    expect(await countCalls(() => runAll(execute, queries))).toMatchObject({ answered: SHARE, passed: 0 });
    // Books are not limited.
    expect((await execute('{ book(id: "6082808") { title } }')).errors).toBeUndefined();
  });

  test('with a basic token of the facade they cause no 429', async () => {
    const { url, countCalls } = await setUp();
    const execute = await replica(url, { accessToken: 'demo-bob', filmTier: 'basic' });
    expect(await countCalls(() => runAll(execute, distinct(100)))).toMatchObject({ answered: SHARE, rejected: 0 });
  });

  test('with a client’s token of unknown tier they cause no 429', async () => {
    const { url, countCalls } = await setUp();
    const execute = await replica(url);
    expect(await countCalls(() => runAll(execute, distinct(100), 'demo-bob'))).toMatchObject({
      answered: LIMIT,
      rejected: 0,
    });
    const { data } = await execute('{ viewer { rateBudget { limit remaining resetsAt } } }', 'demo-bob');
    expect(data.viewer.rateBudget).toMatchObject({ limit: LIMIT, remaining: 0 });
    const resets = Date.parse(data.viewer.rateBudget.resetsAt as string) - Date.now();
    expect(resets).toBeGreaterThan(0);
    expect(resets).toBeLessThanOrEqual(61_000); // in whole seconds
    expect(data.viewer.rateBudget.resetsAt).toMatch(/^[\d-]{10}T[\d:]{8}Z$/);
  });

  test('films by id show early that a token is not limited', async () => {
    const { url, countCalls } = await setUp();
    const execute = await replica(url);
    const { data } = await execute('{ top250(first: 100) { nodes { sourceId } } }', 'demo-alice');
    const ids = (data.top250.nodes as { sourceId: string }[]).map(({ sourceId }) => sourceId);
    expect(ids.length).toBeGreaterThan(60);
    const queries = ids.map((id) => `{ subject(id: "${id}") { title } }`);
    expect(await countCalls(() => runAll(execute, queries, 'demo-alice'))).toMatchObject({
      answered: ids.length,
      rejected: 0,
    });
    expect((await execute('{ viewer { rateBudget { limit } } }', 'demo-alice')).data.viewer.rateBudget).toBeNull();
  });

  test('a page with a basic token makes as many calls as planned, and each film beyond the limit has an error', async () => {
    const { url, countCalls } = await setUp();
    const execute = await replica(url);
    const page = (offset: number) =>
      execute(`{ top250(first: 25, offset: ${offset}) { nodes { title summary } } }`, 'demo-bob');
    expect(await countCalls(() => page(0))).toMatchObject({ passed: 26, rejected: 0 });
    const second = await countCalls(() => page(25));
    expect(second).toMatchObject({ passed: 14, rejected: 0 });
    expect(second.data.top250.nodes.length).toBe(25);
    expect(second.data.top250.nodes.filter(({ summary }: { summary: string | null }) => summary).length).toBe(13);
    for (const { extensions } of second.errors!) expect(extensions.code).toBe('RATE_LIMITED');
  });
});

describe('the tier of a client’s token is learned', () => {
  const tierOf = async (execute: Ask, token: string) =>
    (await execute('{ viewer { filmTier } }', token)).data.viewer.filmTier as unknown;

  test('from responses and rejections: demo-alice, demo-bob, demo-carol', async () => {
    const { url } = await setUp();
    const execute = await replica(url);
    const people = '{ celebrity(id: "1000525") { name } }';
    const talk = '{ subject(id: "26266893") { comments(first: 1) { nodes { content } } } }';
    for (const token of ['demo-alice', 'demo-bob', 'demo-carol']) {
      expect(await tierOf(execute, token)).toBeNull();
      for (const query of [people, talk]) await execute(query, token);
    }
    expect(await tierOf(execute, 'demo-alice')).toBe('ADVANCE');
    expect(await tierOf(execute, 'demo-bob')).toBe('BASIC');
    expect(await tierOf(execute, 'demo-carol')).toBe('PREMIUM');
  });

  test('and a rejected endpoint is not called again with the token for a while', async () => {
    const { url, countCalls } = await setUp();
    const execute = await replica(url);
    const weekly = () => execute('{ weeklyChart { title } }', 'demo-bob');
    expect(await countCalls(weekly)).toMatchObject({ passed: 1, errors: [{ extensions: { code: 'TIER_REQUIRED' } }] });
    expect(await countCalls(weekly)).toMatchObject({ passed: 0, errors: [{ extensions: { code: 'TIER_REQUIRED' } }] });
    expect(await countCalls(() => execute('{ weeklyChart { title } }', 'demo-alice'))).toMatchObject({
      passed: 1,
      data: { weeklyChart: {} },
    });
    expect(await countCalls(() => execute('{ newMovies { title } }', 'demo-bob'))).toMatchObject({ passed: 1 });
  });
});
describe.skipIf(!hasRedis)('two facades on one Redis', () => {
  // A Redis that times out once is not used for a while, and each facade counts alone: hence few
  // queries at once, and a retry.
  test('share one rate limit, as separate processes', { retry: 2 }, async () => {
    const { url, countCalls } = await setUp();
    const redis = await redisServer();
    const env = {
      ...patientEnv,
      BASE_URL: url,
      EVENT_BASE_URL: url,
      REDIS_URL: redis.url,
      ACCESS_TOKEN: 'demo-bob',
      FILM_TIER: 'basic',
      PORT: '0',
    };
    const programs = await Promise.all([startProgram(env), startProgram(env)]);
    try {
      const facades = programs.map((program) => clientOf(program.url));
      // Each is connected when the book that was requested from it alone is in Redis.
      for (const [n, id] of ['6082808', '26340138'].entries())
        await until(async () => {
          await facades[n]!(`{ book(id: "${id}") { title } }`);
          return (await redis.dump()).includes(`Book:${id}`);
        });
      const bob = await countCalls(async () => {
        const [one, two] = await Promise.all(
          facades.map((execute, n) => runAll(execute, distinct(60, n * 60), 'demo-bob', 4)),
        );
        return { answered: one!.answered + two!.answered };
      });
      expect(bob).toEqual({ answered: LIMIT, passed: LIMIT, rejected: 0 });
      const remaining = await Promise.all(
        facades.map((execute) => execute('{ viewer { rateBudget { remaining } } }', 'demo-bob')),
      );
      for (const { data } of remaining) expect(data.viewer.rateBudget.remaining).toBe(0);
    } finally {
      await Promise.all(programs.map((program) => program.stop()));
    }
  });

  test('count separately while Redis is unreachable, and together again afterwards', async () => {
    const { url, countCalls } = await setUp();
    const redis = await redisServer();
    const settings = { redisUrl: redis.url, accessToken: 'demo-app', filmTier: 'advance' };
    const facades = [await replica(url, settings), await replica(url, settings)];
    await until(
      async () => (await facades[0]!('{ book(id: "6082808") { title } }'), (await redis.dump()).includes('Book:')),
    );
    await redis.stop();
    expect(await countCalls(() => runAll(facades[0]!, distinct(25), 'demo-bob'))).toMatchObject({
      answered: 25,
      rejected: 0,
    });
    await redis.start();
    await until(
      async () => (await facades[0]!('{ book(id: "26356948") { title } }'), (await redis.dump()).includes('Book:')),
    );
    expect(await countCalls(() => runAll(facades[0]!, distinct(25, 25), 'demo-bob'))).toMatchObject({
      answered: 15,
      rejected: 0,
    });
  });
});

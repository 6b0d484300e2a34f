import { describe, expect, test } from 'vitest';
import type { Shown } from '../support/facade.ts';
import { journey } from '../support/journey.ts';
import { patientEnv } from '../support/patient.ts';
import { startProgram } from '../support/program.ts';
import { hasRedis, redisServer, until, withoutRedis } from '../support/redis.ts';
import { asking, replica } from '../support/replica.ts';

/** The basic tier's calls a minute, and what one address may have of them. */
const LIMIT = 40;
const SHARE = LIMIT / 2;

type Ask = (query: string, token?: string) => Promise<Shown>;

/** Questions about films of which no two are the same. */
const distinct = (count: number, from = 0) =>
  Array.from({ length: count }, (_, n) => `{ searchSubjects(query: "storm ${from + n}") { nodes { title } } }`);

/** What came of questions that were asked so many at once: all of them, unless it is said. */
async function storm(ask: Ask, queries: string[], token?: string, atOnce = queries.length) {
  const answers: Shown[] = [];
  for (let n = 0; n < queries.length; n += atOnce)
    answers.push(...(await Promise.all(queries.slice(n, n + atOnce).map((query) => ask(query, token)))));
  const refused = answers.filter(({ errors }) => errors);
  for (const { errors } of refused) {
    expect(errors).toMatchObject([{ extensions: { code: 'RATE_LIMITED' } }]);
    const { retryAfter } = errors![0]!.extensions as { retryAfter: number };
    expect(retryAfter).toBeGreaterThanOrEqual(1);
    expect(retryAfter).toBeLessThanOrEqual(60);
  }
  return { answered: answers.length - refused.length, answers };
}

/** A service of the test's own, whose rate is untouched, and what it was asked. */
async function world() {
  const { proxy } = await journey();
  return {
    url: proxy.url,
    /** The statuses of the calls that were made meanwhile. */
    watch: async <T>(work: () => Promise<T>): Promise<T & { passed: number; rejected: number }> => {
      proxy.start();
      const result = await work();
      const passed = proxy.stop();
      return { ...result, passed: passed.length, rejected: passed.filter(({ status }) => status === 429).length };
    },
  };
}

describe('a storm of distinct film questions', () => {
  test('never draws a 429 from a service without a token: half the calls for one address, the rest refused', async () => {
    const { url, watch } = await world();
    const ask = await replica(url);
    const queries = distinct(100);
    expect(await watch(() => storm(ask, queries))).toMatchObject({ answered: SHARE, passed: SHARE, rejected: 0 });
    // What was answered is kept, and answered again.
    expect(await watch(() => storm(ask, queries))).toMatchObject({ answered: SHARE, passed: 0 });
    // Books are not films.
    expect((await ask('{ book(id: "6082808") { title } }')).errors).toBeUndefined();
  });

  test('nor with a token of the facade’s own that is said to be basic', async () => {
    const { url, watch } = await world();
    const ask = await replica(url, { accessToken: 'demo-bob', filmTier: 'basic' });
    expect(await watch(() => storm(ask, distinct(100)))).toMatchObject({ answered: SHARE, rejected: 0 });
  });

  test('nor with a caller’s token whose tier nobody has said', async () => {
    const { url, watch } = await world();
    const ask = await replica(url);
    expect(await watch(() => storm(ask, distinct(100), 'demo-bob'))).toMatchObject({ answered: LIMIT, rejected: 0 });
    const { data } = await ask('{ viewer { rateBudget { limit remaining resetsAt } } }', 'demo-bob');
    expect(data.viewer.rateBudget).toMatchObject({ limit: LIMIT, remaining: 0 });
    const resets = Date.parse(data.viewer.rateBudget.resetsAt as string) - Date.now();
    expect(resets).toBeGreaterThan(0);
    expect(resets).toBeLessThanOrEqual(60_000);
  });

  test('films by id tell soon that a token has no limit, whatever is asked of them', async () => {
    const { url, watch } = await world();
    const ask = await replica(url);
    const { data } = await ask('{ top250(first: 100) { nodes { sourceId } } }', 'demo-alice');
    const ids = (data.top250.nodes as { sourceId: string }[]).map(({ sourceId }) => sourceId);
    expect(ids.length).toBeGreaterThan(60);
    const queries = ids.map((id) => `{ subject(id: "${id}") { title } }`);
    expect(await watch(() => storm(ask, queries, 'demo-alice'))).toMatchObject({ answered: ids.length, rejected: 0 });
    expect((await ask('{ viewer { rateBudget { limit } } }', 'demo-alice')).data.viewer.rateBudget).toBeNull();
  });

  test('a page of a basic token costs what it says, and what is beyond is told for each of its films', async () => {
    const { url, watch } = await world();
    const ask = await replica(url);
    const page = (offset: number) =>
      ask(`{ top250(first: 25, offset: ${offset}) { nodes { title summary } } }`, 'demo-bob');
    expect(await watch(() => page(0))).toMatchObject({ passed: 26, rejected: 0 });
    const second = await watch(() => page(25));
    expect(second).toMatchObject({ passed: 14, rejected: 0 });
    expect(second.data.top250.nodes.length).toBe(25);
    expect(second.data.top250.nodes.filter(({ summary }: { summary: string | null }) => summary).length).toBe(13);
    for (const { extensions } of second.errors!) expect(extensions.code).toBe('RATE_LIMITED');
  });
});

describe('the tier of a caller’s token is learned', () => {
  const tierOf = async (ask: Ask, token: string) =>
    (await ask('{ viewer { filmTier } }', token)).data.viewer.filmTier as unknown;

  test('from what came and what was refused: demo-alice, demo-bob, demo-carol', async () => {
    const { url } = await world();
    const ask = await replica(url);
    const people = '{ celebrity(id: "1000525") { name } }';
    const talk = '{ subject(id: "26266893") { comments(first: 1) { nodes { content } } } }';
    for (const token of ['demo-alice', 'demo-bob', 'demo-carol']) {
      expect(await tierOf(ask, token)).toBeNull();
      for (const query of [people, talk]) await ask(query, token);
    }
    expect(await tierOf(ask, 'demo-alice')).toBe('ADVANCE');
    expect(await tierOf(ask, 'demo-bob')).toBe('BASIC');
    expect(await tierOf(ask, 'demo-carol')).toBe('PREMIUM');
  });

  test('a refusal is remembered for its token and its endpoint, and asked no more for a while', async () => {
    const { url, watch } = await world();
    const ask = await replica(url);
    const weekly = () => ask('{ weeklyChart { title } }', 'demo-bob');
    expect(await watch(weekly)).toMatchObject({ passed: 1, errors: [{ extensions: { code: 'TIER_REQUIRED' } }] });
    expect(await watch(weekly)).toMatchObject({ passed: 0, errors: [{ extensions: { code: 'TIER_REQUIRED' } }] });
    expect(await watch(() => ask('{ weeklyChart { title } }', 'demo-alice'))).toMatchObject({
      passed: 1,
      data: { weeklyChart: {} },
    });
    expect(await watch(() => ask('{ newMovies { title } }', 'demo-bob'))).toMatchObject({ passed: 1 });
  });
});

test.skipIf(hasRedis)(withoutRedis, () => undefined);

describe.skipIf(!hasRedis)('two facades on one Redis', () => {
  // A Redis that is late once is not waited for, and each counts alone: so few questions at once, and another try.
  test('share one budget, as processes of their own', { retry: 2 }, async () => {
    const { url, watch } = await world();
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
      const facades = programs.map((program) => asking(program.url));
      // Each has found Redis once a book that only it was asked for is there.
      for (const [n, id] of ['6082808', '26340138'].entries())
        await until(async () => {
          await facades[n]!(`{ book(id: "${id}") { title } }`);
          return (await redis.dump()).includes(`Book:${id}`);
        });
      const bob = await watch(async () => {
        const [one, two] = await Promise.all(facades.map((ask, n) => storm(ask, distinct(60, n * 60), 'demo-bob', 4)));
        return { answered: one!.answered + two!.answered };
      });
      expect(bob).toEqual({ answered: LIMIT, passed: LIMIT, rejected: 0 });
      const left = await Promise.all(facades.map((ask) => ask('{ viewer { rateBudget { remaining } } }', 'demo-bob')));
      for (const { data } of left) expect(data.viewer.rateBudget.remaining).toBe(0);
    } finally {
      await Promise.all(programs.map((program) => program.stop()));
    }
  });

  test('count for themselves while Redis is away, and together again when it is back', async () => {
    const { url, watch } = await world();
    const redis = await redisServer();
    const settings = { redisUrl: redis.url, accessToken: 'demo-app', filmTier: 'advance' };
    const facades = [await replica(url, settings), await replica(url, settings)];
    await until(
      async () => (await facades[0]!('{ book(id: "6082808") { title } }'), (await redis.dump()).includes('Book:')),
    );
    await redis.stop();
    expect(await watch(() => storm(facades[0]!, distinct(25), 'demo-bob'))).toMatchObject({
      answered: 25,
      rejected: 0,
    });
    await redis.start();
    await until(
      async () => (await facades[0]!('{ book(id: "26356948") { title } }'), (await redis.dump()).includes('Book:')),
    );
    expect(await watch(() => storm(facades[0]!, distinct(25, 25), 'demo-bob'))).toMatchObject({
      answered: 15,
      rejected: 0,
    });
  });
});

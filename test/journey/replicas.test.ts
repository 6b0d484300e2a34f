import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { roundRobin } from '../support/balancer.ts';
import type { GraphQLResponse } from '../support/facade.ts';
import { journey } from '../support/journey.ts';
import { patientEnv } from '../support/patient.ts';
import { type Program, startProgram } from '../support/program.ts';
import { hasRedis, redisServer, until } from '../support/redis.ts';
import { clientOf } from '../support/replica.ts';
import { afterUse } from '../support/hooks.ts';
/**
 * Two processes and one Redis behind an address that sends each request to the other process.
 * A Redis that times out once is not used for a while: then a test is retried, on new facades.
 */
describe.skipIf(!hasRedis)('two facades behind a round robin', { retry: 2 }, () => {
  const programs: Program[] = [];
  let setup: Awaited<ReturnType<typeof journey>>;
  let balancer: Awaited<ReturnType<typeof roundRobin>>;
  let execute: ReturnType<typeof clientOf>;

  beforeAll(open);
  beforeEach(({ task }) => (task.result?.retryCount ? open() : undefined));
  afterUse(() => Promise.all(programs.map((program) => program.stop())));

  async function open(): Promise<void> {
    const redis = await redisServer();
    setup = await journey();
    const { url } = setup.proxy;
    const settings = { PORT: '0', REDIS_URL: redis.url, ACCESS_TOKEN: 'demo-app' };
    const env = { ...patientEnv, ...settings, BASE_URL: url, EVENT_BASE_URL: url };
    const pair = await Promise.all([startProgram(env), startProgram(env)]);
    programs.push(...pair);
    balancer = await roundRobin(pair.map((program) => program.url));
    execute = clientOf(balancer.url);
    // Each is connected to Redis when records of the other make no calls.
    await until(async () => {
      setup.proxy.start();
      for (const program of pair) await clientOf(program.url)('{ book(id: "26356948") { title } }');
      return setup.proxy.stop().length === 0;
    });
  }

  /** The upstream calls during `work`. */
  async function passed(work: () => Promise<unknown>): Promise<string[]> {
    setup.proxy.start();
    await work();
    return setup.proxy.stop().map(({ line }) => line);
  }

  test('records read by one are cached for the other', async () => {
    const page = '{ book(id: "6082808") { title series { title } } subject(id: "1292052") { title } }';
    const before = [...balancer.served];
    let first: unknown;
    expect((await passed(async () => (first = await execute(page)))).length).toBeGreaterThan(0);
    // It is in Redis a moment after the response, and Redis may time out.
    const again = () => passed(async () => expect(await execute(page)).toEqual(first));
    await until(async () => [...(await again()), ...(await again())].length === 0);
    // The last two requests went to one each.
    for (const [place, count] of before.entries()) expect(balancer.served[place]).toBeGreaterThan(count);
  });

  test('share the forty film calls per minute of a basic token', async () => {
    const queries = Array.from({ length: 60 }, (_, n) => `{ searchSubjects(query: "robin ${n}") { nodes { title } } }`);
    setup.proxy.start();
    // Few at once, so that Redis does not time out.
    const responses: GraphQLResponse[] = [];
    for (let n = 0; n < queries.length; n += 4)
      responses.push(...(await Promise.all(queries.slice(n, n + 4).map((query) => execute(query, 'demo-bob')))));
    const calls = setup.proxy.stop();
    expect(calls).toHaveLength(40);
    expect(calls.filter(({ status }) => status === 429)).toEqual([]);
    const codes = responses.flatMap(({ errors }) => errors?.map(({ extensions }) => extensions.code) ?? []);
    expect(codes).toEqual(Array.from({ length: 20 }, () => 'RATE_LIMITED'));
    for (let place = 0; place < 2; place++) {
      const { data } = await execute('{ viewer { rateBudget { remaining } } }', 'demo-bob');
      expect(data.viewer.rateBudget.remaining).toBe(0);
    }
  });

  test('a cursor of one works at the other', async () => {
    const all = await execute('{ book(id: "6082808") { annotations(first: 20) { nodes { id } } } }', 'demo-alice');
    const expected = (all.data.book.annotations.nodes as { id: string }[]).map(({ id }) => id);
    const found: string[] = [];
    let after: string | null = null;
    do {
      const { data } = await execute(
        `{ book(id: "6082808") { annotations(first: 4, after: ${JSON.stringify(after)}) { nodes { id } pageInfo { endCursor } } } }`,
        'demo-alice',
      );
      found.push(...(data.book.annotations.nodes as { id: string }[]).map(({ id }) => id));
      after = data.book.annotations.pageInfo.endCursor as string;
    } while (found.length < 20);
    expect(found).toEqual(expected);
  });

  test('after a write on one the other shows the new state at once, to the author and to everybody', async () => {
    const mine = '{ book(id: "26340138") { viewerCollection { comment } } }';
    const shelf = '{ user(id: "1000001") { bookCollections(first: 5) { nodes { comment book { sourceId } } } } }';
    for (const comment of ['the first', 'the second', 'the third']) {
      // Both have it in the cache now. The user is requested by the id that the response of a write contains.
      for (let place = 0; place < 2; place++) await Promise.all([execute(mine, 'demo-alice'), execute(shelf)]);
      const written = await execute(
        `mutation { collectBook(input: { bookId: "26340138", status: READ, comment: "${comment}", onConflict: UPDATE, isPrivate: false }) { collection { comment } } }`,
        'demo-alice',
      );
      expect(written.errors).toBeUndefined();
      for (let place = 0; place < 2; place++) {
        const { data } = await execute(mine, 'demo-alice');
        expect(data.book.viewerCollection).toEqual({ comment });
      }
      for (let place = 0; place < 2; place++) {
        const { data } = await execute(shelf);
        expect(data.user.bookCollections.nodes).toContainEqual({ comment, book: { sourceId: '26340138' } });
      }
    }
  });
});

/** Whole responses are served again where replicas write too: the log of their invalidations is asked for before each. */
import { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { hostile, json } from '../../support/hostile.ts';
import { hasRedis, redisServer, until, waitBriefly } from '../../support/redis.ts';
import { replica } from '../../support/replica.ts';
const page = '{ user(id: "alice") { bookCollections(first: 1) { nodes { comment } } } }';
const write = 'mutation { collectBook(input: { bookId: "7", status: READ }) { created } }';

describe.skipIf(!hasRedis)('with Redis', () => {
  test('a response is served whole again until any replica has written, and never after that', async () => {
    const { facades, show, hits } = await fleet();
    const [one, two] = facades;
    for (let round = 0; round < 5; round++) {
      const now = await show(one!);
      await until(async () => {
        const before = await hits(one!);
        expect(await show(one!)).toBe(now);
        return (await hits(one!)) > before;
      });
      await two!(write, 'bob');
      const before = await hits(one!);
      expect(Number(await show(one!))).toBe(Number(now) + 1);
      expect(await hits(one!)).toBe(before);
    }
  });

  test('none is served whole while Redis does not answer, is away, or refuses', async () => {
    waitBriefly();
    const { facades, show, hits, redis } = await fleet();
    const [one] = facades;
    await until(async () => {
      await show(one!);
      return (await hits(one!)) > 0;
    });
    const admin = new Redis(redis.url);
    admin.on('error', () => undefined);
    const none = async () => {
      const before = await hits(one!);
      for (let reads = 0; reads < 3; reads++) await show(one!);
      expect(await hits(one!)).toBe(before);
    };
    const again = async () => {
      const before = await hits(one!);
      await until(async () => {
        await show(one!);
        return (await hits(one!)) > before;
      });
    };
    redis.freeze();
    await none();
    redis.thaw();
    await again();
    await admin.call('ACL', 'SETUSER', 'default', '-evalsha', '-eval');
    await none();
    await admin.call('ACL', 'SETUSER', 'default', '+@all');
    await again();
    await redis.stop();
    await none();
    await redis.start();
    await again();
    admin.disconnect();
  });
});

/** Two facades over a service whose list shows the number of writes so far. */
async function fleet() {
  const redis = await redisServer();
  let version = 0;
  const { url } = await hostile((socket, request) => {
    if (request.method === 'GET' && request.path.includes('/collections'))
      return json(collectionsOf(version))(socket, request);
    if (request.method === 'GET') return json('{"id":"1","uid":"alice"}')(socket, request);
    version++;
    return json('{"id":1,"book_id":"7","status":"read"}', 201)(socket, request);
  });
  const facades = [await replica(url, { redisUrl: redis.url }), await replica(url, { redisUrl: redis.url })];
  type Facade = (typeof facades)[number];
  return {
    redis,
    facades,
    show: async (facade: Facade): Promise<unknown> => {
      const { data, errors } = await facade(page);
      expect(errors).toBeUndefined();
      return data.user.bookCollections.nodes[0].comment;
    },
    /** Responses that were served whole again. */
    hits: async ({ url }: Facade) =>
      Number(/^catalog_response_cache_hits_total (\d+)/m.exec(await (await fetch(`${url}/metrics`)).text())![1]),
  };
}

const collectionsOf = (version: number) =>
  JSON.stringify({
    start: 0,
    count: 1,
    total: 1,
    collections: [{ id: 1, book_id: '7', user_id: '1', status: 'read', comment: String(version) }],
  });

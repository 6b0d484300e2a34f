import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { catalogService } from '../../../src/graph/service/descriptor.ts';
import { bookEndpoints } from '../../../src/api/book.ts';
import type { Endpoint } from '../../../src/api/endpoint.ts';
import { eventEndpoints } from '../../../src/api/event.ts';
import { filmEndpoints } from '../../../src/api/film.ts';
import { readConfig } from '../../../src/config/read.ts';
import { createCancellationToken } from '../../../src/lib/cancellation.ts';
import { createRecordCache } from '../../../src/upstream/cache/record-cache.ts';
import { type UpstreamParts, createUpstream } from '../../../src/upstream/client.ts';
import { type Behaviour, hostile, json } from '../../support/hostile.ts';
import { hasRedis, redisServer, until } from '../../support/redis.ts';
import { afterUse } from '../../support/hooks.ts';

const rejected = json('{"code":103,"msg":"invalid_access_token","request":"GET /"}', 401);

/** A service that rejects every token but that of alice, until she is revoked. `others`: what it does with those. */
async function open(settings: NodeJS.ProcessEnv = {}, parts: UpstreamParts = {}, others: Behaviour = rejected) {
  const state = { isRevoked: false };
  const service = await hostile((socket, request) => {
    const id = /(\d+)(?:\?|$)/.exec(request.path)?.[1] ?? '';
    const isKnown = request.headers.authorization === 'Bearer alice' && !state.isRevoked;
    const isOfCatalog = request.path.startsWith('/v2/');
    const behaviour = isKnown && isOfCatalog ? json(JSON.stringify({ id, title: 'x' })) : others;
    return behaviour(socket, request);
  });
  const { url } = service;
  const upstream = createUpstream(catalogService, { ...readConfig(settings), baseUrl: url, eventBaseUrl: url }, parts);
  afterUse(() => upstream.close());
  const read = (token: string, id = '7', endpoint: Endpoint = filmEndpoints.subject) => {
    const sender = { authorization: `Bearer ${token}`, address: '', requestId: 'x' };
    const source = { endpoint, input: (key: string) => ({ id: key }) };
    const session = upstream.forOperation(sender, createCancellationToken());
    return Promise.resolve(session.records.load('Subject', source, id, ['title'], {}, undefined));
  };
  return { state, read };
}

test('a token that the service never accepted invalidates nothing, and one that it no longer accepts loses what it read', async () => {
  const records = createRecordCache();
  const invalidated: string[] = [];
  const { state, read } = await open(
    {},
    {
      records: {
        ...records,
        invalidateCredential(...given) {
          invalidated.push(given[0]);
          return records.invalidateCredential(...given);
        },
      },
    },
  );
  for (let n = 0; n < 20; n++) await expect(read(`made up ${n}`.replaceAll(' ', '-'))).rejects.toThrow();
  expect(invalidated).toEqual([]);
  expect(await read('alice')).toMatchObject({ title: 'x' });
  state.isRevoked = true;
  expect(await read('alice')).toMatchObject({ title: 'x' });
  await expect(read('alice', '8')).rejects.toThrow();
  expect(invalidated).toHaveLength(1);
  await expect(read('alice')).rejects.toThrow();
  for (let n = 0; n < 3; n++) await expect(read('alice', '9')).rejects.toThrow();
  expect(invalidated).toHaveLength(1);
});

test('a token that one service rejects loses what it read from the other when that one no longer accepts it', async () => {
  const { state, read } = await open();
  expect(await read('alice')).toMatchObject({ title: 'x' });
  await expect(read('alice', '1', eventEndpoints.byId)).rejects.toThrow();
  expect(await read('alice')).toMatchObject({ title: 'x' });
  state.isRevoked = true;
  await expect(read('alice', '8')).rejects.toThrow();
  await expect(read('alice')).rejects.toThrow();
});

test('a 429 of a gateway does not make a token one that may pause the calls of others', async () => {
  const gateway: Behaviour = (socket, request) =>
    request.path.includes('/movie/')
      ? json('{}', 429)(socket, request)
      : json('{}', 503, { 'retry-after': '30' })(socket, request);
  const { read } = await open({}, {}, gateway);
  expect(await read('alice')).toMatchObject({ title: 'x' });
  await expect(read('made-up')).rejects.toThrow();
  await expect(read('made-up', '7', bookEndpoints.byId)).rejects.toThrow();
  expect(await read('alice', '8')).toMatchObject({ title: 'x' });
});

test.skipIf(!hasRedis)(
  'a token that the service never accepted leaves nothing in Redis but counters of a minute',
  async () => {
    const { url } = await redisServer();
    const redis = new Redis(url);
    afterUse(() => redis.disconnect());
    const { read } = await open({ REDIS_URL: url });
    let film = 100;
    await until(async () => {
      await read('alice', String(++film)).catch(() => undefined);
      return (await redis.keys('*')).some((key) => key.includes(':entry:'));
    });
    // What alice read last may be on its way.
    await until(async () => (await redis.keys('*')).some((key) => key.includes(`Subject:${film}`)));
    const before = await redis.keys('*');
    for (let n = 0; n < 20; n++) await expect(read(`made-up-${n}`)).rejects.toThrow();
    await new Promise((resolve) => setTimeout(resolve, 100));
    for (const added of (await redis.keys('*')).filter((key) => !before.includes(key))) {
      expect(added).toContain(':counter:');
      expect(await redis.pttl(added)).toBeLessThanOrEqual(60_000);
    }
  },
);

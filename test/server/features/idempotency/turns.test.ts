import { randomUUID } from 'node:crypto';
import { type ServerResponse, createServer } from 'node:http';
import { expect, test } from 'vitest';
import { keyedClient } from '../../../support/keyed-client.ts';
import { listen } from '../../../support/listen.ts';
import { hasRedis, redisServer, until } from '../../../support/redis.ts';
import { replica } from '../../../support/replica.ts';
/** A service whose responses to likes of a note are held until they are released. */
async function holdingService() {
  const held: ServerResponse[] = [];
  const running = new Map<string, number>();
  const overlaps = new Map<string, number>();
  const send = (response: ServerResponse, body: object) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const url = await listen(
    createServer(({ method, url: path = '' }, response) => {
      const [, id = ''] = /^\/v2\/note\/(\d+)/.exec(path) ?? [];
      if (method === 'GET') return void send(response, { id, title: 't', content: 'c' });
      const now = (running.get(id) ?? 0) + 1;
      running.set(id, now);
      overlaps.set(id, Math.max(overlaps.get(id) ?? 0, now));
      response.once('finish', () => running.set(id, running.get(id)! - 1));
      if (id === '1' || id === '2') held.push(response);
      else send(response, {});
    }),
  );
  return {
    url,
    held,
    /** The most writes to a note at once. */
    overlapAt: (id: string) => overlaps.get(id) ?? 0,
    release: () => {
      for (const response of held.splice(0)) send(response, {});
    },
  };
}

const like = (id: string) => JSON.stringify({ query: `mutation { likeNote(input: { id: "${id}" }) { note { id } } }` });

test.skipIf(!hasRedis)(
  'writes with two keys to one thing over two replicas are sent one after the other, those to other things at once',
  async () => {
    const [redis, service] = await Promise.all([redisServer(), holdingService()]);
    const clients = await Promise.all(
      [0, 1].map(async () => keyedClient((await replica(service.url, { redisUrl: redis.url })).url)),
    );
    // Both replicas are connected to Redis.
    for (const send of clients) await until(async () => (await send(like('3'), randomUUID())).status === 200);

    const [one, two] = clients as [(typeof clients)[0], (typeof clients)[0]];
    const first = one(like('1'), randomUUID());
    await until(() => service.held.length === 1);
    const second = two(like('1'), randomUUID());
    // The second has its place in the queue, unless it was sent.
    await until(async () => service.held.length > 1 || /"places":\[\{[^\]]*\},\{/.test(await redis.dump()));
    expect(service.held).toHaveLength(1);
    const other = two(like('2'), randomUUID());
    await until(() => service.held.length === 2);

    service.release();
    expect((await first).code).toBeUndefined();
    await until(() => service.held.length === 1);
    service.release();
    for (const { status, code, isReplayed } of await Promise.all([second, other]))
      expect([status, code, isReplayed]).toEqual([200, undefined, false]);
    expect(service.overlapAt('1')).toBe(1);
  },
);

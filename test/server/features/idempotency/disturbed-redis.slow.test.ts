/** Writes with keys at two processes, while the Redis between them is disturbed and clients send again what failed. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { keyedClient } from '../../../support/keyed-client.ts';
import { atOnce, lateService } from '../../../support/late-service.ts';
import { startRedis, redisCluster } from '../../../support/redis-process.ts';
import { hasRedis } from '../../../support/redis.ts';
import { replica } from '../../../support/replica.ts';
import { tcpRelay } from '../../../support/tcp-relay.ts';
const WRITES = 30;
/** What a client waits before it sends again. */
const AGAIN_MS = 200;

describe.skipIf(!hasRedis)(
  'of writes that clients repeat until they succeed none is made twice and none is lost',
  () => {
    test('over a connection to Redis that becomes half-open', async () => {
      const { port } = await startRedis();
      const relays = await Promise.all([tcpRelay(port), tcpRelay(port)]);
      const { made, arrived } = await writeAll(relays.map((relay) => `redis://127.0.0.1:${relay.port}`));
      await sleep(50);
      relays[0].goSilent();
      expect(await made).toEqual(Array(WRITES).fill(200));
      expect([...arrived.values()]).toEqual(Array(WRITES).fill(1));
      // The other process may have made all writes that were left before the silence is noticed.
      await expect.poll(() => relays[0].connections()).toBeGreaterThan(1);
    });

    test('while the slot of their keys is moved, and moved back', async () => {
      const { url, nodes } = await redisCluster();
      const { made, arrived } = await writeAll([url, url]);
      const admins = nodes.map(({ port }) => new Redis(port, '127.0.0.1'));
      for (let moves = 0; moves < 2; moves++) await moveSlot(admins);
      expect(await made).toEqual(Array(WRITES).fill(200));
      expect([...arrived.values()]).toEqual(Array(WRITES).fill(1));
      for (const each of admins) each.disconnect();
    });
  },
);

/** Begins the writes, one after another; each is sent to one process, and after a failure to the other. */
async function writeAll(redisUrls: readonly string[]) {
  const arrived = new Map<string, number>();
  const service = await lateService((write) => {
    arrived.set(write.content, (arrived.get(write.content) ?? 0) + 1);
    atOnce(write);
  });
  const sends: ReturnType<typeof keyedClient>[] = [];
  for (const redisUrl of redisUrls) sends.push(keyedClient((await replica(service.url, { redisUrl })).url));
  async function write(at: number): Promise<number> {
    const [key, body] = [randomUUID(), bodyOf(`comment ${at}`, String(at + 1))];
    await sleep(40 * at);
    for (let attempt = 0; ; attempt++) {
      const { status, code } = await sends[(at + attempt) % sends.length]!(body, key);
      if (code === undefined || attempt > 100) return status;
      await sleep(AGAIN_MS);
    }
  }
  const made = Promise.all(Array.from({ length: WRITES }, (_, at) => write(at)));
  return { made, arrived };
}

const bodyOf = (content: string, noteId: string) =>
  JSON.stringify({
    query: `mutation ($noteId: ID!, $content: String!) { createNoteComment(input: { noteId: $noteId, content: $content }) { comment { content } } }`,
    variables: { noteId, content },
  });

/** Moves the slot that has keys to another node, which takes a while. */
async function moveSlot(admins: readonly Redis[]): Promise<void> {
  for (;;) {
    for (const from of admins) {
      const [key] = await from.keys('*');
      if (key !== undefined) return move(admins, from, Number(await from.cluster('KEYSLOT', key)));
    }
    await sleep(20);
  }
}

async function move(admins: readonly Redis[], from: Redis, slot: number): Promise<void> {
  const to = admins[(admins.indexOf(from) + 1) % admins.length]!;
  const target = (await to.call('CLUSTER', 'MYID')) as string;
  await to.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', (await from.call('CLUSTER', 'MYID')) as string);
  await from.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', target);
  await sleep(300);
  for (;;) {
    const keys = (await from.call('CLUSTER', 'GETKEYSINSLOT', slot, 100)) as string[];
    if (keys.length === 0) break;
    await from.call('MIGRATE', '127.0.0.1', to.options.port!, '', 0, 5_000, 'KEYS', ...keys);
  }
  for (const each of [to, ...admins]) await each.call('CLUSTER', 'SETSLOT', slot, 'NODE', target);
}

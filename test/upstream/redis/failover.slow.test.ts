/** Several processes under load while the primary of their Redis is killed and a replica takes its place. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { catalogService } from '../../../src/graph/service/descriptor.ts';
import { bookEndpoints } from '../../../src/api/book.ts';
import { readConfig } from '../../../src/config/read.ts';
import { createCancellationToken } from '../../../src/lib/cancellation.ts';
import { createUpstream } from '../../../src/upstream/client.ts';
import { hostile, json } from '../../support/hostile.ts';
import { patient } from '../../support/patient.ts';
import { type RedisProcess, hasSentinel, redisCluster, redisSentinel } from '../../support/redis-process.ts';
import { hasRedis, until } from '../../support/redis.ts';
import { afterUse } from '../../support/hooks.ts';
const PROCESSES = 3;
const READERS = 36;
const USERS = ['alice', 'bob'];
const READ_MS = 10;

const forms: [name: string, open: () => Promise<{ url: string; nodes: RedisProcess[] }>][] = [
  ['a cluster', () => redisCluster(1)],
];
if (hasSentinel)
  forms.push([
    'Sentinels',
    async () => {
      const { url, primary, replica } = await redisSentinel();
      return { url, nodes: [primary, replica] };
    },
  ]);

describe.skipIf(!hasRedis).each(forms)('in a failover of %s', (_, open) => {
  test('nobody is shown the state before a write that was noted, and equal reads stay shared', async () => {
    const { url, nodes } = await open();
    const service = await versionedService();
    const settings = { ...readConfig({}), ...patient, baseUrl: service.url, eventBaseUrl: service.url, redisUrl: url };
    const processes = Array.from({ length: PROCESSES }, () => createUpstream(catalogService, settings));
    afterUse(() => Promise.all(processes.map((each) => each.close())));
    const begin = (at: number, authorization?: string) =>
      processes[at % PROCESSES]!.forOperation(
        { authorization, address: '127.0.0.1', requestId: 'test' },
        createCancellationToken(),
      );

    /** The latest version whose write was answered, and noted in Redis. */
    let noted = 0;
    let notedWrites = 0;
    let writes = 0;
    let lagging = 0;
    const write = async () => {
      const session = begin(writes++, 'Bearer alice');
      await session.write(bookEndpoints.collect, { id: '7', status: 'read' }, undefined);
      const version = service.version();
      await session.invalidate([bookEndpoints.collections.path]);
      if (session.replicasMayLag) {
        lagging++;
        return false;
      }
      notedWrites++;
      noted = Math.max(noted, version);
      return true;
    };
    let reads = 0;
    const shownTooOld: string[] = [];
    const read = async (at: number) => {
      const least = noted;
      const list = begin(at).responses.load(
        bookEndpoints.collections,
        { name: USERS[at % 2]! },
        ['comment'],
        undefined,
      );
      const { collections } = (await list) as { collections: { comment: string }[] };
      reads++;
      if (Number(collections[0]!.comment) < least) shownTooOld.push(`${collections[0]!.comment} after ${least}`);
    };

    await until(async () => (await write()) && (await write()) && (await write()));
    let isOver = false;
    let isPaused = false;
    const load = Array.from({ length: READERS }, async (_, at) => {
      for (let next = at; !isOver; next += 1 + at) {
        await read(next);
        await sleep(1);
      }
    });
    let isWriting = false;
    const writer = (async () => {
      for (; !isOver; await sleep(20)) {
        isWriting = !isPaused;
        if (isWriting) await write();
        isWriting = false;
      }
    })();

    isPaused = true;
    await until(() => !isWriting);
    await killPrimary(nodes);
    isPaused = false;
    await until(() => lagging > 0);
    const before = notedWrites;
    await until(() => notedWrites > before + 5);
    isOver = true;
    await Promise.all([...load, writer]);

    expect(shownTooOld).toEqual([]);
    expect(service.calls()).toBeLessThan(reads / 2);
    for (const each of processes) await until(() => each.redis?.()?.unsent === 0);
  });
});

/** The one that has the keys; its replica has all of them then. */
async function killPrimary(nodes: readonly RedisProcess[]): Promise<void> {
  for (const node of nodes) {
    const admin = new Redis(node.port, '127.0.0.1');
    const [epoch] = await admin.keys('*:epoch');
    const isPrimary = (await admin.info('replication')).includes('role:master');
    if (isPrimary && epoch !== undefined) {
      await admin.set(`${epoch}:last`, '');
      await until(async () => (await admin.call('WAIT', '1', '1000')) === 1);
      node.kill();
    }
    admin.disconnect();
  }
}

/** A list of each user with the number of writes so far, as it was when the request came. */
async function versionedService() {
  let version = 0;
  let calls = 0;
  const { url } = await hostile((socket, request) => {
    if (request.method !== 'GET') {
      version++;
      return json('{"id":1,"book_id":"7","status":"read"}', 201)(socket, request);
    }
    calls++;
    const reply = json(JSON.stringify({ collections: [{ comment: String(version) }] }));
    setTimeout(() => reply(socket, request), READ_MS);
  });
  return { url, version: () => version, calls: () => calls };
}

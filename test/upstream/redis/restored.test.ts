/** Processes whose Redis comes back in an older state: from a snapshot, or as a replica that lagged behind. */
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { catalogService } from '../../../src/graph/service/descriptor.ts';
import { bookEndpoints } from '../../../src/api/book.ts';
import { readConfig } from '../../../src/config/read.ts';
import { createCancellationToken } from '../../../src/lib/cancellation.ts';
import { createUpstream } from '../../../src/upstream/client.ts';
import { hostile, json } from '../../support/hostile.ts';
import { patient } from '../../support/patient.ts';
import { startRedis } from '../../support/redis-process.ts';
import { hasRedis, until } from '../../support/redis.ts';
import { afterUse } from '../../support/hooks.ts';
describe.skipIf(!hasRedis)('after an acknowledged write', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
  afterEach(() => void vi.useRealTimers());

  const orders: [first: string, order: [number, number]][] = [
    ['the process that wrote', [0, 1]],
    ['a process that has asked for nothing since the snapshot', [1, 0]],
  ];
  test.each(orders)('a Redis that was restored shows nobody the state before: %s reads first', async (_, order) => {
    const { write, read, port, areConnected } = await processes(2);
    for (const at of [0, 1]) expect(await read(at)).toBe('0');
    const old = await snapshot(port);
    await write(0);
    expect(await read(0)).toBe('1');
    await old.restart(areConnected);
    for (const at of order) expect(await read(at)).toBe('1');
  });

  test.each([
    ['of the process that wrote', 0],
    ['of another process', 1],
  ])('a read %s that began before it stores nothing that anybody gets', async (_, reader) => {
    const { write, read, holdReads } = await processes(2);
    const held = holdReads();
    const old = read(reader);
    await until(() => held.count() === 1);
    await write(0);
    held.release();
    expect(await old).toBe('0');
    for (const at of [1 - reader, reader]) expect(await read(at)).toBe('1');
  });
});

/** Processes over one Redis, and a service with a list that shows the number of writes so far. */
async function processes(count: number) {
  const { port } = await startRedis();
  let version = 0;
  let held: (() => unknown)[] | undefined;
  const { url } = await hostile((socket, request) => {
    if (request.method === 'GET') {
      const respond = json(collectionsOf(String(version)));
      return held ? held.push(() => respond(socket, request)) : respond(socket, request);
    }
    version++;
    return json('{"id":1,"book_id":"7","status":"read"}', 201)(socket, request);
  });
  const settings = { ...readConfig({}), ...patient, baseUrl: url, eventBaseUrl: url };
  const all = Array.from({ length: count }, () =>
    createUpstream(catalogService, { ...settings, redisUrl: `redis://127.0.0.1:${port}` }),
  );
  afterUse(() => Promise.all(all.map((each) => each.close())));
  const begin = (at: number, authorization?: string) =>
    all[at]!.forOperation({ authorization, address: '127.0.0.1', requestId: 'test' }, createCancellationToken());
  const areConnected = (expected: boolean) =>
    until(() => all.every((each) => each.redis?.()?.isReachable === expected));
  await areConnected(true);
  return {
    port,
    /** Waits until all have a connection, or none has. */
    areConnected,
    /** From now on the service reads at once, and responds when it is released. */
    holdReads: () => {
      const all: (() => unknown)[] = (held = []);
      const release = () => {
        held = undefined;
        for (const respond of all) respond();
      };
      return { count: () => all.length, release };
    },
    /** A minute ago when it returns. The write of another list than that of `alice` clears nothing that is read here. */
    write: async (at: number, person = 'alice') => {
      const session = begin(at, `Bearer ${person}`);
      await session.write(bookEndpoints.collect, { id: '7', status: 'read' }, undefined);
      await session.invalidate([`/v2/book/user/${person}/collections`]);
      expect(session.replicasMayLag).toBe(false);
      vi.advanceTimersByTime(61_000);
    },
    read: async (at: number): Promise<string> => {
      const list = begin(at).responses.load(bookEndpoints.collections, { name: 'alice' }, ['comment'], undefined);
      const { collections } = (await list) as { collections: { comment: string }[] };
      return collections[0]!.comment;
    },
  };
}

const collectionsOf = (comment: string) => JSON.stringify({ collections: [{ comment }] });

/** The present state of a Redis. */
async function snapshot(port: number) {
  const admin = new Redis(port, '127.0.0.1');
  await until(async () => (await admin.keys('*:entry:*')).length > 0);
  await admin.save();
  const [, directory] = (await admin.config('GET', 'dir')) as [string, string];
  admin.disconnect();
  return {
    /** As another server on the same port, until the processes are connected to it. Clients of other tests may be too. */
    async restart(areConnected: (expected: boolean) => Promise<void>): Promise<void> {
      const old = new Redis(port, '127.0.0.1', { retryStrategy: null });
      old.on('error', () => undefined);
      await old.shutdown('NOSAVE').catch(() => undefined);
      await areConnected(false);
      await startRedis(['--dir', directory], { port });
      await areConnected(true);
    },
  };
}

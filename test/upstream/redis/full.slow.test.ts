/** Processes over a Redis that is really full, under each policy of eviction. */
import { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
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
const MAX_MEMORY = '4mb';
/** All together are more than that. */
const BOOKS = 300;
const SUMMARY = 'x'.repeat(60_000);
const PROCESSES = [0, 1, 2];
/** Spreads the books over the rounds, the same in each run. */
const PRIME = 7_919;

describe.skipIf(!hasRedis)('a Redis that is full', () => {
  test.each(['volatile-lfu', 'volatile-lru', 'volatile-ttl', 'allkeys-random', 'allkeys-lru', 'noeviction'])(
    'under %s never lets the value before a write be served, and no operation fails because of it',
    async (policy) => {
      const { read, write, admin } = await open(policy);
      const versions = Array.from({ length: BOOKS }, () => 0);
      for (let round = 0; round < 2 * BOOKS; round++) {
        const book = (round * PRIME) % BOOKS;
        const at = round % PROCESSES.length;
        expect(await read(at, book), `book ${book} at process ${at}, round ${round}`).toBe(versions[book]);
        if (round % 4 > 0) continue;
        // One that others have read long ago.
        const written = (round * PRIME + BOOKS / 2) % BOOKS;
        versions[written]!++;
        expect(await write(at, written, versions[written]!)).toBe(true);
        for (const reader of PROCESSES)
          expect(await read(reader, written), `book ${written} after its write`).toBe(versions[written]);
      }
      const info = await admin.info();
      // Where nothing is evicted, the caches stop before it is full, and keys of writes have the rest.
      if (policy === 'noeviction') {
        const used = Number(/used_memory:(\d+)/.exec(info)![1]) / (4 * 2 ** 20);
        expect(used).toBeGreaterThan(0.5);
        expect(used).toBeLessThan(0.8);
      } else expect(Number(/evicted_keys:(\d+)/.exec(info)![1])).toBeGreaterThan(50);
    },
  );
});

/** A service with books whose titles are numbers, and processes over it and over a Redis. */
async function open(policy: string) {
  const { port } = await startRedis(['--maxmemory', MAX_MEMORY, '--maxmemory-policy', policy]);
  const titles = new Map<string, string>();
  const { url } = await hostile((socket, request) => {
    const id = /book\/(\d+)/.exec(request.path)![1]!;
    json(JSON.stringify({ id, title: titles.get(id) ?? '0', summary: SUMMARY }))(socket, request);
  });
  const settings = { ...readConfig({}), ...patient, baseUrl: url, eventBaseUrl: url };
  const all = PROCESSES.map(() =>
    createUpstream(catalogService, { ...settings, redisUrl: `redis://127.0.0.1:${port}` }),
  );
  const admin = new Redis(port, '127.0.0.1');
  afterUse(() => (admin.disconnect(), Promise.all(all.map((each) => each.close()))));
  for (const each of all) await until(() => each.redis?.()?.isReachable === true);
  const begin = (at: number) =>
    all[at]!.forOperation(
      { authorization: undefined, address: '127.0.0.1', requestId: 'test' },
      createCancellationToken(),
    );
  const source = { endpoint: bookEndpoints.byId, input: (id: string) => ({ id }) };
  return {
    admin,
    read: async (at: number, book: number): Promise<number> => {
      const id = String(book);
      const record = await begin(at).records.load('Book', source, id, ['summary', 'title'], {}, undefined);
      return Number(record!.title);
    },
    /** False if other processes may not know of it. */
    write: async (at: number, book: number, title: number): Promise<boolean> => {
      titles.set(String(book), String(title));
      const session = begin(at);
      await session.invalidate([`Book:${book}`]);
      return !session.replicasMayLag;
    },
  };
}

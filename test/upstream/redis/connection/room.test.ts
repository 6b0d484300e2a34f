/** A Redis that evicts nothing keeps room for what must not be refused. */
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { listen } from '../../../support/listen.ts';
import { hasRedis, until } from '../../../support/redis.ts';
import { startRedis } from '../../../support/redis-process.ts';
import { replica } from '../../../support/replica.ts';
test.skipIf(!hasRedis)('reads of more than a Redis holds that evicts nothing do not fill it', async () => {
  const most = 6_000_000;
  const redis = await startRedis(['--maxmemory', String(most), '--maxmemory-policy', 'noeviction']);
  const client = new Redis(redis.port, '127.0.0.1');
  const service = createServer((request, response) => {
    const id = /book\/(\d+)/.exec(request.url!)![1];
    const summary = randomBytes(20_000).toString('hex');
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id, summary }));
  });
  const read = await replica(await listen(service), { redisUrl: `redis://127.0.0.1:${redis.port}` });
  const numberOf = async (name: string) =>
    Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(await client.info())?.[1] ?? 0);
  await until(async () => {
    await read('{ book(id: "1") { summary } }');
    return (await client.dbsize()) > 0;
  });
  for (let at = 100; at < 400; at += 10) {
    const books = Array.from({ length: 10 }, (_, next) => `b${next}: book(id: "${at + next}") { summary }`);
    const { data } = await read(`{ ${books.join(' ')} }`);
    expect(data.b9.summary).toHaveLength(40_000);
  }
  expect(await numberOf('used_memory')).toBeGreaterThan(most / 2);
  expect(await client.set('a key', 'x'.repeat(100_000))).toBe('OK');
  expect(await client.info('errorstats')).not.toContain('errorstat_OOM');
  client.disconnect();
});

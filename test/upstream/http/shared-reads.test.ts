/** Reads that are in flight during a write: a read that starts after the write shares none of them. */
import { afterAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../../src/config/read.ts';
import { bookEndpoints } from '../../../src/api/book.ts';
import { noteEndpoints } from '../../../src/api/note.ts';
import { createCancellationToken } from '../../../src/lib/cancellation.ts';
import type { UpstreamSession } from '../../../src/upstream/upstream-session.ts';
import { createUpstream } from '../../../src/upstream/client.ts';
import { hostile, json, until } from '../../support/hostile.ts';
import { patient } from '../../support/patient.ts';
import { hasRedis, redisServer, until as untilSo, withoutRedis } from '../../support/redis.ts';

const shelf = (comment: string) => json(JSON.stringify({ collections: [{ comment }] }));
const note = (title: string) => json(JSON.stringify({ id: '1', title }));
const alice = 'Bearer alice';

test.skipIf(hasRedis)(withoutRedis, () => undefined);

const deployments: [name: string, replicas: number][] = [['one process', 1]];
if (hasRedis) deployments.push(['two replicas over Redis', 2]);

describe.each(deployments)('in %s', (_, replicas) => {
  /** A service that holds its responses back, and the processes that call it. */
  async function open() {
    const held: { path: string; response: (comment: string) => void }[] = [];
    const service = await hostile((socket, request) => {
      if (request.method !== 'GET') return json('{"id":1,"book_id":"7","status":"read"}', 201)(socket, request);
      if (request.path === '/v2/book/26') return json('{"id":"26"}')(socket, request);
      const reply = request.path.includes('/note/') ? note : shelf;
      held.push({ path: request.path, response: (comment) => reply(comment)(socket, request) });
    });
    const redisUrl = replicas > 1 ? (await redisServer()).url : undefined;
    const settings = { ...readConfig({}), ...patient, baseUrl: service.url, eventBaseUrl: service.url, redisUrl };
    const processes = Array.from({ length: replicas }, () => createUpstream(settings));
    afterAll(() => Promise.all(processes.map((each) => each.close())));
    const requestContext = (authorization?: string) => ({ authorization, address: '127.0.0.1', requestId: 'test' });
    const reading = (authorization?: string) =>
      processes.at(-1)!.forOperation(requestContext(authorization), createCancellationToken());
    const write = async () => {
      const operation = processes[0]!.forOperation(requestContext(alice), createCancellationToken());
      await operation.write(bookEndpoints.collect, { id: '7', status: 'read' }, undefined);
      await operation.invalidate([bookEndpoints.collections.path, 'Note:1']);
    };
    // Redis is connected as soon as a record read by one process is served to the other from the cache.
    if (redisUrl)
      await untilSo(async () => {
        const operations = processes.map((each) => each.forOperation(requestContext(), createCancellationToken()));
        for (const operation of operations)
          await operation.records.load(
            'Book',
            { endpoint: bookEndpoints.byId, input: (id) => ({ id }) },
            '26',
            ['x'],
            {},
            undefined,
          );
        return operations.at(-1)!.callLog.calls[0]!.cached === true;
      });
    return { service, held, reading, write };
  }
  const shelfOf = (operation: UpstreamSession) =>
    Promise.resolve(operation.responses.load(bookEndpoints.collections, { name: 'alice' }, ['comment'], undefined));
  const noteOf = (operation: UpstreamSession) =>
    Promise.resolve(operation.responses.load(noteEndpoints.byId, { id: '1' }, ['title'], undefined));

  test('a public list is requested again after a write, and the old response is not cached', async () => {
    const { held, reading, write } = await open();
    const before = shelfOf(reading());
    await until(() => held.length === 1);
    await write();
    const after = shelfOf(reading());
    await until(() => held.length === 2);
    held[0]!.response('old');
    expect(await before).toEqual({ collections: [{ comment: 'old' }] });
    held[1]!.response('new');
    expect(await after).toEqual({ collections: [{ comment: 'new' }] });
    const later = shelfOf(reading());
    await Promise.race([later, until(() => held.length === 3)]);
    held[2]?.response('new');
    expect(await later).toEqual({ collections: [{ comment: 'new' }] });
  });

  test('a private record is requested again after a write', async () => {
    const { held, reading, write } = await open();
    const before = noteOf(reading(alice));
    await until(() => held.length === 1);
    await write();
    const after = noteOf(reading(alice));
    await until(() => held.length === 2);
    for (const [nth, { response }] of held.entries()) response(nth ? 'new' : 'old');
    expect(await before).toMatchObject({ title: 'old' });
    expect(await after).toMatchObject({ title: 'new' });
  });

  test('without a write, concurrent reads of a public list share one request', async () => {
    const { held, reading } = await open();
    const both = [shelfOf(reading()), shelfOf(reading())];
    await until(() => held.length === 1);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(held).toHaveLength(1);
    held[0]!.response('x');
    for (const each of await Promise.all(both)) expect(each).toEqual({ collections: [{ comment: 'x' }] });
  });
});

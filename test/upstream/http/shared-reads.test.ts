/** Reads that are in flight during a write: a read that starts after the write shares none of them. */
import { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { catalogService } from '../../../src/graph/service/descriptor.ts';
import type { Config } from '../../../src/config/settings.ts';
import { readConfig } from '../../../src/config/read.ts';
import { bookEndpoints } from '../../../src/api/book.ts';
import { noteEndpoints } from '../../../src/api/note.ts';
import { createCancellationToken } from '../../../src/lib/cancellation.ts';
import type { UpstreamSession } from '../../../src/upstream/upstream-session.ts';
import { createUpstream } from '../../../src/upstream/client.ts';
import { hostile, json, until } from '../../support/hostile.ts';
import { patient } from '../../support/patient.ts';
import { hasRedis, redisServer, until as untilSo } from '../../support/redis.ts';
import { afterUse } from '../../support/hooks.ts';

const shelf = (comment: string, headers = {}) => json(JSON.stringify({ collections: [{ comment }] }), 200, headers);
const note = (title: string) => json(JSON.stringify({ id: '1', title }));
const alice = 'Bearer alice';
const deployments: [name: string, replicas: number][] = [['one process', 1]];
if (hasRedis) deployments.push(['two replicas over Redis', 2]);

describe.each(deployments)('in %s', (_, replicas) => {
  /** A service that holds its responses back, and the processes that call it. */
  async function open(headers: Record<string, string> = {}, more: Partial<Config> = {}) {
    const held: { path: string; response: (comment: string) => void }[] = [];
    const service = await hostile((socket, request) => {
      if (request.method !== 'GET') return json('{"id":1,"book_id":"7","status":"read"}', 201)(socket, request);
      const reply = request.path.includes('/note/') ? note : shelf;
      held.push({ path: request.path, response: (comment) => reply(comment, headers)(socket, request) });
    });
    const redisUrl = replicas > 1 ? (await redisServer()).url : undefined;
    const settings = { ...readConfig({}), ...patient, ...more, baseUrl: service.url, eventBaseUrl: service.url };
    const readerUrl = redisUrl?.replace('//', '//reader:x@');
    if (redisUrl) await asAdmin(redisUrl, ['ACL', 'SETUSER', 'reader', 'on', '>x', '~*', '&*', '+@all']);
    const processes = Array.from({ length: replicas }, (_, at) =>
      createUpstream(catalogService, { ...settings, redisUrl: at === replicas - 1 ? readerUrl : redisUrl }),
    );
    afterUse(() => Promise.all(processes.map((each) => each.close())));
    const requestContext = (authorization?: string) => ({ authorization, address: '127.0.0.1', requestId: 'test' });
    const reading = (authorization?: string) =>
      processes.at(-1)!.forOperation(requestContext(authorization), createCancellationToken());
    const write = async () => {
      const operation = processes[0]!.forOperation(requestContext(alice), createCancellationToken());
      await operation.write(bookEndpoints.collect, { id: '7', status: 'read' }, undefined);
      await operation.invalidate([bookEndpoints.collections.path, 'Note:1']);
    };
    // Each is connected to Redis when it can say there what it writes.
    for (const each of processes)
      await untilSo(async () => {
        const operation = each.forOperation(requestContext(), createCancellationToken());
        await operation.invalidate(['Book:1']);
        return !operation.replicasMayLag;
      });
    /** The process that reads loses Redis; the one that writes does not. */
    const cutReader = () =>
      asAdmin(redisUrl!, ['ACL', 'SETUSER', 'reader', 'off'], ['CLIENT', 'KILL', 'USER', 'reader']);
    /** So many responses cannot be stored that none is expected to be. */
    const untilUnstored = async () => {
      for (let count = 0; count < 20; count++) {
        const list = Promise.resolve(
          reading().responses.load(bookEndpoints.collections, { name: `user${count}` }, ['comment'], undefined),
        );
        await until(() => held.length === 1);
        held.pop()!.response('x');
        await list;
      }
    };
    return { held, reading, write, cutReader, untilUnstored };
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

  test('without a cache, what was read before a write is requested again after it', async () => {
    const { held, reading, write } = await open({}, { recordTtlSeconds: 0 });
    const before = [shelfOf(reading()), noteOf(reading(alice))];
    await until(() => held.length === 2);
    await write();
    const after = [shelfOf(reading()), noteOf(reading(alice))];
    await until(() => held.length === 4);
    for (const [nth, { response }] of held.entries()) response(nth < 2 ? 'old' : 'new');
    expect(await Promise.all(before)).toMatchObject([{ collections: [{ comment: 'old' }] }, { title: 'old' }]);
    expect(await Promise.all(after)).toMatchObject([{ collections: [{ comment: 'new' }] }, { title: 'new' }]);
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

  test('so is a list that may not be stored, whose equal reads share one request without a write', async () => {
    const { held, reading, write, untilUnstored } = await open({ 'cache-control': 'no-store' });
    await untilUnstored();
    const before = [shelfOf(reading()), shelfOf(reading())];
    await until(() => held.length === 1);
    before.push(shelfOf(reading()));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(held).toHaveLength(1);
    await write();
    const after = [shelfOf(reading()), shelfOf(reading())];
    await until(() => held.length === 2);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(held).toHaveLength(2);
    for (const [nth, { response }] of held.entries()) response(nth ? 'new' : 'old');
    for (const each of before) expect(await each).toEqual({ collections: [{ comment: 'old' }] });
    for (const each of after) expect(await each).toEqual({ collections: [{ comment: 'new' }] });
  });

  test.skipIf(replicas === 1)(
    'a process that has lost Redis shares no read that began before a write of another',
    async () => {
      const { held, reading, write, cutReader } = await open();
      const before = [shelfOf(reading())];
      await until(() => held.length === 1);
      await cutReader();
      await write();
      const after = Array.from({ length: 5 }, () => shelfOf(reading()));
      await new Promise((resolve) => setTimeout(resolve, 50));
      held[0]!.response('old');
      // They ask together, when the read before them is over.
      await until(() => held.length === 2);
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(held).toHaveLength(2);
      held[1]!.response('new');
      expect(await before[0]).toEqual({ collections: [{ comment: 'old' }] });
      for (const each of after) expect(await each).toEqual({ collections: [{ comment: 'new' }] });
    },
  );

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

async function asAdmin(url: string, ...commands: [string, ...string[]][]): Promise<void> {
  const admin = new Redis(url);
  for (const [command, ...words] of commands) await admin.call(command, ...words);
  admin.disconnect();
}

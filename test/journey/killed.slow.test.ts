/** A process that is killed when the service has carried out its write: it has invalidated nothing, and its client has no answer. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { afterUse } from '../support/hooks.ts';
import { keyedClient } from '../support/keyed-client.ts';
import { losingProxy } from '../support/losing-proxy.ts';
import { patientEnv } from '../support/patient.ts';
import { type Program, startProgram } from '../support/program.ts';
import { hasRedis, redisServer, until } from '../support/redis.ts';
import { clientOf } from '../support/replica.ts';
import { service } from '../support/service.ts';

const BOOK = '26340138';
const SHELF = '{ user(id: "1000001") { bookCollections(first: 5) { nodes { comment book { sourceId } } } } }';
const replace = (comment: string) =>
  JSON.stringify({
    query: `mutation { replaceCollection(input: { bookId: "${BOOK}", status: READ, comment: "${comment}", isPrivate: false }) { collection { comment } } }`,
  });
const update = (comment: string) =>
  JSON.stringify({
    query: `mutation { updateCollection(input: { bookId: "${BOOK}", comment: "${comment}" }) { collection { comment } } }`,
  });

describe.skipIf(!hasRedis)('a process that is killed between a write and its invalidation', () => {
  const programs: Program[] = [];
  let proxy: Awaited<ReturnType<typeof losingProxy>>;
  let env: NodeJS.ProcessEnv;
  let staying: ReturnType<typeof clientOf>;
  afterUse(() => Promise.all(programs.map((program) => program.stop())));

  async function start(): Promise<Program> {
    const program = await startProgram(env);
    programs.push(program);
    return program;
  }
  let onCarriedOut: (() => void) | undefined;

  /** Starts another process and kills it when the service has carried out the write that it was sent. */
  async function killAfter(body: string, key?: string): Promise<void> {
    const killed = await start();
    const carriedOut = new Promise<void>((resolve) => (onCarriedOut = resolve));
    proxy.lose(() => ({ kind: 'late', ms: 3_600_000 }));
    const answer = keyedClient(killed.url)(body, key);
    const unanswered = expect(answer).rejects.toThrow();
    await carriedOut;
    await killed.stop('SIGKILL');
    await unanswered;
    proxy.lose(() => undefined);
  }
  const shown = async (): Promise<string> => {
    const { data } = await staying(SHELF);
    const nodes = data.user.bookCollections.nodes as { comment: string; book: { sourceId: string } }[];
    return nodes.find(({ book }) => book.sourceId === BOOK)!.comment;
  };
  /** Writes, and waits until the process that stays serves it from its cache. */
  async function shownAndCached(comment: string): Promise<void> {
    expect((await keyedClient(staying.url)(replace(comment))).code).toBeUndefined();
    await until(async () => {
      const before = proxy.lines.length;
      expect(await shown()).toBe(comment);
      return proxy.lines.length === before;
    });
  }

  beforeAll(async () => {
    const { url, ...direct } = await service();
    await direct.post(`/v2/book/${BOOK}/collection`, 'alice', { status: 'read' });
    proxy = await losingProxy(url, () => undefined, {
      onStep: (step) => void (step === 'carriedOut' && onCarriedOut?.()),
    });
    const cached = { REDIS_URL: (await redisServer()).url, RECORD_TTL_SECONDS: '6' };
    env = { ...patientEnv, ...cached, PORT: '0', BASE_URL: proxy.url, EVENT_BASE_URL: proxy.url };
    staying = clientOf((await start()).url);
  });

  test('leaves to others what they have cached, until its time ends', { timeout: 60_000 }, async () => {
    await shownAndCached('before');
    await killAfter(replace('by the killed'));
    expect(['before', 'by the killed']).toContain(await shown());
    await expect.poll(shown).toBe('by the killed');
  });

  test('has left its key: a retry at another process gets its payload, writes nothing, and shows it to all', async () => {
    await shownAndCached('before the key');
    const [key, body] = [randomUUID(), replace('by the key')];
    await killAfter(body, key);
    proxy.reached.length = 0;
    const send = keyedClient(staying.url);
    let retry = await send(body, key);
    // The lock of the killed process ends by its time.
    for (; retry.code === 'IDEMPOTENCY_IN_PROGRESS'; retry = await send(body, key)) await sleep(100);
    expect(retry).toMatchObject({ code: undefined, isReplayed: false });
    expect(retry.result.data.replaceCollection.collection.comment).toBe('by the key');
    expect(proxy.reached).toEqual([]);
    expect(await shown()).toBe('by the key');
    expect(await send(body, key)).toMatchObject({ code: undefined, isReplayed: true });
  });

  test('keeps nobody from the record that it was changing', async () => {
    await shownAndCached('before the change');
    await killAfter(update('by the killed change'));
    const next = await keyedClient(staying.url)(update('by the next change'));
    expect(next.code).toBeUndefined();
    expect(await shown()).toBe('by the next change');
  });
});

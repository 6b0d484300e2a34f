/** A write and its retry, in processes that know different things of the token: the write is made once for its key. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { keyedClient } from '../../../support/keyed-client.ts';
import { type ArrivedWrite, atOnce, lateService } from '../../../support/late-service.ts';
import { hasRedis, redisServer, until } from '../../../support/redis.ts';
import { replica } from '../../../support/replica.ts';

const bodyOf = (content: string) =>
  JSON.stringify({
    query: `mutation ($content: String!) { createNoteComment(input: { noteId: "7", content: $content }) { comment { id content } } }`,
    variables: { content },
  });

type Send = ReturnType<typeof keyedClient>;

/** Replicas over one Redis, or one process without. */
async function processes(onWrite: (write: ArrivedWrite) => void = atOnce) {
  const authorOf = (authorization: string): string => (authorization.endsWith('alice') ? 'alice' : 'bob');
  const service = await lateService(onWrite, { authorOf });
  const redisUrl = hasRedis ? (await redisServer()).url : undefined;
  const open = async (): Promise<Send> => {
    const { url } = await replica(service.url, { upstreamSettleMs: '100', ...(redisUrl && { redisUrl }) });
    const send = keyedClient(url);
    if (redisUrl) await until(async () => (await send(bodyOf('ready'), randomUUID(), 'nobody-yet')).status === 200);
    return send;
  };
  const madeOf = (content: string) => service.comments.filter((each) => each.content === content).length;
  return { open, madeOf };
}

const TOKEN = 'demo-alice';
const RENEWED = 'renewed-alice';
/** The response of a write names the person. */
const introduce = (send: Send, token: string) => send(bodyOf(`who is ${token}`), undefined, token);

describe.skipIf(!hasRedis)('a retry at another replica', () => {
  const cases: { name: string; before: (one: Send, two: Send) => Promise<unknown>; token?: string; retried: object }[] =
    [
      { name: 'nobody knows the person', before: async () => undefined, retried: { isReplayed: true, status: 200 } },
      {
        name: 'the first knows the person',
        before: (one) => introduce(one, TOKEN),
        retried: { isReplayed: true, status: 200 },
      },
      {
        name: 'the second knows the person',
        before: (_, two) => introduce(two, TOKEN),
        retried: { isReplayed: true, status: 200 },
      },
      {
        name: 'the token was renewed, and both know the person',
        before: async (one, two) => [await introduce(one, TOKEN), await introduce(two, RENEWED)],
        token: RENEWED,
        retried: { isReplayed: true, status: 200 },
      },
      {
        name: 'the token was renewed, and its first request is the retry',
        before: (one) => introduce(one, TOKEN),
        token: RENEWED,
        retried: { status: 409, code: 'IDEMPOTENCY_KEY_UNKNOWN' },
      },
      {
        name: 'the token is of somebody else',
        before: async (one, two) => [await introduce(one, TOKEN), await introduce(two, 'demo-bob')],
        token: 'demo-bob',
        retried: { status: 422, code: 'IDEMPOTENCY_KEY_REUSED' },
      },
    ];

  test.each(cases)('makes no second write where $name', async ({ before, token = TOKEN, retried }) => {
    const { open, madeOf } = await processes();
    const [one, two] = [await open(), await open()];
    await before(one, two);
    const [key, content] = [randomUUID(), randomUUID()];
    expect(await one(bodyOf(content), key, TOKEN)).toMatchObject({ status: 200, code: undefined });
    expect(await two(bodyOf(content), key, token)).toMatchObject(retried);
    expect(madeOf(content)).toBe(1);
  });

  test('with a renewed token gets the response as soon as the service has named the person', async () => {
    const { open, madeOf } = await processes();
    const [one, two] = [await open(), await open()];
    const [key, content] = [randomUUID(), randomUUID()];
    const first = await one(bodyOf(content), key, TOKEN);
    expect(await two(bodyOf(content), key, RENEWED)).toMatchObject({ code: 'IDEMPOTENCY_KEY_UNKNOWN' });
    await introduce(two, RENEWED);
    expect(await two(bodyOf(content), key, RENEWED)).toEqual({ ...first, isReplayed: true });
    expect(madeOf(content)).toBe(1);
  });

  test('after a restart of the only process gets the response', async () => {
    const { open, madeOf } = await processes();
    const [key, content] = [randomUUID(), randomUUID()];
    const one = await open();
    await introduce(one, TOKEN);
    await one(bodyOf(content), key, TOKEN);
    expect(await (await open())(bodyOf(content), key, TOKEN)).toMatchObject({ isReplayed: true });
    expect(madeOf(content)).toBe(1);
  });
});

test('while a write runs, its sender is told so, and another token that it cannot be said whose it is', async () => {
  const held: ArrivedWrite[] = [];
  const { open } = await processes((write) =>
    write.content.startsWith('held') ? void held.push(write) : atOnce(write),
  );
  const send = await open();
  const key = randomUUID();
  const first = send(bodyOf('held'), key, TOKEN);
  await until(() => held.length === 1);
  expect(await send(bodyOf('held'), key, 'another')).toMatchObject({ status: 409, code: 'IDEMPOTENCY_KEY_UNKNOWN' });
  expect(await send(bodyOf('else'), key, 'another')).toMatchObject({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' });
  atOnce(held[0]!);
  expect(await first).toMatchObject({ code: undefined });
});

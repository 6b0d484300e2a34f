/** Clients that leave, and services that are late. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Flags } from '../../../../src/config/read.ts';
import { keyedClient } from '../../../support/keyed-client.ts';
import { type ArrivedWrite, atOnce, lateService } from '../../../support/late-service.ts';
import { hasRedis, redisServer, until } from '../../../support/redis.ts';
import { replica } from '../../../support/replica.ts';

const stores = [
  { name: 'in memory', settings: async (): Promise<Flags> => ({}) },
  { name: 'in Redis', settings: async (): Promise<Flags> => ({ redisUrl: (await redisServer()).url }) },
].filter(({ name }) => hasRedis || name === 'in memory');

const bodyOf = (content: string) =>
  JSON.stringify({
    query: `mutation ($content: String!) { createNoteComment(input: { noteId: "7", content: $content }) { comment { id content } } }`,
    variables: { content },
  });
const updateOf = (title: string) =>
  JSON.stringify({
    query: `mutation ($title: String!) { replaceNote(input: { id: "7", title: $title, content: "c", privacy: PUBLIC, canReply: true }) { note { title } } }`,
    variables: { title },
  });

/** A request whose client leaves as soon as this is so. */
async function leavingClient(url: string, body: string, key: string, isTime: () => boolean): Promise<void> {
  const headers = { authorization: 'Bearer demo-alice', 'content-type': 'application/json', 'idempotency-key': key };
  const client = new AbortController();
  const response = fetch(`${url}/graphql`, { method: 'POST', headers, body, signal: client.signal });
  const left = expect(response).rejects.toThrow();
  await until(isTime);
  client.abort();
  await left;
}

/** Leaves the first write without a response. A further one gets its own at once: the test then fails, and does not wait for it. */
const holdFirst = (arrived: ArrivedWrite[]) => (write: ArrivedWrite) => {
  if (arrived.push(write) > 1) atOnce(write);
};

describe.each(stores)('with keys $name', ({ settings }) => {
  async function start(onWrite: (write: ArrivedWrite) => void, flags: Flags = {}, options = {}) {
    const service = await lateService(
      (write) => (write.line.includes('/like') ? atOnce(write) : onWrite(write)),
      options,
    );
    const { url } = await replica(service.url, { upstreamSettleMs: '100', ...flags, ...(await settings()) });
    const send = keyedClient(url);
    const like = '{"query":"mutation { likeNote(input: { id: \\"7\\" }) { note { id } } }"}';
    await until(async () => (await send(like, randomUUID())).status === 200);
    service.lines.length = 0;
    return { service, url, send };
  }
  /** Shows whose token it is. */
  async function known(parts: Awaited<ReturnType<typeof start>>) {
    await parts.send(bodyOf('who is it'));
    parts.service.lines.length = 0;
    parts.service.comments.length = 0;
  }

  test('a write goes on when its client leaves, and the retry gets its response without another write', async () => {
    const arrived: ArrivedWrite[] = [];
    const { service, url, send } = await start(holdFirst(arrived));
    const [key, content] = [randomUUID(), randomUUID()];
    await leavingClient(url, bodyOf(content), key, () => arrived.length === 1);
    expect(await send(bodyOf(content), key)).toMatchObject({ code: 'IDEMPOTENCY_IN_PROGRESS' });
    await sleep(200);
    expect(arrived).toHaveLength(1);
    expect(arrived[0]!.isAbandoned()).toBe(false);
    atOnce(arrived[0]!);
    let retry = await send(bodyOf(content), key);
    await until(async () => (retry = await send(bodyOf(content), key)).code !== 'IDEMPOTENCY_IN_PROGRESS');
    expect(retry.isReplayed).toBe(true);
    expect(retry.result.data.createNoteComment.comment.content).toBe(content);
    expect(service.comments.map((each) => each.content)).toEqual([content]);
  });

  test('no further write of an operation starts after its client has left, and the retry makes the rest', async () => {
    const arrived: ArrivedWrite[] = [];
    const { service, url, send } = await start(holdFirst(arrived));
    const query = `mutation { a: createNoteComment(input: { noteId: "7", content: "a" }) { comment { content } }
      b: createNoteComment(input: { noteId: "7", content: "b" }) { comment { content } } }`;
    const [body, key] = [JSON.stringify({ query }), randomUUID()];
    await leavingClient(url, body, key, () => arrived.length === 1);
    // The facade has learned that its client has left: the one request is that of the metrics.
    await expect.poll(async () => (await fetch(`${url}/metrics`)).text()).toContain('catalog_requests_running 1');
    atOnce(arrived[0]!);
    await sleep(100);
    expect(arrived.map(({ content }) => content)).toEqual(['a']);
    const { result } = await send(body, key);
    expect(result.data).toEqual({ a: { comment: { content: 'a' } }, b: { comment: { content: 'b' } } });
    expect(arrived.map(({ content }) => content)).toEqual(['a', 'b']);
    expect(service.comments.map(({ content }) => content)).toEqual(['a', 'b']);
  });

  test('what is absent is not sent again before the settle time, and the error has the time to wait', async () => {
    let isLost = true;
    const held: ArrivedWrite[] = [];
    const parts = await start(
      (write) => {
        if (!isLost || write.content === 'who is it') return atOnce(write);
        held.push(write);
        return write.lose();
      },
      { upstreamSettleMs: '59500' },
    );
    await known(parts);
    const { service, send } = parts;
    const [key, content] = [randomUUID(), randomUUID()];
    const first = await send(bodyOf(content), key);
    expect(first).toMatchObject({ code: 'UPSTREAM_RESULT_UNKNOWN' });
    expect(first.result.errors[0].extensions.retryAfter).toBe(60);
    isLost = false;
    expect(await send(bodyOf(content), key)).toMatchObject({ code: 'UPSTREAM_RESULT_UNKNOWN' });
    held[0]!.commit(); // late, and without a connection
    const found = await send(bodyOf(content), key);
    expect(found.result.data?.createNoteComment.comment.content).toBe(content);
    expect(service.writes()).toHaveLength(1);
    expect(service.comments).toHaveLength(1);
  });

  test('what is absent after the settle time is sent again', async () => {
    let isLost = true;
    const parts = await start((write) => (isLost && write.content !== 'who is it' ? write.lose() : atOnce(write)));
    await known(parts);
    const { service, send } = parts;
    const [key, content] = [randomUUID(), randomUUID()];
    expect(await send(bodyOf(content), key)).toMatchObject({ code: 'UPSTREAM_RESULT_UNKNOWN' });
    isLost = false;
    await sleep(150);
    expect(await send(bodyOf(content), key)).toMatchObject({ code: undefined });
    expect(service.comments.map((each) => each.content)).toEqual([content]);
  });

  test.each([
    ['503 with a code of the service', 503, { code: 112, msg: 'x' }],
    ['500 with code 999', 500, { code: 999, msg: 'invalid_request' }],
    ['400 with code 6009', 400, { code: 6009, msg: 'function_error' }],
    ['400 with an unknown code', 400, { code: 4242, msg: 'x' }],
    ['403 of a gateway', 403, '<html>'],
  ])('%s does not show that nothing was made', async (_, status, body) => {
    const isLimit = typeof body === 'object' && body.code === 112;
    const answer = isLimit ? { code: 6002, msg: 'x' } : body;
    const parts = await start((write) => {
      if (write.content === 'who is it') return atOnce(write);
      write.commit();
      write.respond(status, answer);
    });
    await known(parts);
    const { service, send } = parts;
    const content = randomUUID();
    const { result } = await send(bodyOf(content), randomUUID());
    expect(result.data?.createNoteComment?.comment.content).toBe(content); // read back
    expect(service.comments).toHaveLength(1);
  });

  test('an update that somebody changed since is unknown, and is never written over', async () => {
    let isLost = true;
    const parts = await start((write) => {
      write.commit();
      parts.service.state.readsFail = isLost; // so that the first request cannot settle it
      if (isLost) write.lose();
      else write.respond();
    });
    const { service, send } = parts;
    service.notes.set('7', { title: 'old', content: 'c', update_time: '1' });
    const key = randomUUID();
    expect(await send(updateOf('phone'), key)).toMatchObject({ code: 'UPSTREAM_RESULT_UNKNOWN' });
    service.notes.set('7', { title: 'laptop', content: 'c', update_time: '2' });
    service.state.readsFail = isLost = false;
    await sleep(150);
    expect(await send(updateOf('phone'), key)).toMatchObject({ code: 'UPSTREAM_RESULT_UNKNOWN' });
    expect(service.notes.get('7')?.title).toBe('laptop');
  });

  test('an update of which only the old state is there is sent again', async () => {
    let isLost = true;
    const { service, send } = await start((write) => (isLost ? write.lose() : atOnce(write)));
    service.notes.set('7', { title: 'old', content: 'c', update_time: '1' });
    const key = randomUUID();
    expect(await send(updateOf('phone'), key)).toMatchObject({ code: 'UPSTREAM_RESULT_UNKNOWN' });
    isLost = false;
    await sleep(150);
    expect(await send(updateOf('phone'), key)).toMatchObject({ code: undefined });
    expect(service.notes.get('7')?.title).toBe('phone');
  });

  test.each([
    ['of a list with hidden comments', { pageMax: 100 }, true],
    ['of a service with smaller pages', { pageMax: 50 }, false],
  ])('a comment at the end %s is found', async (_, options, hasHidden) => {
    let isLost = false;
    const parts = await start(
      (write) => {
        write.commit();
        if (isLost) write.lose();
        else write.respond();
      },
      {},
      options,
    );
    await known(parts);
    const { service, send } = parts;
    for (let at = 0; at < 130; at++) {
      const isHidden = hasHidden && at % 10 === 0;
      service.comments.push({ id: String(at), content: `comment ${at}`, author: { id: 'bob' }, isHidden });
    }
    isLost = true;
    const [key, content] = [randomUUID(), randomUUID()];
    const { result } = await send(bodyOf(content), key);
    expect(result.data?.createNoteComment?.comment.content).toBe(content);
    expect(service.comments).toHaveLength(131);
  });

  test('the key of one person covers another token of this person', async () => {
    const parts = await start(atOnce);
    const { service, send } = parts;
    await send(bodyOf('who is it')); // both tokens are of alice
    await send(bodyOf('who is it'), undefined, 'demo-alice-2');
    service.comments.length = 0;
    const [key, content] = [randomUUID(), randomUUID()];
    const first = await send(bodyOf(content), key);
    expect(await send(bodyOf(content), key, 'demo-alice-2')).toEqual({ ...first, isReplayed: true });
    expect(service.comments).toHaveLength(1);
  });

  test('two equal comments of two devices count as one if the answer of one is lost: it is not posted again', async () => {
    let lost = '';
    const parts = await start((write) => {
      if (write.content === lost) return write.lose(); // on its way
      atOnce(write);
    });
    const { service, send } = parts;
    await send(bodyOf('who is it'));
    await send(bodyOf('who is it'), undefined, 'demo-alice-2');
    service.comments.length = 0;
    const content = randomUUID();
    const [one, two] = [randomUUID(), randomUUID()];
    lost = content;
    expect(await send(bodyOf(content), one)).toMatchObject({ code: 'UPSTREAM_RESULT_UNKNOWN' });
    lost = '';
    expect(await send(bodyOf(content), two, 'demo-alice-2')).toMatchObject({ code: undefined });
    await sleep(150);
    expect(await send(bodyOf(content), one)).toMatchObject({ code: undefined });
    expect(service.comments).toHaveLength(1);
  });
});

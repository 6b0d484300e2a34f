import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Flags, readConfig } from '../../../../src/config/read.ts';
import { secretsOf } from '../../../../src/server/features/idempotency/store/seal.ts';
import { readKey } from '../../../../src/server/features/idempotency/key.ts';
import { hasRedis, redisServer, until } from '../../../support/redis.ts';
import { keyedClient } from '../../../support/keyed-client.ts';
import { directService, type DirectService } from '../../../support/keyed-writes.ts';
import { losingProxy } from '../../../support/losing-proxy.ts';
import { replica } from '../../../support/replica.ts';
import { picture, service } from '../../../support/service.ts';
import { pictures, uploadForm } from '../../../support/upload.ts';

let proxy: Awaited<ReturnType<typeof losingProxy>>;
let direct: DirectService;
let noteId: string;

beforeAll(async () => {
  const origin = await service();
  proxy = await losingProxy(origin.url, () => undefined);
  direct = directService(origin.url, 'demo-alice', 'alice');
  noteId = (await direct.json('POST', '/v2/notes', { title: 'a note', content: 'with comments' })).id;
});
afterEach(() => proxy.lose(() => undefined));

const comment = `mutation ($noteId: ID!, $content: String!) {
  createNoteComment(input: { noteId: $noteId, content: $content }) { comment { id content } }
}`;
const bodyOf = (content: string, query = comment) => JSON.stringify({ query, variables: { noteId, content } });

const commentsWith = async (content: string): Promise<number> => {
  const { comments } = await direct.json('GET', `/v2/note/${noteId}/comments?count=100`);
  return comments.filter((each: { content: string }) => each.content === content).length;
};

const stores = [
  { name: 'in memory', settings: async (): Promise<Flags> => ({}) },
  { name: 'in Redis', settings: async (): Promise<Flags> => ({ redisUrl: (await redisServer()).url }) },
].filter(({ name }) => hasRedis || name === 'in memory');

describe.each(stores)('a key $name', ({ name, settings }) => {
  let send: ReturnType<typeof keyedClient>;
  beforeAll(async () => {
    const { url } = await replica(proxy.url, { upstreamSettleMs: '50', ...(await settings()) });
    send = keyedClient(url);
    if (name === 'in Redis') await until(async () => (await send(bodyOf(randomUUID()), randomUUID())).status === 200);
  });

  test('gives a second request the response to the first, marked, and writes once', async () => {
    const [key, content] = [randomUUID(), randomUUID()];
    const first = await send(bodyOf(content), key);
    const second = await send(bodyOf(content), `"${key}"`);
    expect(first.result).toMatchObject({ data: { createNoteComment: { comment: { content } } } });
    expect([first.isReplayed, second.isReplayed]).toEqual([false, true]);
    expect(second).toEqual({ ...first, isReplayed: true });
    expect(await commentsWith(content)).toBe(1);
  });

  test('is used by one of several requests at once: the others are told so, and get its response later', async () => {
    const [key, content] = [randomUUID(), randomUUID()];
    proxy.lose(() => ({ kind: 'late', ms: 150 }));
    const answers = await Promise.all([1, 2, 3].map(() => send(bodyOf(content), key)));
    expect(answers.map(({ code }) => code).sort()).toEqual([
      'IDEMPOTENCY_IN_PROGRESS',
      'IDEMPOTENCY_IN_PROGRESS',
      undefined,
    ]);
    const { result } = answers.find(({ code }) => code === undefined)!;
    expect(await send(bodyOf(content), key)).toMatchObject({ isReplayed: true, result });
    expect(await commentsWith(content)).toBe(1);
  });

  test('is rejected with other variables or another document, and the members of variables may come in any order', async () => {
    const [key, content] = [randomUUID(), randomUUID()];
    await send(bodyOf(content), key);
    expect(await send(bodyOf(`${content}!`), key)).toMatchObject({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' });
    expect(await send(bodyOf(content, `${comment} `), key)).toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
    const reordered = JSON.stringify({ query: comment, variables: { content, noteId } });
    expect(await send(reordered, key)).toMatchObject({ isReplayed: true });
    expect(await commentsWith(content)).toBe(1);
    expect(await commentsWith(`${content}!`)).toBe(0);
  });

  test('of somebody else is refused, and nothing is sent', async () => {
    const [key, content] = [randomUUID(), randomUUID()];
    await send(bodyOf(content), key);
    await send(bodyOf(randomUUID()), randomUUID(), 'demo-bob'); // the response names bob
    expect(await send(bodyOf(content), key, 'demo-bob')).toMatchObject({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' });
    expect(await send(bodyOf(content), key, 'demo-carol')).toMatchObject({
      status: 409,
      code: 'IDEMPOTENCY_KEY_UNKNOWN',
    });
    expect(await commentsWith(content)).toBe(1);
  });

  test('is free again if the service denies the write', async () => {
    const [key, content] = [randomUUID(), randomUUID()];
    expect(await send(bodyOf(content), key, 'expired')).toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(await send(bodyOf(content), key)).toMatchObject({ code: undefined, isReplayed: false });
    expect(await commentsWith(content)).toBe(1);
  });

  test('keeps a rejection by the service, and no error of a request that was not sent', async () => {
    const key = randomUUID();
    const empty = await send(bodyOf(' '), key);
    expect(empty).toMatchObject({ code: 'MISSING_ARGUMENT', isReplayed: false });
    expect(await send(bodyOf(' '), key)).toMatchObject({ isReplayed: false });
    const content = randomUUID();
    expect(await send(bodyOf(content), key)).toMatchObject({ code: undefined }); // nothing was kept of the key
    expect(await commentsWith(content)).toBe(1);

    const like = (id: string) =>
      JSON.stringify({ query: `mutation { likeNote(input: { id: "${id}" }) { note { id } } }` });
    const absent = randomUUID();
    const first = await send(like('99999999'), absent);
    expect(first.code).toBe('NOTE_NOT_FOUND');
    expect(await send(like('99999999'), absent)).toEqual({ ...first, isReplayed: true });
  });

  test('covers all mutations of an operation: those that are done are not sent again', async () => {
    const [key, a, b] = [randomUUID(), randomUUID(), randomUUID()];
    const query = `mutation { a: createNoteComment(input: { noteId: "${noteId}", content: "${a}" }) { comment { id } }
      b: createReview(input: { bookId: "1003078", title: "${b}", content: "${'r'.repeat(151)}" }) { review { id } } }`;
    let losses = 0;
    proxy.lose((line) => (line.includes('reviews') && losses++ === 0 ? { kind: 'dropped' } : undefined));
    const first = await send(JSON.stringify({ query }), key);
    expect(first.code).toBe('UPSTREAM_RESULT_UNKNOWN');
    const second = await send(JSON.stringify({ query }), key);
    expect(second.result.data.a).toEqual(first.result.data.a);
    expect(second.code).toBe('UPSTREAM_RESULT_UNKNOWN'); // no read shows reviews
    expect([await commentsWith(a), losses]).toEqual([1, 1]);
  });

  test('compares the bytes of files', async () => {
    const key = randomUUID();
    const { id } = await direct.json('POST', '/v2/notes', { title: 't', content: 'c' });
    const query = 'mutation ($input: AddNotePicturesInput!) { addNotePictures(input: $input) { storedPictures } }';
    const form = (bytes: number) => {
      const { pictures: given, files } = pictures([1], () => picture('png', bytes));
      return uploadForm(query, { input: { id, pictures: given } }, files);
    };
    const first = await send(form(300), key);
    expect(first.result.data).toEqual({ addNotePictures: { storedPictures: [1] } });
    expect(await send(form(300), key)).toEqual({ ...first, isReplayed: true });
    expect(await send(form(301), key)).toMatchObject({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' });
  });

  test('compares the bytes of files also with those of a write that was lost, and sends others to nobody', async () => {
    const { id } = await direct.json('POST', '/v2/notes', { title: 't', content: 'c' });
    const query = `mutation ($input: AddNotePicturesInput!, $content: String!) {
      addNotePictures(input: $input) { storedPictures }
      createNoteComment(input: { noteId: "${noteId}", content: $content }) { comment { content } }
    }`;
    const content = randomUUID();
    const form = (bytes: number) => {
      const { pictures: given, files } = pictures([1], () => picture('png', bytes));
      return uploadForm(query, { input: { id, pictures: given }, content }, files);
    };
    proxy.lose((line) => (line.includes(`/v2/note/${id}`) ? { kind: 'gateway', isSent: false } : undefined));
    const key = randomUUID();
    expect(await send(form(300), key)).toMatchObject({ code: 'UPSTREAM_RESULT_UNKNOWN' });
    await sleep(60);
    proxy.lose(() => undefined);
    expect(await send(form(301), key)).toMatchObject({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' });
    expect(Object.keys((await direct.json('GET', `/v2/note/${id}`)).photos ?? {})).toEqual([]);
    const { result } = await send(form(300), key);
    expect(result.data).toMatchObject({ addNotePictures: { storedPictures: [1] } });
  });

  test('does not settle a write by a thing of the same content that is not its own', async () => {
    const content = randomUUID();
    await send(bodyOf(content), randomUUID());
    await direct.call('POST', `/v2/note/${noteId}/comments`, { content });
    let losses = 0;
    proxy.lose(() => (losses++ === 0 ? { kind: 'dropped' } : undefined));
    const key = randomUUID();
    expect(await send(bodyOf(content), key)).toMatchObject({ code: 'UPSTREAM_RESULT_UNKNOWN' });
    await sleep(60);
    expect(await send(bodyOf(content), key)).toMatchObject({ code: undefined });
    expect([await commentsWith(content), losses]).toEqual([3, 2]);
  });

  test('leaves a write unknown where two things may be the one that it made', async () => {
    const content = randomUUID();
    proxy.lose((line) => (line.startsWith('POST') ? { kind: 'lost' } : undefined));
    const answers = await Promise.all([1, 2].map(() => send(bodyOf(content), randomUUID())));
    for (const { code, result } of answers)
      if (code === undefined) expect(result.data.createNoteComment.comment.content).toBe(content);
      else expect(code).toBe('UPSTREAM_RESULT_UNKNOWN');
    expect(await commentsWith(content)).toBe(2);
  });

  test('does not write again over a later write', async () => {
    const { id } = await direct.json('POST', '/v2/notes', { title: 't', content: 'c' });
    const body = (title: string) =>
      JSON.stringify({
        query: `mutation { replaceNote(input: { id: "${id}", title: "${title}", content: "c", privacy: PUBLIC, canReply: true }) { note { title } } }`,
      });
    const key = randomUUID();
    // Lost before the service got it.
    let losses = 0;
    proxy.lose(() => (losses++ < 1 ? { kind: 'dropped' } : undefined));
    expect((await send(body('first'), key)).code).toBe('UPSTREAM_RESULT_UNKNOWN');
    await send(body('second'), randomUUID());
    expect(await send(body('first'), key)).toMatchObject({ code: 'UPSTREAM_RESULT_UNKNOWN' });
    expect((await direct.json('GET', `/v2/note/${id}`)).title).toBe('second');
  });

  test('tells what to look at where the outcome is unknown', async () => {
    proxy.lose(() => ({ kind: 'lost' }));
    const query = `mutation { createReview(input: { bookId: "1003078", title: "t", content: "${'r'.repeat(151)}" }) { review { id } } }`;
    const { result } = await send(JSON.stringify({ query }), randomUUID());
    expect(result.errors[0].extensions.upstream.lookAt).toContain('the reviews of book 1003078');
  });

  test('means nothing to a query', async () => {
    const query = JSON.stringify({ query: `{ note(id: "${noteId}") { title } }` });
    expect(await send(query, 'x'.repeat(300))).toMatchObject({ status: 200, isReplayed: false, code: undefined });
  });

  test('that is malformed is rejected', async () => {
    for (const key of ['', 'a b', 'short-by-one-key', 'x'.repeat(256), '"open', 'é'].map((each) =>
      each.replace('short-by-one-key', 'x'.repeat(15)),
    ))
      expect([
        key,
        await send(bodyOf('never'), encodeURI(key) === key || key === 'a b' || key === '"open' ? key : 'a b'),
      ]).toMatchObject([key, { status: 400, code: 'BAD_IDEMPOTENCY_KEY' }]);
    expect(await commentsWith('never')).toBe(0);
  });
});

test('without a key a lost response is reported, and nothing is read back or sent again', async () => {
  const send = keyedClient((await replica(proxy.url)).url);
  const content = randomUUID();
  proxy.lose(() => ({ kind: 'lost' }));
  const before = proxy.lines.length;
  expect(await send(bodyOf(content))).toMatchObject({ code: 'UPSTREAM_RESULT_UNKNOWN' });
  expect(proxy.lines.slice(before)).toEqual([`POST /v2/note/${noteId}/comments`]);
});

test('with IDEMPOTENCY_TTL_SECONDS=0 keys are ignored', async () => {
  const send = keyedClient((await replica(proxy.url, { idempotencyTtlSeconds: '0' })).url);
  const [key, content] = [randomUUID(), randomUUID()];
  await send(bodyOf(content), key);
  expect(await send(bodyOf(content), key)).toMatchObject({ isReplayed: false });
  expect(await commentsWith(content)).toBe(2);
});

test('the plan of a mutation with a key has the calls that settling may need', async () => {
  const send = keyedClient((await replica(proxy.url)).url);
  const plan = async (key?: string) =>
    (await send(bodyOf('x'), key, 'demo-alice', { 'x-explain': 'plan' })).result.extensions.upstream;
  const [without, withKey] = [await plan(), await plan(randomUUID())];
  // Up to six reads before it is sent, three at each end of a long list, and three after a lost response.
  expect(withKey.max - without.max).toBe(6 + 3);
  expect(withKey.fields[0].max - without.fields[0].max).toBe(9);
});

test('Catalog-Cost of a mutation with a key has the most calls that its plan has, with the reads for the key', async () => {
  const { url } = await replica(proxy.url);
  const body = bodyOf(
    'x',
    'mutation { createNote(input: { title: "a", content: "b", privacy: PUBLIC }) { note { id } } }',
  );
  const ask = (more: Record<string, string>) => {
    const headers = { authorization: 'Bearer demo-alice', 'content-type': 'application/json', ...more };
    return fetch(`${url}/graphql`, { method: 'POST', headers, body });
  };
  const key = { 'idempotency-key': randomUUID() };
  const { extensions } = (await (await ask({ ...key, 'x-explain': 'plan' })).json()) as {
    extensions: { upstream: { max: number } };
  };
  expect((await ask({})).headers.get('catalog-cost')).toBe('calls=1, most=1, saved=0');
  expect((await ask(key)).headers.get('catalog-cost')).toContain(`, most=${extensions.upstream.max}, `);
  expect(extensions.upstream.max).toBeGreaterThan(1);
});

test.skipIf(!hasRedis)('a reader of Redis sees neither the token nor the response', async () => {
  const redis = await redisServer();
  const send = keyedClient((await replica(proxy.url, { redisUrl: redis.url })).url);
  const content = randomUUID();
  await until(async () => (await send(bodyOf(content), 'a-visible-key-of-some-length')).status === 200);
  const dump = await redis.dump();
  expect(dump).toContain(':key:');
  for (const secret of [content, 'demo-alice', 'a-visible-key-of-some-length']) expect(dump).not.toContain(secret);
});

test('keys are read as strings of structured fields, or bare', () => {
  expect(readKey('8e03978e-40d5-43dd-bc93-6894a57f9324')).toBe('8e03978e-40d5-43dd-bc93-6894a57f9324');
  for (const bad of [
    '',
    '""',
    'x'.repeat(15),
    '"a b of sixteen characters"',
    '"a-key-of-sixteen',
    '"a-\\"key\\"-of-sixteen"',
    'x'.repeat(256),
    '"a-key-of-sixteen"; b=1',
    undefined,
    7,
  ])
    expect(() => readKey(bad)).toThrow('in quotes none is a quote or a backslash');
});

test('what is sealed is read with the same key only', () => {
  const [own, other] = [secretsOf('a key of sixteen'), secretsOf('another of these')];
  const sealed = own.seal('a text');
  expect(own.unseal(sealed)).toBe('a text');
  expect([other.unseal(sealed), own.unseal(sealed.slice(0, 10)), own.unseal('')]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(new Set([own.name, other.name, own.hash('a text'), other.hash('a text')]).size).toBe(4);
});

test('the settings have their defaults', () => {
  expect(readConfig({})).toMatchObject({ idempotencyTtlSeconds: 86_400, upstreamSettleMs: 30_000 });
});

/** The recipes for writes that the docs print, run as they stand there: a response is lost, and the client asks again by itself. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ApolloClient, type ApolloLink, InMemoryCache, gql } from '@apollo/client';
import { Client, type Exchange } from '@urql/core';
import { print } from 'graphql';
import { describe, expect, test, vi } from 'vitest';
import { adviceByCode } from '../../client/src/errors.ts';
import { UpdateCollectionDocument } from '../../generated/operations.ts';
import { frontEnd } from '../frontend/front-end.ts';
import { compileProblems, tsExamplesOf } from '../support/examples.ts';
import { type Fault, losingProxy } from '../support/losing-proxy.ts';
import { replica } from '../support/replica.ts';
import { service } from '../support/service.ts';

const origin = await service();
/** Between clients and the facade. The faults of requests, in turn. */
const faults: Fault[] = [];
const { url, reached } = await losingProxy((await replica(origin.url)).url, () => faults.shift());
const headers = { authorization: 'Bearer demo-alice' };

/** The last one is the queue. */
const [queue, ...recipes] = tsExamplesOf('docs/offline.md');
const examples = [...recipes, queue!];
/** With the address of this facade, and a token as an app has one. */
async function moduleOf<Exports>(at: number): Promise<Exports> {
  const file = join(frontEnd('apollo', 'catalog-graphql-client'), `src/example${at}.ts`);
  const own = `{ uri: '${url}/graphql', headers: ${JSON.stringify(headers)} }`;
  writeFileSync(file, examples[at]!.replace("{ uri: '/graphql' }", own));
  return (await import(pathToFileURL(file).href)) as Exports;
}

const document = gql`
  mutation ($noteId: ID!, $content: String!) {
    createNoteComment(input: { noteId: $noteId, content: $content }) {
      comment {
        id
        content
      }
    }
  }
`;

async function noteOf() {
  const { body } = await origin.post('/v2/notes', 'alice', new URLSearchParams({ title: 't', content: 'c' }));
  const comments = async (): Promise<string[]> =>
    (await origin.get(`/v2/note/${body.id}/comments`, 'alice')).body.comments.map(
      ({ content }: { content: string }) => content,
    );
  return { noteId: String(body.id), comments };
}

test('the link for Apollo Client asks again with the same key, and the write is made once', async () => {
  const { link } = await moduleOf<{ link: ApolloLink }>(0);
  const client = new ApolloClient({ link, cache: new InMemoryCache() });
  const { noteId, comments } = await noteOf();
  const before = reached.length;
  faults.push({ kind: 'lost' }, { kind: 'dropped' });
  const { data } = await client.mutate({ mutation: document, variables: { noteId, content: 'by apollo' } });
  expect(data).toMatchObject({ createNoteComment: { comment: { content: 'by apollo' } } });
  expect(reached.length - before).toBe(2);
  expect(await comments()).toEqual(['by apollo']);
  client.stop();
});

test('the link for Apollo Client sends a key that the context has', async () => {
  const { link } = await moduleOf<{ link: ApolloLink }>(0);
  const client = new ApolloClient({ link, cache: new InMemoryCache() });
  const { noteId, comments } = await noteOf();
  const send = () =>
    client.mutate({
      mutation: document,
      variables: { noteId, content: 'from a queue' },
      context: { idempotencyKey: `key of ${noteId}`.replaceAll(' ', '-') },
    });
  expect((await send()).data).toEqual((await send()).data);
  expect(await comments()).toEqual(['from a queue']);
  client.stop();
});

test('the exchanges for urql ask again with the same key and the headers of the client', async () => {
  const { exchanges } = await moduleOf<{ exchanges: Exchange[] }>(1);
  const client = new Client({ url: `${url}/graphql`, exchanges, fetchOptions: { headers } });
  const { noteId, comments } = await noteOf();
  faults.push({ kind: 'lost' }, { kind: 'dropped' });
  const { data, error } = await client.mutation(document, { noteId, content: 'by urql' }).toPromise();
  expect(error).toBeUndefined();
  expect(data).toMatchObject({ createNoteComment: { comment: { content: 'by urql' } } });
  expect(await comments()).toEqual(['by urql']);
});

type Write = { key: string; record: string; body: string };
type Answer = { data?: object | null; errors?: { message: string; extensions: object }[] };
interface Queue {
  sendAll: (
    outbox: {
      all: () => Promise<Write[]>;
      replace: (write: Write) => Promise<unknown>;
      remove: (key: string) => Promise<unknown>;
    },
    send: (init: RequestInit) => Promise<Response>,
    onFinal: (write: Write, answer: Answer) => Promise<string | undefined>,
  ) => Promise<boolean>;
}

const queryText = document.loc!.source.body;

/** A table of writes, and what came of them. */
function outboxOf(writes: readonly Omit<Write, 'record'>[]) {
  const rows = new Map(writes.map((write) => [write.key, { record: 'Note:1', ...write }]));
  const answers: Answer[] = [];
  const outbox = {
    all: async () => [...rows.values()],
    replace: async (write: Write) => rows.set(write.key, write),
    remove: async (key: string) => rows.delete(key),
  };
  const onFinal = async (_: Write, answer: Answer) => {
    answers.push(answer);
    return /"revision":"([^"]+)"/.exec(JSON.stringify(answer))?.[1];
  };
  return { rows, answers, outbox, onFinal };
}

const sendAs = (init: RequestInit) =>
  fetch(`${url}/graphql`, { ...init, headers: { ...(init.headers as object), ...headers } });

describe('changes of one entry that wait in the queue', () => {
  const shelf = async (book: string, way: 'put' | 'get', change: object = {}) =>
    way === 'get'
      ? (await origin.get(`/v2/book/${book}/collection`, 'alice')).body
      : (await origin.put(`/v2/book/${book}/collection`, 'alice', change)).body;
  /** Taps on entries as they are shown, each with the revision that is shown. */
  async function taps(...changes: [book: string, change: object][]) {
    const shown = new Map<string, string>();
    for (const book of new Set(changes.map(([each]) => each))) {
      await origin.delete(`/v2/book/${book}/collection`, 'alice');
      const query = `mutation { collectBook(input: { bookId: "${book}", status: WISH }) { collection { revision } } }`;
      const response = await sendAs({
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      });
      const { data } = (await response.json()) as { data: { collectBook: { collection: { revision: string } } } };
      shown.set(book, data.collectBook.collection.revision);
    }
    const query = print(UpdateCollectionDocument);
    return changes.map(([book, change]) => ({
      key: crypto.randomUUID(),
      record: `Book:${book}`,
      body: JSON.stringify({ query, variables: { book, ...change, unchangedSince: shown.get(book) } }),
    }));
  }
  const codes = (answers: readonly Answer[]) =>
    answers.map(({ errors }) => errors?.map(({ extensions }) => (extensions as { code: string }).code));

  test('are changes of what the one before has made, also where the app ends between the two', async () => {
    const { sendAll } = await moduleOf<Queue>(2);
    const writes = await taps(
      ['1003078', { rating: 5 }],
      ['26340138', { rating: 1 }],
      ['1003078', { comment: '好' }],
      ['1003078', { tags: ['重读'] }],
    );
    const { answers, outbox, onFinal } = outboxOf(writes);
    const ends = { ...outbox, remove: () => new Promise<never>(() => undefined) };
    void sendAll(ends, sendAs, onFinal);
    await expect.poll(() => answers.length).toBe(1);
    expect(await sendAll(outbox, sendAs, onFinal)).toBe(true);
    expect(codes(answers)).toEqual(Array(5).fill(undefined));
    expect(await shelf('1003078', 'get')).toMatchObject({ rating: { value: '5' }, comment: '好', tags: ['重读'] });
  });

  test('conflict with what another device has changed between them', async () => {
    const { sendAll } = await moduleOf<Queue>(2);
    const { answers, outbox, onFinal } = outboxOf(
      await taps(['1003078', { rating: 5 }], ['1003078', { comment: '好' }]),
    );
    const elsewhere = async (write: Write, answer: Answer) => {
      const revision = await onFinal(write, answer);
      if (answers.length === 1) await shelf('1003078', 'put', { status: 'wish', comment: 'theirs' });
      return revision;
    };
    expect(await sendAll(outbox, sendAs, elsewhere)).toBe(true);
    expect(codes(answers)).toEqual([undefined, ['CONFLICT']]);
    expect(await shelf('1003078', 'get')).toMatchObject({ comment: 'theirs' });
  });
});

test('the queue goes on after the end of the app, and makes each write once, in their order', async () => {
  const { sendAll } = await moduleOf<Queue>(2);
  const { noteId, comments } = await noteOf();
  const contents = ['first', 'second', 'third'];
  const { rows, answers, outbox, onFinal } = outboxOf(
    contents.map((content) => ({
      key: `key-of-the-comment-${content}-${noteId}`.replaceAll(' ', '-'),
      body: JSON.stringify({ query: queryText, variables: { noteId, content } }),
    })),
  );
  const never = () => new Promise<never>(() => undefined);
  // The app ends before it has read the response to its first write.
  void sendAll(outbox, (init) => sendAs(init).then(never, never), onFinal);
  await expect.poll(comments).toEqual(['first']);
  faults.push({ kind: 'dropped' }, { kind: 'lost' });
  expect(await sendAll(outbox, sendAs, onFinal)).toBe(true);
  expect(await comments()).toEqual(contents);
  expect(answers).toMatchObject(contents.map((content) => ({ data: { createNoteComment: { comment: { content } } } })));
  expect(rows.size).toBe(0);
});

/** The queue with pauses a thousand times shorter. */
async function hastyQueue(): Promise<Queue> {
  const file = join(frontEnd('apollo', 'catalog-graphql-client'), 'src/hasty.ts');
  writeFileSync(file, examples[2]!.replace('1_000 * pause', 'pause'));
  return (await import(pathToFileURL(file).href)) as Queue;
}

test('a queue of 200 writes is made once and in order, through restarts, renewed tokens and lost answers', async () => {
  const { sendAll } = await hastyQueue();
  const { body: note } = await origin.post('/v2/notes', 'alice', new URLSearchParams({ title: 't', content: 'c' }));
  const contents = Array.from({ length: 200 }, (_, at) => `write ${at}`);
  const { rows, answers, outbox, onFinal } = outboxOf(
    contents.map((content, at) => ({
      key: `key-of-the-note-${note.id}-${at}`,
      body: JSON.stringify({ query: queryText, variables: { noteId: String(note.id), content } }),
    })),
  );
  let sent = 0;
  let token = 'demo-alice';
  let endApp = (): void => undefined;
  const sendTo = async (init: RequestInit): Promise<Response> => {
    sent++;
    if (sent % 5 === 0) faults.push({ kind: sent % 2 === 0 ? 'lost' : 'dropped' });
    if (sent % 41 === 0) token = 'expired';
    const response = fetch(`${url}/graphql`, {
      ...init,
      headers: { ...(init.headers as object), authorization: `Bearer ${token}` },
    });
    if (sent % 37 !== 0) return response;
    await response.catch(() => undefined);
    endApp(); // it never reads the response
    return new Promise<never>(() => undefined);
  };
  let [restarts, logins] = [0, 0];
  for (let isDone = false; !isDone;) {
    const ended = await Promise.race([
      sendAll(outbox, sendTo, onFinal),
      new Promise<undefined>((resolve) => (endApp = () => resolve(undefined))),
    ]);
    if (ended === undefined) restarts++;
    if (ended === false) logins++;
    token = 'demo-alice';
    isDone = ended === true;
  }
  const stored: string[] = [];
  for (let start = 0; start < 300; start += 100) {
    const { body } = await origin.get(`/v2/note/${note.id}/comments?start=${start}&count=100`, 'alice');
    stored.push(...body.comments.map(({ content }: { content: string }) => content));
  }
  expect(stored).toEqual(contents);
  // Where the refusal of an expired token was lost, it cannot be said to the renewed one whose the key is. Each is written once all the same.
  const unknown = { errors: [{ extensions: { code: 'IDEMPOTENCY_KEY_UNKNOWN' } }] };
  const isUnknown = (answer: unknown) => JSON.stringify(answer).includes('IDEMPOTENCY_KEY_UNKNOWN');
  expect(answers).toMatchObject(
    contents.map((content, at) =>
      isUnknown(answers[at]) ? unknown : { data: { createNoteComment: { comment: { content } } } },
    ),
  );
  expect(answers.filter(isUnknown).length).toBeLessThan(10);
  expect(rows.size).toBe(0);
  expect(restarts).toBeGreaterThan(3);
  expect(logins).toBeGreaterThan(3);
});

/** The first of them is the answer to the first request with the key. */
const answersOf = (...given: (object | string)[]) => {
  const keys: string[] = [];
  return {
    keys,
    send: async ({ headers: sent }: RequestInit) => {
      keys.push((sent as Record<string, string>)['idempotency-key']!);
      const answer = given.shift();
      return typeof answer === 'string'
        ? new Response(answer, { status: 502 })
        : Response.json(answer, { headers: { 'retry-after': '0' } });
    },
  };
};
const failed = (code: string, more: object = {}) => ({
  data: { createNoteComment: null },
  errors: [{ message: code, extensions: { code, advice: adviceByCode[code], ...more } }],
});

test('the queue sends the same key again until the answer is final', async () => {
  const { sendAll } = await hastyQueue();
  const { rows, answers, outbox, onFinal } = outboxOf([{ key: 'a', body: '{}' }]);
  const unknown = failed('UPSTREAM_RESULT_UNKNOWN');
  const { keys, send } = answersOf(
    failed('IDEMPOTENCY_IN_PROGRESS'),
    failed('TOO_MANY_KEYED_WRITES'),
    failed('UPSTREAM_RESULT_UNKNOWN', { retryAfter: 0 }),
    failed('CODE_OF_A_LATER_VERSION', { advice: 'retry-later' }),
    '<html>the page of a proxy</html>',
    unknown,
  );
  expect(await sendAll(outbox, send, onFinal)).toBe(true);
  expect(keys).toEqual(Array(6).fill('a'));
  expect(answers).toEqual([unknown]);
  expect(rows.size).toBe(0);
});

test.each([
  'UNAUTHENTICATED',
  'CLIENT_TOO_OLD',
  'PERSISTED_ONLY',
  'PERSISTED_QUERY_NOT_FOUND',
  'PERSISTED_QUERY_HASH_MISMATCH',
])('the queue keeps what needs a login or an update of the app: %s', async (code) => {
  const { sendAll } = await moduleOf<Queue>(2);
  const { rows, answers, outbox, onFinal } = outboxOf([{ key: 'a', body: '{}' }]);
  const { send } = answersOf(failed(code));
  expect(await sendAll(outbox, send, onFinal)).toBe(false);
  expect([rows.size, answers.length]).toEqual([1, 0]);
});

/** What stands between may answer in the place of the facade. */
const pages = {
  'a page with the seconds to wait': [503, { 'retry-after': '30' }, '<h1>busy</h1>', 30],
  'a page with a date': [503, { 'retry-after': 'in a minute' }, '<h1>busy</h1>', 60],
  'a page with a date that is over': [503, { 'retry-after': 'Sat, 01 Jan 2000 00:00:00 GMT' }, '', 1],
  'a page with a nonsensical time': [503, { 'retry-after': 'soon' }, '<h1>busy</h1>', 1],
  'a page with more seconds than a timer holds': [503, { 'retry-after': '9999999999' }, '', 3_600],
  'errors without extensions': [502, {}, '{"errors":[{"message":"upstream unavailable"}]}', 1],
  'an error without a code': [502, {}, '{"data":null,"errors":[{"message":"a","extensions":null}]}', 1],
  'an error that is null': [200, {}, '{"data":null,"errors":[null]}', 1],
  'errors that are a text': [200, {}, '{"data":{},"errors":"no"}', 1],
  null: [200, {}, 'null', 1],
  'a text': [200, {}, '"hello"', 1],
} as const;

test.each(Object.entries(pages))('the queue keeps its write, and waits as asked, after %s', async (_, given) => {
  const [status, headers, body, seconds] = given as readonly [number, Record<string, string>, string, number];
  const { sendAll } = await moduleOf<Queue>(2);
  const { rows, answers, outbox, onFinal } = outboxOf([{ key: 'a', body: '{}' }]);
  const later = new Date(Date.now() + 60_000).toUTCString();
  const answered = [
    new Response(body, {
      status,
      headers: { ...headers, ...(headers['retry-after'] === 'in a minute' && { 'retry-after': later }) },
    }),
    Response.json({ data: { createNoteComment: null } }),
  ];
  const pauses: number[] = [];
  const timers = vi.spyOn(globalThis, 'setTimeout').mockImplementation(((go: () => void, pause: number) => {
    pauses.push(pause / 1_000);
    queueMicrotask(go);
  }) as never);
  const isDone = await sendAll(outbox, async () => answered.shift()!, onFinal).finally(() => timers.mockRestore());
  expect({ isDone, rows: rows.size, answers: answers.length, pauses: pauses.length }).toEqual({
    isDone: true,
    rows: 0,
    answers: 1,
    pauses: 1,
  });
  expect(Math.abs(pauses[0]! - seconds)).toBeLessThan(3);
});

test('all compile', () => {
  expect(compileProblems('test/clients', examples)).toEqual([]);
});

/** The recipes for writes that the docs print, run as they stand there: a response is lost, and the client asks again by itself. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ApolloClient, type ApolloLink, InMemoryCache, gql } from '@apollo/client';
import { Client, type Exchange } from '@urql/core';
import { print } from 'graphql';
import { describe, expect, test } from 'vitest';
import { adviceByCode } from '../../client/src/errors.ts';
import { CollectDocument, UpdateCollectionDocument } from '../../generated/operations.ts';
import { frontEnd } from '../frontend/front-end.ts';
import { compileProblems, tsExamplesOf } from '../support/examples.ts';
import { type Fault, losingProxy } from '../support/losing-proxy.ts';
import { replica } from '../support/replica.ts';
import { service } from '../support/service.ts';
import { type Answer, type Outbox, type Write, decide, putBack, sendAll } from './queue.ts';

const origin = await service();
/** Between clients and the facade. The faults of requests, in turn. */
const faults: Fault[] = [];
const { url, reached } = await losingProxy((await replica(origin.url)).url, () => faults.shift());
const headers = { authorization: 'Bearer demo-alice' };

/** The first one is the queue. */
const examples = tsExamplesOf('docs/offline.md');
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
  const { link } = await moduleOf<{ link: ApolloLink }>(1);
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
  const { link } = await moduleOf<{ link: ApolloLink }>(1);
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
  const { exchanges } = await moduleOf<{ exchanges: Exchange[] }>(2);
  const client = new Client({ url: `${url}/graphql`, exchanges, fetchOptions: { headers } });
  const { noteId, comments } = await noteOf();
  faults.push({ kind: 'lost' }, { kind: 'dropped' });
  const { data, error } = await client.mutation(document, { noteId, content: 'by urql' }).toPromise();
  expect(error).toBeUndefined();
  expect(data).toMatchObject({ createNoteComment: { comment: { content: 'by urql' } } });
  expect(await comments()).toEqual(['by urql']);
});

const queryText = document.loc!.source.body;

/** A table of writes, and what was made of them. */
function outboxOf(writes: readonly (Omit<Write, 'record'> & { record?: string })[]) {
  const rows: Write[] = writes.map((write) => ({ record: write.key, ...write }));
  const answers: Answer[] = [];
  const placeOf = (key: string) => rows.findIndex((row) => row.key === key);
  const outbox: Outbox = {
    all: async () => [...rows],
    replace: async (key, write) => rows.splice(placeOf(key), 1, write),
    remove: async (key) => rows.splice(placeOf(key), 1),
  };
  const onMade = async (_: Write, answer: Answer) => {
    answers.push(answer);
    return /"revision":"([^"]+)"/.exec(JSON.stringify(answer))?.[1];
  };
  return { rows, answers, outbox, onMade };
}
/** A pause, a thousand times shorter. */
const hasty = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds));

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
  const codes = (of: readonly Pick<Write, 'errors'>[]) =>
    of.map(({ errors }) => errors?.map(({ extensions }) => extensions.code));
  const withRevision = ({ body }: Write, unchangedSince: string) => {
    const { query, variables } = JSON.parse(body) as { query: string; variables: object };
    return JSON.stringify({ query, variables: { ...variables, unchangedSince } });
  };

  test('are changes of what the one before has made, also where the app ends between the two', async () => {
    const writes = await taps(
      ['1003078', { rating: 5 }],
      ['26340138', { rating: 1 }],
      ['1003078', { comment: '好' }],
      ['1003078', { tags: ['重读'] }],
    );
    const { answers, outbox, onMade } = outboxOf(writes);
    const ends = { ...outbox, remove: () => new Promise<never>(() => undefined) };
    void sendAll(ends, sendAs, hasty, onMade);
    await expect.poll(() => answers.length).toBe(1);
    expect(await sendAll(outbox, sendAs, hasty, onMade)).toBe(true);
    expect(codes(answers)).toEqual(Array(5).fill(undefined));
    expect(await shelf('1003078', 'get')).toMatchObject({ rating: { value: '5' }, comment: '好', tags: ['重读'] });
  });

  /** Another device has changed the first entry before anything is sent. */
  async function conflicting() {
    const queued = outboxOf(
      await taps(
        ['1003078', { rating: 5 }],
        ['26340138', { rating: 1 }],
        ['1003078', { comment: '好' }],
        ['1003078', { tags: ['重读'] }],
      ),
    );
    await shelf('1003078', 'put', { status: 'wish', comment: 'theirs' });
    expect(await sendAll(queued.outbox, sendAs, hasty, queued.onMade)).toBe(true);
    expect(codes(queued.rows)).toEqual([['CONFLICT'], undefined, undefined]);
    expect(await shelf('1003078', 'get')).toMatchObject({ comment: 'theirs' });
    // The other entry does not wait.
    expect(await shelf('26340138', 'get')).toMatchObject({ rating: { value: '1' } });
    return queued;
  }

  test('are not sent after a conflict, until the user keeps them: then all are, in their order', async () => {
    const { rows, outbox, onMade } = await conflicting();
    // A new start of the app, and another tap, send nothing either.
    rows.push({ ...rows[2]!, key: crypto.randomUUID() });
    expect(await sendAll(outbox, () => expect.fail('nothing may be sent'), hasty, onMade)).toBe(true);
    const [first] = rows;
    const { revision } = first!.errors![0]!.extensions;
    await decide(outbox, first!, withRevision(first!, revision!));
    expect(rows).toHaveLength(4);
    expect(await sendAll(outbox, sendAs, hasty, onMade)).toBe(true);
    expect(rows).toEqual([]);
    expect(await shelf('1003078', 'get')).toMatchObject({ rating: { value: '5' }, comment: '好', tags: ['重读'] });
  });

  test('are not sent after a conflict, if the user takes what is there, also where the app ends meanwhile', async () => {
    const { rows, outbox, onMade } = await conflicting();
    let removed = 0;
    const ends = { ...outbox, remove: async (key: string) => removed++ === 0 && outbox.remove(key) };
    await decide(ends, rows[0]!);
    expect(codes(rows)).toEqual([['CONFLICT'], undefined]);
    await decide(outbox, rows[0]!);
    expect(rows).toEqual([]);
    expect(await sendAll(outbox, sendAs, hasty, onMade)).toBe(true);
    expect(await shelf('1003078', 'get')).toMatchObject({ comment: 'theirs' });
  });

  test('write over nothing if another device has put the book on the shelf first', async () => {
    const [book, query] = ['1003078', print(UpdateCollectionDocument)];
    await origin.delete(`/v2/book/${book}/collection`, 'alice');
    const record = `Book:${book}`;
    const bodies = [
      { query: print(CollectDocument), variables: { book, status: 'READING' } },
      { query, variables: { book, rating: 1, unchangedSince: null } },
      { query, variables: { book, comment: 'mine', unchangedSince: null } },
    ];
    const { rows, answers, outbox, onMade } = outboxOf(
      bodies.map((body) => ({ key: crypto.randomUUID(), record, body: JSON.stringify(body) })),
    );
    await origin.post(`/v2/book/${book}/collection`, 'alice', { status: 'read', rating: '5', comment: 'theirs' });
    expect(await sendAll(outbox, sendAs, hasty, onMade)).toBe(true);
    const theirs = { status: 'read', rating: { value: '5' }, comment: 'theirs' };
    expect([answers, await shelf(book, 'get')]).toMatchObject([[], theirs]);
    expect(codes(rows)).toEqual([['COLLECTION_EXISTS'], undefined, undefined]);
    // The app has loaded the entry, and the user keeps the own status.
    const response = await sendAs({
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: `{ book(id: "${book}") { viewerCollection { revision } } }` }),
    });
    const { data } = (await response.json()) as { data: { book: { viewerCollection: { revision: string } } } };
    const variables = { book, status: 'READING', unchangedSince: data.book.viewerCollection.revision };
    await decide(outbox, rows[0]!, JSON.stringify({ query, variables }));
    expect(await sendAll(outbox, sendAs, hasty, onMade)).toBe(true);
    expect(rows).toEqual([]);
    expect(await shelf(book, 'get')).toMatchObject({ status: 'reading', rating: { value: '1' }, comment: 'mine' });
  });

  test.each([
    ['whose payload has no revision', async () => undefined],
    ['that is made while the change is queued', undefined],
  ])('are not sent behind a Collect %s, until the user decides', async (_, withoutRevision) => {
    const [book, record] = ['1003078', 'Book:1003078'];
    await origin.delete(`/v2/book/${book}/collection`, 'alice');
    const variables = { book, comment: 'mine', unchangedSince: null };
    const collect = { query: print(CollectDocument), variables: { book, status: 'READING' } };
    const change = { query: print(UpdateCollectionDocument), variables };
    const [first, second] = [collect, change].map((body) => ({
      ...{ key: crypto.randomUUID(), record, body: JSON.stringify(body) },
    }));
    const { rows, outbox, onMade } = outboxOf(withoutRevision ? [first!, second!] : [first!]);
    const remove = async (key: string) => {
      await outbox.remove(key);
      await shelf(book, 'put', { status: 'wish', comment: 'theirs' });
      if (!withoutRevision) rows.push(second!);
    };
    expect(await sendAll({ ...outbox, remove }, sendAs, hasty, withoutRevision ?? onMade)).toBe(true);
    expect(codes(rows)).toEqual([['REVISION_UNKNOWN']]);
    expect(await shelf(book, 'get')).toMatchObject({ status: 'wish', comment: 'theirs' });
  });

  test('are of an entry that was deleted elsewhere: it is put back as it was, private too, with all of them', async () => {
    const [book] = ['1003078'];
    await origin.delete(`/v2/book/${book}/collection`, 'alice');
    const stored = { status: 'reading', rating: 4, tags: '小说 重读', comment: '很好', privacy: 'private' };
    await origin.post(`/v2/book/${book}/collection`, 'alice', stored);
    const before = {
      status: 'READING',
      rating: { value: 4 },
      tagNames: ['小说', '重读'],
      comment: '很好',
      isPrivate: true,
    };
    const query = print(UpdateCollectionDocument);
    const { rows, outbox, onMade } = outboxOf(
      [{ rating: 2 }, { comment: '再读' }].map((change) => ({
        ...{ key: crypto.randomUUID(), record: `Book:${book}`, before },
        body: JSON.stringify({ query, variables: { book, ...change, unchangedSince: 'a revision' } }),
      })),
    );
    await origin.delete(`/v2/book/${book}/collection`, 'alice');
    expect(await sendAll(outbox, sendAs, hasty, onMade)).toBe(true);
    expect(codes(rows)).toEqual([['COLLECTION_NOT_FOUND'], undefined]);
    const body = () => JSON.stringify({ query: print(CollectDocument), variables: putBack(before, rows[0]!.body) });
    await decide(outbox, rows[0]!, body());
    expect(rows[0]).toMatchObject({ before });
    expect(await sendAll(outbox, sendAs, hasty, onMade)).toBe(true);
    expect(rows).toEqual([]);
    expect(await shelf(book, 'get')).toMatchObject({
      ...{ status: 'reading', rating: { value: '2' }, tags: ['小说', '重读'], comment: '再读' },
    });
    expect((await origin.get(`/v2/book/${book}/collection?user_id=alice`)).status).not.toBe(200);
    await origin.delete(`/v2/book/${book}/collection`, 'alice');
  });

  test('conflict with what another device has changed between them', async () => {
    const { rows, answers, outbox, onMade } = outboxOf(
      await taps(['1003078', { rating: 5 }], ['1003078', { comment: '好' }]),
    );
    const elsewhere = async (write: Write, answer: Answer) => {
      const revision = await onMade(write, answer);
      await shelf('1003078', 'put', { status: 'wish', comment: 'theirs' });
      return revision;
    };
    expect(await sendAll(outbox, sendAs, hasty, elsewhere)).toBe(true);
    expect([codes(answers), codes(rows)]).toEqual([[undefined], [['CONFLICT']]]);
    expect(await shelf('1003078', 'get')).toMatchObject({ comment: 'theirs' });
  });

  test('are sent after a write that was made, if only a field of its payload failed', async () => {
    const { rows, answers, outbox, onMade } = outboxOf([
      { key: 'a', record: 'Book:1', body: '{}' },
      { key: 'b', record: 'Book:1', body: '{}' },
    ]);
    const { errors } = failed('FORBIDDEN');
    const { keys, send } = answersOf({ data: { updateCollection: { book: null } }, errors }, { data: {} });
    expect(await sendAll(outbox, send, hasty, onMade)).toBe(true);
    expect([keys, answers.length, rows]).toEqual([['a', 'b'], 2, []]);
  });
});

test('the queue goes on after the end of the app, and makes each write once, in their order', async () => {
  const { noteId, comments } = await noteOf();
  const contents = ['first', 'second', 'third'];
  const { rows, answers, outbox, onMade } = outboxOf(
    contents.map((content) => ({
      key: `key-of-the-comment-${content}-${noteId}`.replaceAll(' ', '-'),
      body: JSON.stringify({ query: queryText, variables: { noteId, content } }),
    })),
  );
  const never = () => new Promise<never>(() => undefined);
  // The app ends before it has read the response to its first write.
  void sendAll(outbox, (init) => sendAs(init).then(never, never), hasty, onMade);
  await expect.poll(comments).toEqual(['first']);
  faults.push({ kind: 'dropped' }, { kind: 'lost' });
  expect(await sendAll(outbox, sendAs, hasty, onMade)).toBe(true);
  expect(await comments()).toEqual(contents);
  expect(answers).toMatchObject(contents.map((content) => ({ data: { createNoteComment: { comment: { content } } } })));
  expect(rows).toEqual([]);
});

test('a queue of 200 writes is made once and in order, through restarts, renewed tokens and lost answers', async () => {
  const { body: note } = await origin.post('/v2/notes', 'alice', new URLSearchParams({ title: 't', content: 'c' }));
  const contents = Array.from({ length: 200 }, (_, at) => `write ${at}`);
  const { rows, answers, outbox, onMade } = outboxOf(
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
      sendAll(outbox, sendTo, hasty, onMade),
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
  expect(rows.map(({ errors }) => errors![0]!.extensions.code)).toEqual(rows.map(() => 'IDEMPOTENCY_KEY_UNKNOWN'));
  expect(rows.length).toBeLessThan(10);
  const unknown = new Set(
    rows.map(({ body }) => (JSON.parse(body) as { variables: { content: string } }).variables.content),
  );
  const made = contents.filter((content) => !unknown.has(content));
  expect(answers).toMatchObject(made.map((content) => ({ data: { createNoteComment: { comment: { content } } } })));
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
  const { rows, answers, outbox, onMade } = outboxOf([{ key: 'a', body: '{}' }]);
  const unknown = failed('UPSTREAM_RESULT_UNKNOWN');
  const { keys, send } = answersOf(
    failed('IDEMPOTENCY_IN_PROGRESS'),
    failed('TOO_MANY_KEYED_WRITES'),
    failed('UPSTREAM_RESULT_UNKNOWN', { retryAfter: 0 }),
    failed('CODE_OF_A_LATER_VERSION', { advice: 'retry-later' }),
    '<html>the page of a proxy</html>',
    unknown,
  );
  expect(await sendAll(outbox, send, hasty, onMade)).toBe(true);
  expect(keys).toEqual(Array(6).fill('a'));
  expect([answers, rows]).toEqual([[], [expect.objectContaining({ key: 'a', errors: unknown.errors })]]);
});

test.each([
  'UNAUTHENTICATED',
  'CLIENT_TOO_OLD',
  'PERSISTED_ONLY',
  'PERSISTED_QUERY_NOT_FOUND',
  'PERSISTED_QUERY_HASH_MISMATCH',
])('the queue keeps what needs a login or an update of the app: %s', async (code) => {
  const written = { key: 'a', record: 'a', body: '{}' };
  const { rows, answers, outbox, onMade } = outboxOf([written]);
  const { send } = answersOf(failed(code));
  expect(await sendAll(outbox, send, hasty, onMade)).toBe(false);
  expect([rows, answers]).toEqual([[written], []]);
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
  const { rows, answers, outbox, onMade } = outboxOf([{ key: 'a', body: '{}' }]);
  const later = new Date(Date.now() + 60_000).toUTCString();
  const answered = [
    new Response(body, {
      status,
      headers: { ...headers, ...(headers['retry-after'] === 'in a minute' && { 'retry-after': later }) },
    }),
    Response.json({ data: { createNoteComment: null } }),
  ];
  const pauses: number[] = [];
  const isDone = await sendAll(
    outbox,
    async () => answered.shift()!,
    async (given) => pauses.push(given),
    onMade,
  );
  expect([isDone, rows, answers.length, pauses.length]).toEqual([true, [], 1, 1]);
  expect(Math.abs(pauses[0]! - seconds)).toBeLessThan(3);
});

test('all compile', () => {
  expect(compileProblems('test/clients', examples)).toEqual([]);
});

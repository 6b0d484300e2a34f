import { beforeAll, describe, expect, test } from 'vitest';
import { journey } from '../support/journey.ts';
import { piecesOf } from '../support/pieces.ts';

let cold: Awaited<ReturnType<typeof journey>>;
beforeAll(async () => {
  cold = await journey({ recordTtlSeconds: '0' });
});

/** The answer's pieces as they come over the wire. */
async function pieces(query: string, accept: string): Promise<Record<string, unknown>[]> {
  const response = await fetch(`${cold.facade.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept },
    body: JSON.stringify({ query }),
  });
  const type = response.headers.get('content-type') ?? '';
  expect(type.split(';')[0]).toBe(accept);
  const text = await response.text();
  const parts =
    accept === 'text/event-stream'
      ? text.split('\n').flatMap((line) => (line.startsWith('data: {') ? [line.slice(6)] : []))
      : text.split(/\r\n--+\r?\n?/).flatMap((part) => (part.includes('{') ? [part.slice(part.indexOf('{'))] : []));
  return parts.map((part) => JSON.parse(part.slice(0, part.lastIndexOf('}') + 1)) as Record<string, unknown>);
}

describe.each(['multipart/mixed', 'text/event-stream'])('over %s', (accept) => {
  test('a deferred part comes after the rest, which did not ask for it', async () => {
    cold.proxy.start();
    const [first, ...later] = await pieces(
      '{ book(id: "6082808") { title ... @defer { summary tags { name } } } }',
      accept,
    );
    const passed = cold.proxy.stop();
    expect(first).toMatchObject({ data: { book: { title: '百年孤独' } }, hasNext: true });
    expect(JSON.stringify(first)).not.toContain('summary');
    const incremental = later.flatMap(
      (piece) => (piece.incremental ?? []) as { path: unknown; data: { summary: string; tags: unknown[] } }[],
    );
    expect(incremental).toHaveLength(1);
    expect(incremental[0]).toMatchObject({ path: ['book'] });
    expect(incremental[0]!.data.summary.length).toBeGreaterThan(100);
    expect(incremental[0]!.data.tags.length).toBeGreaterThan(0);
    expect(passed.map(({ line }) => line)).toEqual([
      'GET /v2/book/6082808?fields=id,title',
      'GET /v2/book/6082808?fields=id,summary,tags',
    ]);
  });

  test('a deferred edge is called for in its own time', async () => {
    const [first, ...later] = await pieces(
      '{ subject(id: "26266893") { title ... @defer(label: "talk") { comments(first: 2) { nodes { content } } } } }',
      accept,
    );
    expect(first).toMatchObject({ data: { subject: { title: '流浪地球' } }, hasNext: true });
    const [piece] = later.flatMap(
      (each) => (each.incremental ?? []) as { label: string; data: { comments: { nodes: unknown[] } } }[],
    );
    expect(piece).toMatchObject({ label: 'talk' });
    expect(piece!.data.comments.nodes).toHaveLength(2);
  });

  test('a streamed list comes item by item', async () => {
    const all = await pieces('{ top250(first: 3) { nodes @stream(initialCount: 1) { title } } }', accept);
    expect(all[0]).toMatchObject({ data: { top250: { nodes: [{ title: expect.any(String) }] } }, hasNext: true });
    const items = all
      .slice(1)
      .flatMap((piece) => (piece.incremental ?? []) as { items?: { title: string }[] }[])
      .flatMap(({ items = [] }) => items);
    expect(items).toHaveLength(2);
  });

  test('what fails in a deferred part is told with its code', async () => {
    const [first, ...later] = await pieces(
      '{ book(id: "6082808") { title ... @defer { viewerCollection { status } annotations(first: 500) { nodes { id } } } } }',
      accept,
    );
    expect(first).toMatchObject({ data: { book: { title: '百年孤独' } } });
    const errors = later
      .flatMap((each) => (each.incremental ?? []) as { errors?: { extensions: object }[] }[])
      .flatMap(({ errors = [] }) => errors);
    expect(errors.map(({ extensions }) => extensions)).toEqual([
      expect.objectContaining({ code: 'BAD_USER_INPUT', coordinate: 'Book.annotations' }),
    ]);
  });
});

test('a deferred part with `if: false` is part of the one ask', async () => {
  const { answer, passed } = await cold.cost('{ book(id: "6082808") { title ... @defer(if: false) { publisher } } }');
  expect(answer.data.book).toEqual({ title: '百年孤独', publisher: '南海出版公司' });
  expect(passed).toHaveLength(1);
});

/** The answer to a question with this Accept, and the calls that it made. */
async function asked(query: string, accept: string, variables: object = {}) {
  cold.proxy.start();
  const response = await fetch(`${cold.facade.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept, authorization: 'Bearer demo-alice' },
    body: JSON.stringify({ query, variables }),
  });
  const body = (await response.json()) as { data?: unknown; errors: [{ message: string; extensions: object }] };
  return { status: response.status, body, calls: cold.proxy.stop() };
}

describe('who cannot read pieces gets the whole answer in one', () => {
  test.each([
    'application/json',
    'application/graphql-response+json',
    'multipart/mixed;incrementalSpec=v9, application/json',
    'multipart/mixed;deferSpec=20990101, application/json',
  ])('with %s', async (accept) => {
    const query =
      '{ book(id: "6082808") { title ... @defer { summary ...T @defer } } top250(first: 3) { nodes @stream { title } } } fragment T on Book { pages }';
    const { status, body, calls } = await asked(query, accept);
    const whole = await asked(query.replaceAll(/@\w+/g, ''), accept);
    expect([status, body]).toEqual([200, whole.body]);
    expect(calls.map(({ line }) => line)).toEqual(whole.calls.map(({ line }) => line));
  });

  test('what is wrong in the directives is told all the same', async () => {
    const { status, body } = await asked(
      '{ top250 { nodes @stream(initialCount: -1) { title } } }',
      'application/json',
    );
    expect([status, body.errors[0].extensions]).toEqual([200, expect.objectContaining({ code: 'BAD_USER_INPUT' })]);
  });

  test('a write is carried out once', async () => {
    const write = 'mutation { likeNote(input: { id: "1" }) { note { id ... @defer { likesCount } } } }';
    const { calls } = await asked(write, 'application/json');
    expect(calls.filter(({ line }) => line.startsWith('POST'))).toHaveLength(1);
  });
});

describe('who takes no format that there is is told so, and nothing runs', () => {
  test('another draft alone', async () => {
    const query = '{ book(id: "6082808") { title ... @defer { summary } } }';
    const { status, body, calls } = await asked(query, 'multipart/mixed;incrementalSpec=v9');
    expect([status, body.errors[0].extensions, calls]).toEqual([
      406,
      expect.objectContaining({ code: 'NOT_ACCEPTABLE' }),
      [],
    ]);
  });

  test('a client that takes no form of an answer', async () => {
    const write = 'mutation { likeNote(input: { id: "1" }) { note { id } } }';
    const { status, body, calls } = await asked(write, 'text/plain');
    expect([status, calls]).toEqual([406, []]);
    expect(body.errors[0]).toMatchObject({
      message: expect.stringContaining('application/json'),
      extensions: { code: 'NOT_ACCEPTABLE' },
    });
  });
});

test.each(['multipart/mixed;deferSpec=20220824, application/json', '*/*', 'text/*'])(
  'pieces are sent to who takes %s',
  async (accept) => {
    const response = await fetch(`${cold.facade.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept },
      body: JSON.stringify({ query: '{ book(id: "6082808") { title ... @defer { summary } } }' }),
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^(?:multipart\/mixed|text\/event-stream)/);
    expect(await response.text()).toContain('"hasNext":false');
  },
);

describe('directives that say what cannot be are refused before anything runs', () => {
  const streamed = 'top250(first: 3) { nodes @stream(initialCount: $n, if: $on) { title } }';
  const deferred = 'likeNote(input: { id: "1" }) { ... @defer(if: $on) { note { id } } }';
  const put = 'query ($n: Int, $on: Boolean = true)';

  test.each<[string, string, object, string]>([
    ['a negative count', '{ top250(first: 3) { nodes @stream(initialCount: -1) { title } } }', {}, 'BAD_USER_INPUT'],
    ['no count at all', '{ top250(first: 3) { nodes @stream(initialCount: null) { title } } }', {}, 'BAD_USER_INPUT'],
    ['a negative count by a variable', `${put} { ${streamed} }`, { n: -1 }, 'BAD_USER_INPUT'],
    ['no count by a variable', `${put} { ${streamed} }`, { n: null }, 'BAD_USER_INPUT'],
    ['a negative count by default', `query ($n: Int = -2, $on: Boolean = true) { ${streamed} }`, {}, 'BAD_USER_INPUT'],
    [
      'a negative count in a fragment',
      '{ top250(first: 3) { ...F } } fragment F on SubjectConnection { nodes @stream(initialCount: -1) { title } }',
      {},
      'BAD_USER_INPUT',
    ],
    [
      'a negative count of the schema',
      '{ __schema { types @stream(initialCount: -1) { name } } }',
      {},
      'BAD_USER_INPUT',
    ],
    ['neither on nor off, in a read', `${put} { ${streamed} }`, { n: 1, on: null }, 'BAD_USER_INPUT'],
    [
      'neither on nor off, in a write',
      `mutation ($on: Boolean = true) { ${deferred} }`,
      { on: null },
      'BAD_USER_INPUT',
    ],
    [
      'a count past 32 bits',
      '{ top250 { nodes @stream(initialCount: 2147483648) { title } } }',
      {},
      'GRAPHQL_VALIDATION_FAILED',
    ],
    [
      'a count that is a text',
      '{ top250 { nodes @stream(initialCount: "1") { title } } }',
      {},
      'GRAPHQL_VALIDATION_FAILED',
    ],
    ['on by a number', '{ top250 { nodes @stream(if: 1) { title } } }', {}, 'GRAPHQL_VALIDATION_FAILED'],
    ['on by null', '{ book(id: "1") { ... @defer(if: null) { title } } }', {}, 'GRAPHQL_VALIDATION_FAILED'],
    [
      'a label that is null',
      '{ book(id: "1") { ... @defer(label: null) { title } } }',
      {},
      'GRAPHQL_VALIDATION_FAILED',
    ],
    [
      'a label by a variable',
      'query ($l: String) { book(id: "1") { ... @defer(label: $l) { title } } }',
      { l: 'x' },
      'GRAPHQL_VALIDATION_FAILED',
    ],
    [
      'a label twice',
      '{ book(id: "1") { ... @defer(label: "a") { title } ... @defer(label: "a") { summary } } }',
      {},
      'GRAPHQL_VALIDATION_FAILED',
    ],
    // Between the `@` and the name there may be anything that means nothing.
    [
      'a label twice, and blanks',
      '{ book(id: "1") { ... @ defer(label: "a") { title } ... @,defer(label: "a") { summary } } }',
      {},
      'GRAPHQL_VALIDATION_FAILED',
    ],
    [
      'a write that is deferred',
      'mutation { ... @ #\n defer { likeNote(input: { id: "1" }) { note { id } } } }',
      {},
      'GRAPHQL_VALIDATION_FAILED',
    ],
  ])('%s', async (_, query, variables, code) => {
    const { status, body, calls } = await asked(query, 'application/graphql-response+json, multipart/mixed', variables);
    expect(calls).toEqual([]);
    expect(body).not.toHaveProperty('data');
    expect(body.errors.map(({ extensions }) => (extensions as { code: unknown }).code)).toEqual([code]);
    expect(status).toBe(400);
  });

  test('but not where no variable is given, and the default holds', async () => {
    const query =
      'query ($n: Int, $on: Boolean) { top250(first: 3) { nodes @stream(initialCount: $n, if: $on) { title } } }';
    const [first, ...later] = await pieces(query, 'multipart/mixed');
    expect(first).toMatchObject({ data: { top250: { nodes: [] } }, hasNext: true });
    expect(later.length).toBeGreaterThan(0);
  });
});

test.each(['@ defer', '@,defer', '@#\n#\ndefer', '@\ufeffdefer'])(
  'a part deferred by %j comes later too',
  async (at) => {
    const query = `{ book(id: "6082808") { id ... ${at} { title } } }`;
    const { status, body } = await asked(query, 'application/json');
    expect([status, body]).toEqual([200, { data: { book: { id: 'Book:6082808', title: '百年孤独' } } }]);
    for (const accept of ['multipart/mixed', 'text/event-stream']) {
      const [first, later] = await pieces(query, accept);
      expect(first).toEqual({ data: { book: { id: 'Book:6082808' } }, hasNext: true });
      expect(later).toMatchObject({ incremental: [{ data: { title: '百年孤独' } }], hasNext: false });
    }
  },
);

describe('in the current format', () => {
  type Part = Record<'pending' | 'incremental' | 'completed', { id: string; errors?: { extensions: object }[] }[]> & {
    data?: object;
    hasNext: boolean;
  };
  const current = async (query: string, accept = 'multipart/mixed') => {
    const response = await fetch(`${cold.facade.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: `${accept};incrementalSpec=v0.2` },
      body: JSON.stringify({ query }),
    });
    expect(response.headers.get('content-type')).toMatch(/; incrementalSpec=v0\.2$/);
    return (await piecesOf(response)) as unknown as Part[];
  };

  test.each(['multipart/mixed', 'text/event-stream'])(
    'a deferred part is announced, comes and is complete: %s',
    async (accept) => {
      const [first, last] = await current(
        '{ book(id: "6082808") { title ... @defer(label: "more") { pages } } }',
        accept,
      );
      expect(first).toEqual({
        data: { book: { title: '百年孤独' } },
        pending: [{ id: '0', path: ['book'], label: 'more' }],
        hasNext: true,
      });
      expect(last).toEqual({
        incremental: [{ id: '0', data: { pages: '360' } }],
        completed: [{ id: '0' }],
        hasNext: false,
      });
    },
  );

  test('parts in parts are announced with what they are in, and each is completed once', async () => {
    const parts = await current(`{
      top250(first: 3) { nodes @stream(initialCount: 1, label: "list") { title ... @defer { summary } } }
      book(id: "6082808") { id ... @defer { title ... @defer { pages } annotations(first: 2) { nodes { id ... @defer(label: "in") { content } } } } }
    }`);
    const of = (name: 'pending' | 'incremental' | 'completed') => parts.flatMap((part) => part[name] ?? []);
    const ids = of('pending').map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(
      of('completed')
        .map(({ id }) => id)
        .sort(),
    ).toEqual([...ids].sort());
    expect(of('pending')).toHaveLength(8); // the list, a summary of each film, two of the book, one of each annotation
    const known = new Set<string>();
    for (const { pending = [], incremental = [], completed = [] } of parts) {
      for (const { id } of pending) known.add(id);
      for (const { id } of [...incremental, ...completed]) expect(known.has(id)).toBe(true);
      for (const { id } of completed) known.delete(id);
    }
    expect(parts[0]!.pending).toEqual(
      expect.arrayContaining([
        { id: expect.any(String), path: ['top250', 'nodes'], label: 'list' },
        { id: expect.any(String), path: ['top250', 'nodes', 0] },
      ]),
    );
    expect(parts.at(-1)!.hasNext).toBe(false);
  });

  test('what fails in a part is told with its code', async () => {
    const parts = await current(
      '{ book(id: "6082808") { id ... @defer { annotations(first: 500) { nodes { id } } } } }',
    );
    const errors = parts.flatMap(({ incremental = [], completed = [] }) =>
      [...incremental, ...completed].flatMap(({ errors = [] }) => errors),
    );
    expect(errors.map(({ extensions }) => extensions)).toEqual([
      expect.objectContaining({ code: 'BAD_USER_INPUT', coordinate: 'Book.annotations', help: expect.any(String) }),
    ]);
  });
});

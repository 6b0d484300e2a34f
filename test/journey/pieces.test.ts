import { beforeAll, describe, expect, test } from 'vitest';
import { journey } from '../support/journey.ts';
import { partsOf } from '../support/pieces.ts';

let cold: Awaited<ReturnType<typeof journey>>;
beforeAll(async () => {
  cold = await journey({ recordTtlSeconds: '0' });
});

/** The parts of an incremental response as they are sent. */
async function loadParts(query: string, accept: string): Promise<Record<string, unknown>[]> {
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
      : text
          .split(/\r\n--\w+(?:--)?\r\n/)
          .flatMap((part) => (part.includes('{') ? [part.slice(part.indexOf('{'))] : []));
  return parts.map((part) => JSON.parse(part.slice(0, part.lastIndexOf('}') + 1)) as Record<string, unknown>);
}

describe.each(['multipart/mixed', 'text/event-stream'])('over %s', (accept) => {
  test('a deferred part comes after the rest, and is requested separately', async () => {
    cold.proxy.start();
    const [first, ...later] = await loadParts(
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

  test('an error in a deferred part has its code', async () => {
    const [first, ...later] = await loadParts(
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

test('a deferred part with `if: false` is requested together with the rest', async () => {
  const { response, passed } = await cold.cost('{ book(id: "6082808") { title ... @defer(if: false) { publisher } } }');
  expect(response.data.book).toEqual({ title: '百年孤独', publisher: '南海出版公司' });
  expect(passed).toHaveLength(1);
});

/** The response to a document with this Accept header, and its upstream calls. */
async function execute(query: string, accept: string, variables: object = {}) {
  cold.proxy.start();
  const response = await fetch(`${cold.facade.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept, authorization: 'Bearer demo-alice' },
    body: JSON.stringify({ query, variables }),
  });
  const body = (await response.json()) as { data?: unknown; errors: [{ message: string; extensions: object }] };
  return { status: response.status, body, calls: cold.proxy.stop() };
}

describe('a client that accepts no incremental format gets a plain response', () => {
  test.each([
    'application/json',
    'application/graphql-response+json',
    'multipart/mixed;incrementalSpec=v9, application/json',
    'multipart/mixed;deferSpec=20990101, application/json',
  ])('with %s', async (accept) => {
    const query =
      '{ book(id: "6082808") { title ... @defer { summary ...T @defer } } top250(first: 3) { nodes @stream { title } } } fragment T on Book { pages }';
    const { status, body, calls } = await execute(query, accept);
    const whole = await execute(query.replaceAll(/@\w+/g, ''), accept);
    expect([status, body]).toEqual([200, whole.body]);
    expect(calls.map(({ line }) => line)).toEqual(whole.calls.map(({ line }) => line));
  });

  test('invalid directives are rejected all the same', async () => {
    const { status, body } = await execute(
      '{ top250 { nodes @stream(initialCount: -1) { title } } }',
      'application/json',
    );
    expect([status, body.errors[0].extensions]).toEqual([200, expect.objectContaining({ code: 'BAD_USER_INPUT' })]);
  });

  test('a mutation runs once', async () => {
    const write = 'mutation { likeNote(input: { id: "1" }) { note { id ... @defer { likesCount } } } }';
    const { calls } = await execute(write, 'application/json');
    expect(calls.filter(({ line }) => line.startsWith('POST'))).toHaveLength(1);
  });
});

describe('a request that accepts no supported format is rejected before anything runs', () => {
  test('only an unknown version of incremental delivery', async () => {
    const query = '{ book(id: "6082808") { title ... @defer { summary } } }';
    const { status, body, calls } = await execute(query, 'multipart/mixed;incrementalSpec=v9');
    expect([status, body.errors[0].extensions, calls]).toEqual([
      406,
      expect.objectContaining({ code: 'NOT_ACCEPTABLE' }),
      [],
    ]);
  });

  test('no response format at all', async () => {
    const write = 'mutation { likeNote(input: { id: "1" }) { note { id } } }';
    const { status, body, calls } = await execute(write, 'text/plain');
    expect([status, calls]).toEqual([406, []]);
    expect(body.errors[0]).toMatchObject({
      message: expect.stringContaining('application/json'),
      extensions: { code: 'NOT_ACCEPTABLE' },
    });
  });
});

describe('invalid arguments of @defer and @stream are rejected before anything runs', () => {
  const streamed = 'top250(first: 3) { nodes @stream(initialCount: $n, if: $on) { title } }';
  const deferred = 'likeNote(input: { id: "1" }) { ... @defer(if: $on) { note { id } } }';
  const put = 'query ($n: Int, $on: Boolean = true)';

  test.each<[string, string, object, string]>([
    ['a negative count', '{ top250(first: 3) { nodes @stream(initialCount: -1) { title } } }', {}, 'BAD_USER_INPUT'],
    ['a null count', '{ top250(first: 3) { nodes @stream(initialCount: null) { title } } }', {}, 'BAD_USER_INPUT'],
    ['a negative count in a variable', `${put} { ${streamed} }`, { n: -1 }, 'BAD_USER_INPUT'],
    ['a null count in a variable', `${put} { ${streamed} }`, { n: null }, 'BAD_USER_INPUT'],
    ['a negative count by default', `query ($n: Int = -2, $on: Boolean = true) { ${streamed} }`, {}, 'BAD_USER_INPUT'],
    [
      'a negative count in a fragment',
      '{ top250(first: 3) { ...F } } fragment F on SubjectConnection { nodes @stream(initialCount: -1) { title } }',
      {},
      'BAD_USER_INPUT',
    ],
    [
      'a negative count in introspection',
      '{ __schema { types @stream(initialCount: -1) { name } } }',
      {},
      'BAD_USER_INPUT',
    ],
    ['a null condition in a query', `${put} { ${streamed} }`, { n: 1, on: null }, 'BAD_USER_INPUT'],
    [
      'a null condition in a mutation',
      `mutation ($on: Boolean = true) { ${deferred} }`,
      { on: null },
      'BAD_USER_INPUT',
    ],
    [
      'a count beyond 32 bits',
      '{ top250 { nodes @stream(initialCount: 2147483648) { title } } }',
      {},
      'GRAPHQL_VALIDATION_FAILED',
    ],
    ['a string as count', '{ top250 { nodes @stream(initialCount: "1") { title } } }', {}, 'GRAPHQL_VALIDATION_FAILED'],
    ['a number as condition', '{ top250 { nodes @stream(if: 1) { title } } }', {}, 'GRAPHQL_VALIDATION_FAILED'],
    ['a null condition', '{ book(id: "1") { ... @defer(if: null) { title } } }', {}, 'GRAPHQL_VALIDATION_FAILED'],
    ['a null label', '{ book(id: "1") { ... @defer(label: null) { title } } }', {}, 'GRAPHQL_VALIDATION_FAILED'],
    [
      'a variable as label',
      'query ($l: String) { book(id: "1") { ... @defer(label: $l) { title } } }',
      { l: 'x' },
      'GRAPHQL_VALIDATION_FAILED',
    ],
    [
      'a duplicate label',
      '{ book(id: "1") { ... @defer(label: "a") { title } ... @defer(label: "a") { summary } } }',
      {},
      'GRAPHQL_VALIDATION_FAILED',
    ],
    // Ignored tokens may stand between `@` and the name.
    [
      'a duplicate label after ignored tokens',
      '{ book(id: "1") { ... @ defer(label: "a") { title } ... @,defer(label: "a") { summary } } }',
      {},
      'GRAPHQL_VALIDATION_FAILED',
    ],
    [
      'a deferred mutation',
      'mutation { ... @ #\n defer { likeNote(input: { id: "1" }) { note { id } } } }',
      {},
      'GRAPHQL_VALIDATION_FAILED',
    ],
  ])('%s', async (_, query, variables, code) => {
    const { status, body, calls } = await execute(
      query,
      'application/graphql-response+json, multipart/mixed',
      variables,
    );
    expect(calls).toEqual([]);
    expect(body).not.toHaveProperty('data');
    expect(body.errors.map(({ extensions }) => (extensions as { code: unknown }).code)).toEqual([code]);
    expect(status).toBe(422);
  });

  test('variables that are not given are valid, and have their defaults', async () => {
    const query =
      'query ($n: Int, $on: Boolean) { top250(first: 3) { nodes @stream(initialCount: $n, if: $on) { title } } }';
    const [first, ...later] = await loadParts(query, 'multipart/mixed');
    expect(first).toMatchObject({ data: { top250: { nodes: [] } }, hasNext: true });
    expect(later.length).toBeGreaterThan(0);
  });
});

test.each(['@ defer', '@,defer', '@#\n#\ndefer', '@\ufeffdefer'])(
  'a part deferred by %j comes later too',
  async (at) => {
    const query = `{ book(id: "6082808") { id ... ${at} { title } } }`;
    const { status, body } = await execute(query, 'application/json');
    expect([status, body]).toEqual([200, { data: { book: { id: 'Book:6082808', title: '百年孤独' } } }]);
    for (const accept of ['multipart/mixed', 'text/event-stream']) {
      const [first, later] = await loadParts(query, accept);
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
    return (await partsOf(response)) as unknown as Part[];
  };

  test.each(['multipart/mixed', 'text/event-stream'])(
    'a deferred part is announced, sent and completed: %s',
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
        extensions: { catalogCost: 'calls=2, most=2, saved=0' },
      });
    },
  );

  test('nested parts are announced with the part that contains them, and each is completed once', async () => {
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

  test('an error in a part has its code', async () => {
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

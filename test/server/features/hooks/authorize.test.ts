import { createHash } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import type { AskedOperation, FacadeOptions } from '../../../../facade.d.ts';
import { alice, bodyOf, embedded, json, post } from '../../../support/embedded.ts';
import { hasRedis, until } from '../../../support/redis.ts';
import { startRedis } from '../../../support/redis-process.ts';
import { service } from '../../../support/service.ts';

const origin = await service();
const address = 'http://host.example/graphql';
const friend = { 'x-program-user': 'friend' };
const stranger = { 'x-program-user': 'stranger' };

/** The program lets its friends run everything, and others nothing. */
const friendsOnly = ({ headers }: AskedOperation) => headers['x-program-user'] === 'friend' || 'for friends only';
const guarded = (more: Partial<FacadeOptions> = {}) => embedded(origin.url, { authorize: friendsOnly, ...more });

const query = '{ book(id: "6082808") { title } top250(first: 2) { nodes { title } } }';
const refusedBody = {
  errors: [
    {
      message: 'for friends only',
      extensions: {
        code: 'OPERATION_FORBIDDEN',
        advice: 'hide',
        help: '/docs/errors#OPERATION_FORBIDDEN',
      },
    },
  ],
};

describe('authorize', () => {
  test('is asked with the name, the fields and the price of the operation', async () => {
    const authorize = vi.fn((_: AskedOperation) => true);
    const facade = embedded(origin.url, { authorize });
    const text = `query Shown($id: ID!) { book(id: $id) { ...Card } node(id: "Book:1003078") { id } }
      query Other { viewer { isLoggedIn } } fragment Card on Book { title }`;
    const body = JSON.stringify({ query: text, operationName: 'Shown', variables: { id: '6082808' } });
    await facade.fetch(new Request(address, { method: 'POST', headers: { ...json, ...friend }, body }), {
      address: '192.0.2.7',
    });
    expect(authorize).toHaveBeenCalledTimes(1);
    const [asked] = authorize.mock.calls[0]!;
    expect(asked).toMatchObject({ name: 'Shown', type: 'query', address: '192.0.2.7', headers: friend });
    expect(asked.price).toEqual({ likely: 2, most: 2 });
    expect(asked.fields).toEqual(
      expect.arrayContaining(['Query.book', 'Book.title', 'Query.node', 'Node.id', 'Book.id']),
    );
    expect(asked.fields).not.toContain('Viewer.isLoggedIn');
  });

  test('refuses with its reason, the status 403 and no call', async () => {
    const onOperation = vi.fn();
    const facade = guarded({ onOperation });
    const response = await facade.fetch(new Request(address, post(query, stranger)));
    expect([response.status, await response.json()]).toEqual([403, refusedBody]);
    expect(onOperation).toHaveBeenCalledWith(
      expect.objectContaining({ calls: [], price: undefined, errors: ['OPERATION_FORBIDDEN'] }),
    );
    const mutation =
      'mutation { collectBook(input: { bookId: "1003078", status: READING, isPrivate: false }) { book { title } } }';
    expect(await (await facade.fetch(new Request(address, post(mutation, { ...stranger, ...alice })))).json()).toEqual(
      refusedBody,
    );
  });

  test('is seen by whoever runs the facade: what it refuses has its name in onOperation, and counts', async () => {
    const onOperation = vi.fn();
    const facade = guarded({ onOperation });
    await facade.fetch(new Request(address, post(`query Refused ${query}`, stranger)));
    expect(onOperation).toHaveBeenCalledWith(expect.objectContaining({ name: 'Refused', type: 'query' }));
    const metrics = await (await facade.fetch(new Request('http://host.example/metrics'))).text();
    expect(metrics).toContain('catalog_operations_total{type="query",outcome="errors"} 1\n');
    expect(metrics).toContain('catalog_errors_total{code="OPERATION_FORBIDDEN"} 1\n');
  });

  test.each([[false], [undefined], [null], [0], ['']])(
    'takes the answer %j for a refusal without a reason',
    async (answer) => {
      const facade = embedded(origin.url, { authorize: () => answer as boolean });
      expect((await bodyOf(await facade.fetch(new Request(address, post(query))))).errors).toMatchObject([
        { message: 'You may not run this operation.', extensions: { code: 'OPERATION_FORBIDDEN' } },
      ]);
    },
  );

  test('gets all fields each time, whatever it does with the list: a change of it is refused', async () => {
    const facade = embedded(origin.url, {
      logLevel: 'silent',
      authorize: ({ fields }) => (fields as string[]).splice(0).every((field) => !field.startsWith('Book.')),
    });
    for (const _ of ['first', 'second']) {
      const { data, errors } = await bodyOf(await facade.fetch(new Request(address, post(query))));
      expect([data, errors]).toMatchObject([undefined, [{ extensions: { code: 'INTERNAL_SERVER_ERROR' } }]]);
    }
  });

  test('is asked where the operation has no price, because it is too dear', async () => {
    const authorize = vi.fn((_: AskedOperation) => 'no');
    const facade = embedded(origin.url, { authorize, maxUpstreamCalls: 1 });
    const dear = '{ a: book(id: "1") { title } b: book(id: "2") { title } }';
    expect((await bodyOf(await facade.fetch(new Request(address, post(dear))))).errors).toMatchObject([
      { message: 'no' },
    ]);
    expect(authorize.mock.calls[0]![0].price).toBeUndefined();
  });
});

describe('what authorize has allowed to one caller and refuses to another', () => {
  test('does not cross by the records and responses in memory, the fast path or equal requests in flight', async () => {
    const facade = guarded();
    const ask = async (headers: object) => (await facade.fetch(new Request(address, post(query, headers)))).json();
    const whole = await ask(friend);
    expect(whole).toMatchObject({ data: { book: { title: expect.any(String) as string } } });
    expect(await ask(stranger)).toEqual(refusedBody);
    expect(await ask(friend)).toEqual(whole);
    expect(await Promise.all([ask(friend), ask(stranger), ask(friend), ask(stranger)])).toEqual([
      whole,
      refusedBody,
      whole,
      refusedBody,
    ]);
  });

  test('does not cross by an ETag, nor by a cache on the way', async () => {
    const facade = guarded();
    const get = async (headers: Record<string, string>) =>
      facade.fetch(new Request(`${address}?query=${encodeURIComponent(query)}`, { headers }));
    const first = await get(friend);
    const etag = first.headers.get('etag')!;
    expect([first.status, first.headers.get('cache-control')]).toEqual([200, 'private, no-cache']);
    expect((await get({ ...friend, 'if-none-match': etag })).status).toBe(304);
    const refused = await get({ ...stranger, 'if-none-match': etag });
    expect([refused.status, await refused.json()]).toEqual([403, refusedBody]);
    expect(refused.headers.get('cache-control')).toBe('no-store');
  });

  test('does not cross by a document that was registered by its hash', async () => {
    const facade = guarded();
    const persistedQuery = { version: 1, sha256Hash: createHash('sha256').update(query).digest('hex') };
    const send = async (headers: object, text?: string) => {
      const body = JSON.stringify({ query: text, extensions: { persistedQuery } });
      return (
        await facade.fetch(new Request(address, { method: 'POST', headers: { ...json, ...headers }, body }))
      ).json();
    };
    expect(await send(friend, query)).toHaveProperty('data');
    expect(await send(friend)).toHaveProperty('data');
    expect(await send(stranger)).toEqual(refusedBody);
  });

  test('does not cross by @defer, by execute, or by the response that is kept for a key', async () => {
    const facade = guarded();
    const deferred = '{ book(id: "6082808") { title ... @defer { annotations(first: 1) { totalCount } } } }';
    const accept = { accept: 'multipart/mixed' };
    expect(await (await facade.fetch(new Request(address, post(deferred, { ...friend, ...accept })))).text()).toContain(
      'title',
    );
    const refused = await (await facade.fetch(new Request(address, post(deferred, { ...stranger, ...accept })))).text();
    expect(refused).toContain('OPERATION_FORBIDDEN');
    expect(refused).not.toContain('title');
    expect(await facade.execute({ query, headers: friend })).toHaveProperty('data');
    expect(await facade.execute({ query, headers: stranger })).toEqual(refusedBody);
    const input = { title: 'kept', content: 'text', privacy: 'PRIVATE' };
    const write = 'mutation ($input: CreateNoteInput!) { createNote(input: $input) { note { title } } }';
    const create = (headers: Record<string, string>) =>
      facade.execute({
        query: write,
        variables: { input },
        token: 'demo-alice',
        idempotencyKey: 'authorize-1-of-16-characters',
        headers,
      });
    expect(await create(friend)).toEqual({ data: { createNote: { note: { title: 'kept' } } } });
    expect(await create(stranger)).toEqual(refusedBody);
  });

  test('does not cross by the tools of agents', async () => {
    const facade = guarded({ mcp: true, mcpFree: true });
    const call = async (headers: object) => {
      const body = JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'query', arguments: { query: '{ book(id: "6082808") { title } }' } },
      });
      const response = await facade.fetch(
        new Request('http://localhost/mcp', {
          method: 'POST',
          headers: { ...json, accept: 'application/json, text/event-stream', ...headers },
          body,
        }),
      );
      return response.text();
    };
    expect(await call(friend)).toContain('title');
    const refused = await call(stranger);
    expect(refused).toContain('for friends only');
    expect(refused).toContain('OPERATION_FORBIDDEN');
    expect(refused).not.toContain('\\"title\\"');
  });

  test.skipIf(!hasRedis)('does not cross by Redis', async () => {
    const { port } = await startRedis();
    const redisUrl = `redis://127.0.0.1:${port}`;
    const [one, two] = [guarded({ redisUrl }), guarded({ redisUrl })];
    const ask = async (facade: typeof one, headers: object) =>
      (await facade.fetch(new Request(address, post(query, headers)))).json();
    const whole = await ask(one, friend);
    expect(await ask(two, stranger)).toEqual(refusedBody);
    expect(await ask(two, friend)).toEqual(whole);
  });
});

describe('an authorize that fails', () => {
  const undecided = { errors: [{ extensions: { code: 'INTERNAL_SERVER_ERROR' } }] };

  test('refuses, and is logged without being shown', async () => {
    const lines: string[] = [];
    const facade = embedded(origin.url, {
      logLevel: 'error',
      onLog: (line) => void lines.push(line),
      authorize: () => {
        throw new Error('the rules are gone');
      },
    });
    const response = await facade.fetch(new Request(address, post(query)));
    const body = await bodyOf(response);
    expect(response.status).toBe(500);
    expect(body).toMatchObject(undecided);
    expect(body.data).toBeUndefined();
    expect(JSON.stringify(body)).not.toContain('the rules are gone');
    expect(lines.join('')).toContain('the rules are gone');
  });

  test('refuses at the deadline of the operation if it never answers, and its slot is free again', async () => {
    const facade = embedded(origin.url, {
      operationTimeoutMs: 100,
      maxRunningOperations: 1,
      authorize: ({ name }) => name !== 'Never' || new Promise<boolean>(() => undefined),
    });
    const body = await bodyOf(await facade.fetch(new Request(address, post(`query Never ${query}`))));
    expect(body).toMatchObject(undecided);
    // On a busy machine another one may miss the deadline too.
    await until(async () => !(await bodyOf(await facade.fetch(new Request(address, post(query))))).errors);
  });
});

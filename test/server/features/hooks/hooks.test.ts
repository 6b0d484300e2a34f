import { createServer } from 'node:http';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { AskedOperation, EndedOperation } from '../../../../facade.d.ts';
import { alice, bodyOf, embedded, post } from '../../../support/embedded.ts';
import { listen } from '../../../support/listen.ts';
import { until } from '../../../support/redis.ts';
import { service } from '../../../support/service.ts';

const origin = await service();
const address = 'http://host.example/graphql';

describe('onOperation', () => {
  test('gets what has ended, with its calls, its price and its errors', async () => {
    const ended: EndedOperation[] = [];
    const facade = embedded(origin.url, { onOperation: (operation) => void ended.push(operation) });
    const send = (query: string) => facade.fetch(new Request(address, post(query, { 'x-request-id': 'id-1' })));
    await send('query Book { book(id: "1003078") { title } }');
    await send('query Book { book(id: "1003078") { title } }');
    await send('{ book(id: "a b") { title } }');
    await send('{ unknown }');
    const stored = { isStored: true, calls: [], price: undefined };
    expect(ended).toMatchObject([
      {
        ...{ requestId: 'id-1', name: 'Book', type: 'query', isStored: false, errors: [] },
        calls: [{ service: 'catalog', path: '/v2/book/1003078', how: 'sent', status: 200 }],
        price: { likely: 1, most: 1 },
      },
      { name: 'Book', ...stored },
      { name: undefined, calls: [], errors: ['BAD_USER_INPUT'] },
      { type: undefined, errors: ['GRAPHQL_VALIDATION_FAILED'] },
    ]);
    expect(ended[0]!.ms).toBeGreaterThan(0);
  });

  test('has the price with the reads for an idempotency key, as authorize has it', async () => {
    const [ended, asked]: [EndedOperation[], AskedOperation[]] = [[], []];
    const facade = embedded(origin.url, {
      authorize: (operation) => asked.push(operation) > 0,
      onOperation: (operation) => void ended.push(operation),
    });
    const query = 'mutation { collectBook(input: { bookId: "1003078", status: WISH }) { created } }';
    for (const idempotencyKey of ['a-key-of-sixteen', undefined])
      await facade.execute({ query, token: 'demo-bob', ...(idempotencyKey && { idempotencyKey }) });
    const prices = ended.map(({ price }) => price!.most);
    expect(prices[0]! - prices[1]!).toBe(2);
    expect(asked.map(({ price }) => price!.most)).toEqual(prices);
  });

  test('gets a response in parts after the last one', async () => {
    const ended: EndedOperation[] = [];
    const facade = embedded(origin.url, { onOperation: (operation) => void ended.push(operation) });
    const query = '{ book(id: "1003078") { title ... @defer { annotations(first: 1) { totalCount } } } }';
    const response = await facade.fetch(new Request(address, post(query, { accept: 'multipart/mixed' })));
    await response.text();
    expect(ended).toMatchObject([{ calls: [{}, {}], price: { most: 2 } }]);
  });

  test('neither gets a token, nor changes the response by what it throws', async () => {
    const lines: string[] = [];
    const onOperation = vi
      .fn()
      .mockImplementationOnce(() => {
        throw new Error('thrown');
      })
      .mockImplementationOnce(() => Promise.reject(new Error('rejected')))
      .mockImplementation(() => new Promise(() => undefined));
    const facade = embedded(origin.url, { onOperation, logLevel: 'error', onLog: (line) => void lines.push(line) });
    for (let count = 0; count < 3; count++) {
      const response = await facade.fetch(new Request(address, post('{ viewer { isLoggedIn } }', alice)));
      expect(await bodyOf(response)).toEqual({ data: { viewer: { isLoggedIn: true } } });
    }
    await until(() => lines.length === 2);
    expect(lines.join('')).toMatch(/thrown[^]*rejected/);
    expect(JSON.stringify(onOperation.mock.calls)).not.toContain('demo-alice');
  });
});

describe('headersTo', () => {
  /** A service that notes the headers of its requests. */
  async function noting() {
    const seen: Record<string, unknown>[] = [];
    const server = createServer(({ headers }, response) => {
      seen.push(headers);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"1","title":"t"}');
    });
    onTestFinished(() => void server.close());
    return { url: await listen(server), seen };
  }
  const query = '{ book(id: "1") { title } }';

  test('adds headers to the calls of a service, beside those of the facade', async () => {
    const { url, seen } = await noting();
    const services: string[] = [];
    const facade = embedded(url, {
      headersTo: (service) => {
        services.push(service);
        return { 'X-Gateway-Key': `key of ${service}` };
      },
    });
    await facade.fetch(new Request(address, post(query, alice)));
    expect(seen).toMatchObject([{ 'x-gateway-key': 'key of catalog', authorization: 'Bearer demo-alice' }]);
    expect(services).toEqual(['catalog']);
  });

  test.each([
    ['authorization', { Authorization: 'Bearer other' }],
    ['host', { host: 'other.example' }],
    ['x-request-id', { 'X-Request-Id': '1' }],
    ['a line break', { 'x-key': 'a\r\nauthorization: Bearer other' }],
    ['a bad name', { 'x key': 'a' }],
    ['a value that is no text', { 'x-key': 7 }],
    ['a promise', Promise.resolve({ 'x-key': 'a' })],
    ['nothing', undefined],
    ['a header of an object without members', new Headers({ 'x-key': 'a' })],
    ['a header of a map', new Map([['x-key', 'a']])],
  ])('cannot set %s: the call fails, is not sent, and the log says why', async (_, headers) => {
    const { url, seen } = await noting();
    const lines: string[] = [];
    const facade = embedded(url, {
      headersTo: () => headers as unknown as Record<string, string>,
      logLevel: 'error',
      onLog: (line) => void lines.push(line),
    });
    const body = await bodyOf(await facade.fetch(new Request(address, post(query, alice))));
    expect(body).toMatchObject({ data: { book: null }, errors: [{ extensions: { code: 'INTERNAL_SERVER_ERROR' } }] });
    expect(JSON.stringify(body)).not.toContain('headersTo');
    expect(seen).toEqual([]);
    expect(lines.join('')).toContain('headersTo(\\"catalog\\") ');
    expect(lines.join('')).not.toContain('Bearer other');
  });

  test('that throws fails the call alone, and leaves nothing waiting', async () => {
    const { url } = await noting();
    let isBroken = true;
    const facade = embedded(url, {
      headersTo: () => {
        if (isBroken) throw new Error('no key');
        return {};
      },
    });
    const ask = async () => bodyOf(await facade.fetch(new Request(address, post(query))));
    expect(await ask()).toMatchObject({ data: { book: null }, errors: [{ path: ['book'] }] });
    isBroken = false;
    expect(await ask()).toEqual({ data: { book: { title: 't' } } });
  });
});

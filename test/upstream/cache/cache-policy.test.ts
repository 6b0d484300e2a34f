import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { catalogService } from '../../../src/graph/service/descriptor.ts';
import type { Endpoint } from '../../../src/api/endpoint.ts';
import { bookEndpoints } from '../../../src/api/book.ts';
import { readConfig } from '../../../src/config/read.ts';
import { createCancellationToken } from '../../../src/lib/cancellation.ts';
import { createUpstream } from '../../../src/upstream/client.ts';
import { type Behaviour, hostile, json } from '../../support/hostile.ts';
import { afterUse } from '../../support/hooks.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'] }));
afterEach(() => void vi.useRealTimers());
const later = (seconds: number) => vi.advanceTimersByTime(seconds * 1000);
const seconds = (until: number) => (until - performance.now()) / 1000;

const found = json(JSON.stringify({ id: '7', title: '活着', pages: '191' }));
const source = { endpoint: bookEndpoints.byId as Endpoint, input: (id: string) => ({ id }) };

/** Operations that share one facade's cache, and a service with this behaviour. */
async function service(behaviour: Behaviour) {
  const hostileService = await hostile(behaviour);
  const { url } = hostileService;
  const upstream = createUpstream(catalogService, {
    ...readConfig({ BASE_URL: url, EVENT_BASE_URL: url }),
    baseUrl: url,
    eventBaseUrl: url,
    readAttempts: 1,
  });
  afterUse(() => upstream.close());
  const open = (authorization?: string) =>
    upstream.forOperation({ authorization, address: '127.0.0.1', requestId: 'x' }, createCancellationToken());
  return { ...hostileService, open };
}

const title = (operation: ReturnType<Awaited<ReturnType<typeof service>>['open']>, key = '7', name = 'title') =>
  operation.records.load('Book', source, key, [name], {}, undefined);

test('the cache policy of an operation that has read nothing has the widest scope and no expiry', async () => {
  const { open } = await service(found);
  expect(open().cachePolicy).toMatchObject({ scope: 'public', freshUntil: Infinity });
  expect(open('Bearer alice').cachePolicy).toMatchObject({ scope: 'private', freshUntil: Infinity });
});

test('records from the cache keep their age in the policy of the next operation', async () => {
  const { open } = await service(found);
  const first = open();
  await title(first);
  expect([first.cachePolicy.scope, seconds(first.cachePolicy.freshUntil)]).toEqual(['public', 3600]);
  later(3000);
  const second = open('Bearer alice');
  await title(second);
  expect([second.cachePolicy.scope, seconds(second.cachePolicy.freshUntil)]).toEqual(['private', 600]);
});

test('the response of an operation that wrote is not cacheable, whatever else it read', async () => {
  const { open } = await service(found);
  const operation = open('Bearer alice');
  await operation.write(bookEndpoints.collect, { id: '7', status: 'read' }, undefined);
  await title(operation);
  expect(operation.cachePolicy.scope).toBe('none');
});

test.each<[string, Behaviour]>([
  ['403', json(JSON.stringify({ code: 1000, msg: 'x', request: 'x' }), 403)],
  ['503', json('', 503)],
  ['404', json(JSON.stringify({ code: 6000, msg: 'x', request: 'x' }), 404)],
])(
  'the response is not cacheable if the service failed (%s), even if a cached record was served instead',
  async (_, behaviour) => {
    const { open, behave } = await service(found);
    const earlier = open();
    await title(earlier);
    await earlier.responses.load(bookEndpoints.byIsbn, { isbn: '1' }, ['title'], undefined);
    later(3601);
    behave(behaviour);
    const [byId, byIsbn] = [open(), open()];
    await Promise.resolve(title(byId)).catch(() => undefined);
    await Promise.resolve(
      byIsbn.responses.load(bookEndpoints.byIsbn as Endpoint, { isbn: '1' }, ['title'], undefined),
    ).catch(() => undefined);
    expect([byId.cachePolicy.scope, byIsbn.cachePolicy.scope]).toEqual(['none', 'none']);
  },
);

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readConfig } from '../../src/config/read.ts';
import { catalogService } from '../../src/graph/service/descriptor.ts';
import { createLog } from '../../src/lib/log.ts';
import { createMetrics } from '../../src/server/observability/metrics.ts';
import { logOwnRefused, observeCalls } from '../../src/server/observability/watch.ts';
import { createUpstream } from '../../src/upstream/client.ts';
import { type Behaviour, hostile, json, titledX } from '../support/hostile.ts';
import { patient } from '../support/patient.ts';
import { codesIn, startFacade } from '../support/start-facade.ts';
import { failOnUnhandledErrors } from '../support/unhandled.ts';

failOnUnhandledErrors();

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());
const later = (seconds: number) => vi.advanceTimersByTime(seconds * 1000);

const rejection = (status: number, code: number): Behaviour =>
  json(JSON.stringify({ code, msg: 'x', request: 'GET /x' }), status);
const film = (id: number) => `{ subject(id: "${id}") { title } }`;
const book = (id: number) => `{ book(id: "${id}") { title } }`;
const chart = '{ top250(first: 1) { nodes { title } } }';
const answer: Behaviour = (socket, request) =>
  (request.path.includes('top250') ? json('{"subjects":[{"id":"1","title":"x"}],"total":1}') : titledX)(
    socket,
    request,
  );

/** A facade with this token, over a service that the test controls. */
async function withToken(token: string | undefined) {
  const service = await hostile(answer);
  const lines: { level: string; msg: string }[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line) as { level: string; msg: string });
  const env = token === undefined ? {} : { ACCESS_TOKEN: token, FILM_TIER: 'basic' };
  const own = { BASE_URL: service.url, EVENT_BASE_URL: service.url, ...env };
  const config = { ...readConfig(own), ...patient, baseUrl: service.url, eventBaseUrl: service.url };
  const log = createLog('info', { write });
  const metrics = createMetrics();
  const upstream = createUpstream(catalogService, config, {
    observe: observeCalls(metrics, log),
    onOwnRefused: logOwnRefused(log),
  });
  const facade = await startFacade({}, env, { upstream, metrics });
  return {
    ...facade,
    service,
    warnings: () => lines.filter(({ level }) => level === 'warn').map(({ msg }) => msg),
    refused: async () => /catalog_access_token_refused\{service="catalog"\} (\d)/.exec(await metrics.text())?.[1],
  };
}

const codes = [
  [401, 103, 'UNAUTHENTICATED'],
  [401, 106, 'UNAUTHENTICATED'],
  [403, 106, 'UNAUTHENTICATED'],
  [400, 123, 'UNAUTHENTICATED'],
  [200, 106, 'UNAUTHENTICATED'],
  [401, 7777, 'UNAUTHENTICATED'],
  [400, 104, 'UPSTREAM_REFUSED'],
  [400, 105, 'UPSTREAM_REFUSED'],
  [400, 131, 'UPSTREAM_REFUSED'],
] as const;

test.each(codes)(
  'copies outlive a refusal of the own token with %i and %i, which is told once, and shown until the service takes calls again',
  async (status, code, toClients) => {
    const { service, execute, warnings, refused } = await withToken('app');
    for (const document of [film(1), book(1), chart]) await execute(document);
    expect(await refused()).toBe('0');
    service.behave(rejection(status, code));
    for (const id of [2, 3, 4]) expect(codesIn(await execute(film(id)))).toEqual([toClients]);
    const calls = service.requests.length;
    const shown = { subject: { title: 'x' } };
    expect((await execute(film(1))).data).toEqual(shown);
    expect((await execute(book(1))).data).toEqual({ book: { title: 'x' } });
    expect((await execute(chart)).data).toEqual({ top250: { nodes: [{ title: 'x' }] } });
    expect(service.requests).toHaveLength(calls);
    later(3_700);
    expect(await execute(film(1))).toMatchObject({ data: shown, extensions: { stale: [{ path: ['subject'] }] } });
    expect(await refused()).toBe('1');
    expect(warnings()).toEqual([`catalog refuses ACCESS_TOKEN (${code})`]);

    service.behave(answer);
    expect((await execute(film(1))).extensions?.stale).toBeUndefined();
    expect(await refused()).toBe('0');
    expect(warnings()).toEqual([`catalog refuses ACCESS_TOKEN (${code})`, 'catalog accepts ACCESS_TOKEN again']);
  },
);

test('a service that takes no calls without a key is told of too, where there is no token', async () => {
  const { service, execute, warnings, refused } = await withToken(undefined);
  await execute(film(1));
  service.behave(rejection(400, 131));
  await execute(film(2));
  later(3_700);
  expect((await execute(film(1))).data).toEqual({ subject: { title: 'x' } });
  expect([await refused(), warnings()]).toEqual(['1', ['catalog refuses calls without a token (131)']]);
});

test('a refusal of a client’s token is no matter of the operator', async () => {
  const { service, execute, warnings, refused } = await withToken('app');
  service.behave(rejection(401, 106));
  await execute(film(1), { headers: { authorization: 'Bearer old' } });
  expect([await refused(), warnings()]).toEqual(['0', []]);
});

test.each([
  ['basic', {}, 40],
  ['advance', { languages: ['x'] }, 80],
])(
  'eighty films at once with a token of an unknown tier, which is %s, are refused by nobody but the facade',
  async (_, more, made) => {
    const env = { ACCESS_TOKEN: 'app', TRUSTED_PROXIES: '127.0.0.1' };
    const { books, execute } = await startFacade({ recordTtlSeconds: '600' }, env);
    let taken = 0;
    books.behave((socket, request) => {
      const id = /subject.(\d+)/.exec(request.path)![1];
      if (++taken > made) return rejection(429, 112)(socket, request);
      json(JSON.stringify({ id, title: 'x', ...more }))(socket, request);
    });
    const results = await Promise.all(
      Array.from({ length: 80 }, (_each, id) =>
        execute(film(id), { headers: { 'x-forwarded-for': `10.0.0.${id % 8}` } }),
      ),
    );
    expect(taken).toBe(made);
    expect(results.flatMap(codesIn)).toEqual(Array(80 - made).fill('RATE_LIMITED'));
  },
);

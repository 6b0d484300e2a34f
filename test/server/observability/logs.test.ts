import { hostname } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { catalogService } from '../../../src/graph/service/descriptor.ts';
import { readConfig } from '../../../src/config/read.ts';
import { version } from '../../../src/package.ts';
import { createLog } from '../../../src/lib/log.ts';
import { createMetrics } from '../../../src/server/observability/metrics.ts';
import { logPauses, observeCalls } from '../../../src/server/observability/watch.ts';
import { createUpstream } from '../../../src/upstream/client.ts';
import { startFacade } from '../../support/start-facade.ts';
import { type Behaviour, hostile, json, response } from '../../support/hostile.ts';
import { patient } from '../../support/patient.ts';
import { startProgram } from '../../support/program.ts';

/** A facade over a service with this behaviour, and the log lines at info. */
async function observed(behaviour: Behaviour) {
  const service = await hostile(behaviour);
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>);
  const address = { baseUrl: service.url, eventBaseUrl: service.url };
  const config = { ...readConfig({ RECORD_TTL_SECONDS: '0' }), ...patient, ...address };
  const [metrics, log] = [createMetrics(), createLog('info', { write })];
  const upstream = createUpstream(catalogService, config, {
    observe: observeCalls(metrics, log),
    onPause: logPauses(log),
  });
  return { ...(await startFacade({}, {}, { upstream })), lines };
}
const INFO = 'info';
const alice = { headers: { authorization: 'Bearer secret-token' } };

test('an invalid response is logged with its request and status, once a minute', async () => {
  const { execute, lines } = await observed(json('<html>'));
  for (const id of ['7', '8', '9']) await execute(`{ book(id: "${id}") { title } }`, alice);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({
    level: INFO,
    service: 'catalog',
    request: 'GET /v2/book/7',
    status: 200,
    error: 'UPSTREAM_INVALID_RESPONSE',
    msg: 'catalog sent a response that cannot be used',
  });
  expect(JSON.stringify(lines)).not.toContain('secret');
});

test.each([
  ['a page', json('<html>'), 200, 'not JSON'],
  ['a list without items', json('{"count":0}'), 200, 'the response has no list `books`; see `list`'],
  ['a text', json('"books"'), 200, 'not what was requested'],
  ['a body that is too large', json(`{"books":["${'x'.repeat(11_000_000)}"]}`), undefined, /^a body over \d+ bytes$/],
])('the log says why a response cannot be used, which clients are not told: %s', async (_, sent, status, reason) => {
  const { execute, lines } = await observed(sent);
  const { errors } = await execute('{ searchBooks(query: "a") { nodes { title } } }', alice);
  const extensions = { code: 'UPSTREAM_INVALID_RESPONSE', upstream: { service: 'catalog' } };
  expect(errors).toMatchObject([{ extensions }]);
  expect(JSON.stringify(errors)).not.toContain('reason');
  expect(lines).toMatchObject([{ error: extensions.code, reason: expect.stringMatching(reason) as string }]);
  expect(lines[0]!.status).toBe(status);
});

test('a text with a broken character is a warning, once a minute', async () => {
  const body = Buffer.concat([
    Buffer.from('{"id":"7","title":"活'),
    Buffer.from('着').subarray(0, 2),
    Buffer.from('"}'),
  ]);
  const { execute, lines } = await observed(response(200, 'application/json', body));
  for (const _ of ['first', 'second'])
    expect((await execute('{ book(id: "7") { title } }', alice)).data).toEqual({ book: { title: '活\ufffd' } });
  expect(lines).toMatchObject([{ level: 'warn', service: 'catalog', request: 'GET /v2/book/7' }]);
});

test('rejections are logged, each status once a minute, and absent records are not', async () => {
  const statuses: Record<string, string> = { 1: '{"code":1000}', 2: '{"code":1001}', 3: '{"code":6000}' };
  const { execute, lines } = await observed((socket, request) => {
    const id = request.path.replace(/.*book.(\d).*/, '$1');
    return json(statuses[id]!, { 1: 403, 2: 400, 3: 404 }[id])(socket, request);
  });
  for (const id of ['1', '1', '2', '3']) await execute(`{ book(id: "${id}") { title } }`, alice);
  expect(lines.map(({ level, request, status, code, msg }) => [level, request, status, code, msg])).toEqual([
    [INFO, 'GET /v2/book/1', 403, 1000, 'catalog rejected a request'],
    [INFO, 'GET /v2/book/2', 400, 1001, 'catalog rejected a request'],
  ]);
});

test('a pause that a service asks for is logged once, however many calls it stops, and counted', async () => {
  const busy = response(503, 'text/html', Buffer.from('<html>'), { 'retry-after': '30' });
  const { execute, lines } = await observed(busy);
  for (const id of ['7', '8', '9']) await execute(`{ book(id: "${id}") { title } }`);
  expect(lines.filter(({ msg }) => /pause/.test(String(msg)))).toMatchObject([
    {
      level: 'warn',
      service: 'catalog',
      endpoint: 'GET /v2/book/:id',
      paused: 'endpoint',
      seconds: 30,
      msg: 'catalog asks for a pause of its calls',
    },
  ]);
});

test('pauses of clients, whose tokens anybody can make up, are no warning', async () => {
  const { execute, lines } = await observed(json('{"code":112,"msg":"x","request":"x"}', 429));
  for (const token of ['one', 'two'])
    await execute('{ book(id: "7") { title } }', { headers: { authorization: `Bearer ${token}` } });
  expect(lines.filter(({ level }) => level === 'warn')).toEqual([]);
});

test('a slow operation is logged with its name and calls, and a quick one is not', async () => {
  const slow: Behaviour = async (socket, request) => {
    await setTimeout(20);
    json('{"id":"7","title":"x"}')(socket, request);
  };
  for (const [threshold, count] of [
    ['10', 1],
    ['600000', 0],
    ['0', 0],
  ] as const) {
    const { books, execute, logged } = await startFacade({ slowOperationMs: threshold });
    books.behave(slow);
    await execute('query Shelf { book(id: "7") { title } }', alice);
    const lines = logged.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toHaveLength(count);
    if (count === 0) continue;
    const { msg, operation, calls, slowest } = lines[0]!;
    expect([msg, operation, calls, slowest]).toEqual(['slow operation', 'Shelf', 1, 'GET /v2/book/7']);
    expect(lines[0]!.ms).toBeGreaterThanOrEqual(19);
  }
});

test('a slow operation that ends because its parts are too large is logged', async () => {
  const { books, url, logged } = await startFacade({ slowOperationMs: '10', maxResponseBytes: '1000' });
  books.behave(async (socket, request) => {
    await setTimeout(20);
    json(JSON.stringify({ id: '7', title: 'x'.repeat(2_000) }))(socket, request);
  });
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'multipart/mixed' },
    body: JSON.stringify({ query: '{ book(id: "7") { id ... @defer { title } } }' }),
  });
  expect(await response.text()).toContain('ANSWER_TOO_LARGE');
  expect(logged.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(['slow operation']);
});

test('the start and the end of the program are logged', async () => {
  const upstream = 'http://127.0.0.1:1';
  const env = { PORT: '0', BASE_URL: upstream, EVENT_BASE_URL: upstream, LOG_LEVEL: 'info', MAX_DEPHT: '3' };
  const program = await startProgram(env);
  expect(JSON.parse(program.banner)).toMatchObject({
    level: INFO,
    hostname: hostname(),
    version,
    catalog: upstream,
    events: upstream,
    msg: expect.stringMatching(/^ready: .* over catalog http.* and events http/) as string,
  });
  const { code, err } = await program.stop();
  const lines = err
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect([code, ...lines.map(({ level, msg }) => [level, msg])]).toEqual([
    0,
    ['warn', 'MAX_DEPHT is not a setting and has no effect. Did you mean MAX_DEPTH?'],
    [INFO, (JSON.parse(program.banner) as { msg: string }).msg],
    [INFO, 'stopping: running requests are finished'],
    [INFO, 'stopped'],
  ]);
  expect(new Set(lines.map((line) => line.hostname))).toEqual(new Set([hostname()]));
});

test('no text that a client chooses controls the terminal on which a log is read', async () => {
  const lines: string[] = [];
  const log = createLog(INFO, { write: (line: string) => void lines.push(line) });
  const client = '\u001b[2J\u009b2J\u007f\u202e\nname';
  log.info({ client }, 'operation');
  expect(lines.join('')).not.toMatch(/[\0-\x09\v-\x1f\x7f-\x9f\u202e]/);
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([{ client }]);
  expect(lines.join('').split('\n')).toHaveLength(2);
});

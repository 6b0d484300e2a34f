import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { OperationTypeNode } from 'graphql';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { catalogService } from '../../../../src/graph/service/descriptor.ts';
import { readConfig } from '../../../../src/config/read.ts';
import { sha256Of } from '../../../../src/config/documents/trusted-documents.ts';
import { temporaryDirectory } from '../../../support/service.ts';
import { readTabs } from '../../../../src/server/graphql/documents/tabs.ts';
import { createMetrics } from '../../../../src/server/observability/metrics.ts';
import { createTracing, operationSpans } from '../../../../src/server/features/tracing/tracing.ts';
import { observeCalls } from '../../../../src/server/observability/watch.ts';
import { addTraceHeaders, parseTraceHeaders } from '../../../../src/lib/trace-context.ts';
import { createUpstream } from '../../../../src/upstream/client.ts';
import { startFacade } from '../../../support/start-facade.ts';
import { hostile, json, reset, until } from '../../../support/hostile.ts';
import { patient } from '../../../support/patient.ts';
import { listen } from '../../../support/listen.ts';

const parent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

interface ShownSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[];
  status: { code?: number };
}
interface Batch {
  resourceSpans: { resource: { attributes: object[] }; scopeSpans: { spans: ShownSpan[] }[] }[];
}

const SHELF = 'query Shelf { book(id: 7) { title } }';

/** A collector that records what it receives. */
async function collector(status = 200) {
  const batches: { path: string; headers: Record<string, unknown>; body: Batch }[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += String(chunk)));
    request.on('end', () => {
      batches.push({ path: request.url ?? '', headers: request.headers, body: JSON.parse(text) as Batch });
      response.writeHead(status).end('{}');
    });
  });
  return { url: await listen(server), batches };
}

test("operations and their upstream calls are spans of the client's trace, which is passed on to the upstream", async () => {
  const { url, batches } = await collector();
  const service = await hostile(json('{"id":"7","title":"x"}'));
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b,x-other=1',
    OTEL_SERVICE_NAME: 'graph',
  };
  const config = { ...readConfig(env), ...patient, baseUrl: service.url, eventBaseUrl: service.url };
  const upstream = createUpstream(catalogService, config, {
    observe: observeCalls(createMetrics(), pino({ level: 'silent' })),
  });
  const { execute, facade } = await startFacade({}, env, { upstream });
  const headers = { traceparent: parent, tracestate: 'a=1', authorization: 'Bearer secret-token' };
  await execute(SHELF, { headers });
  service.behave(reset);
  await execute('{ book(id: 8) { title } }', { headers: { traceparent: parent.replace(/01$/, '00') } }); // not sampled
  await execute('{ book(id: 9) { title } }');
  await facade.end();

  const [first] = batches;
  if (!first) throw new Error('no spans came');
  const { path, headers: sent, body } = first;
  expect([path, sent['x-key'], sent['x-other'], sent['content-type']]).toEqual([
    '/v1/traces',
    'a b',
    '1',
    'application/json',
  ]);
  const [resource] = body.resourceSpans;
  expect(resource?.resource.attributes).toEqual([{ key: 'service.name', value: { stringValue: 'graph' } }]);
  // On a slow machine they come in several batches.
  const spans = batches.flatMap((batch) => batch.body.resourceSpans[0]?.scopeSpans[0]?.spans ?? []);
  expect(spans.map(({ name, kind }) => [name, kind])).toEqual([
    ['GET', 3],
    ['query', 2],
    ['GET', 3],
    ['query', 2],
  ]);
  const [call, operation, failedCall, failedOperation] = spans;
  expect([call?.traceId, operation?.traceId]).toEqual(Array(2).fill('4bf92f3577b34da6a3ce929d0e0e4736'));
  expect(operation?.parentSpanId).toBe('00f067aa0ba902b7');
  expect(call?.parentSpanId).toBe(operation?.spanId);
  expect(BigInt(call?.endTimeUnixNano ?? 0)).toBeGreaterThanOrEqual(BigInt(call?.startTimeUnixNano ?? 1));
  expect(call?.attributes).toContainEqual({ key: 'http.response.status_code', value: { intValue: 200 } });
  expect(call?.attributes).toContainEqual({ key: 'url.template', value: { stringValue: '/v2/book/:id' } });
  expect(operation?.attributes).toEqual([
    { key: 'graphql.operation.type', value: { stringValue: 'query' } },
    { key: 'graphql.operation.name', value: { stringValue: 'Shelf' } },
    { key: 'graphql.document.hash', value: { stringValue: `sha256:${sha256Of(SHELF)}` } },
  ]);
  expect(service.requests[0]?.headers).toMatchObject({
    traceparent: `00-4bf92f3577b34da6a3ce929d0e0e4736-${call?.spanId}-01`,
    tracestate: 'a=1',
  });
  expect(failedOperation?.traceId).not.toBe(operation?.traceId);
  expect(failedOperation).not.toHaveProperty('parentSpanId');
  expect([failedCall?.status.code, failedOperation?.status.code]).toEqual([2, 2]);
  expect(failedCall?.attributes).toContainEqual({ key: 'error.type', value: { stringValue: 'UPSTREAM_UNAVAILABLE' } });
  expect(service.requests[1]?.headers.traceparent).toMatch(/^00-4bf92f3577b34da6a3ce929d0e0e4736-[\da-f]{16}-00$/);
  expect(service.requests.at(-1)?.headers.traceparent).toMatch(/^00-(?!4bf92f)[\da-f]{32}-[\da-f]{16}-01$/); // started by the facade
  expect(JSON.stringify(batches)).not.toContain('secret-token');
});

test('the span of a trusted document has its id', async () => {
  const { url, batches } = await collector();
  const manifest = join(temporaryDirectory(), 'manifest.json');
  writeFileSync(manifest, JSON.stringify({ 'shelf-1': SHELF }));
  const env = { PERSISTED_OPERATIONS: manifest, OTEL_EXPORTER_OTLP_ENDPOINT: url };
  const { books, facade } = await startFacade({}, env);
  books.behave(json('{"id":"7","title":"x"}'));
  for (const body of [{ documentId: 'shelf-1' }, { query: '{ __typename }' }])
    await fetch(`${facade.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  await facade.end();
  const spans = batches.flatMap((batch) => batch.body.resourceSpans[0]?.scopeSpans[0]?.spans ?? []);
  const ids = spans.flatMap(({ attributes }) => attributes.filter(({ key }) => key === 'graphql.document.id'));
  expect(ids).toEqual([{ key: 'graphql.document.id', value: { stringValue: 'shelf-1' } }]);
});

test('an unreachable or failing collector causes nothing but a log line', async () => {
  const unreachable = await hostile(reset);
  const failing = await collector(400);
  for (const url of [unreachable.url, failing.url]) {
    const lines: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
    const tracing = createTracing(readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: url }), log);
    await tracing.loading;
    const { startSpan } = operationSpans(tracing, () => undefined);
    for (let n = 0; n < 10; n++) startSpan(OperationTypeNode.QUERY, undefined, performance.now())?.span.end();
    await tracing.close();
    expect(lines.join('')).toMatch(/spans could not be exported/);
  }
});

test('without a collector and a tracer provider there are no spans', () => {
  const tracing = createTracing(readConfig({}), pino({ level: 'silent' }));
  expect(tracing.loading).toBeUndefined();
  const { startSpan } = operationSpans(tracing, () => undefined);
  expect(startSpan(OperationTypeNode.QUERY, undefined, performance.now())).toBeUndefined();
});

test.each([
  [parent, true],
  [parent.replace('00-', '01-') + '-extra', true],
  [parent.replace('00-', '01-'), true],
  [parent.replace('00-', 'fe-') + '-', true],
  [parent.replace('00-', '01-') + 'extra', false],
  [`${parent}-extra`, false],
  [`${parent}-`, false],
  [`${parent}, ${parent}`, false],
  [undefined, false],
  ['', false],
  [parent.replace('00-', 'ff-'), false],
  [parent.toUpperCase(), false],
  [parent.replace(/4b\w{30}/, '0'.repeat(32)), false],
  [parent.replace('00f067aa0ba902b7', '0'.repeat(16)), false],
  [`${parent} `, false],
  [parent.slice(0, -1), false],
])('whether the traceparent %s is accepted: %s', (header, isAccepted) => {
  const span = parseTraceHeaders(header, 'a=1\r\nx: y');
  expect(span?.traceId).toBe(isAccepted ? '4bf92f3577b34da6a3ce929d0e0e4736' : undefined);
  if (!span) return;
  const headers: string[] = [];
  addTraceHeaders(span, headers);
  // A tracestate that would break the header is dropped.
  expect(headers).toEqual(['traceparent', parent]);
});

test("without a collector the client's trace is passed on, and none is started", async () => {
  const { books, execute } = await startFacade();
  books.behave(json('{"id":"7","title":"x"}'));
  await execute('{ book(id: 7) { title } }', { headers: { traceparent: parent, tracestate: 'a=1' } });
  await execute('{ book(id: 7) { title } }');
  const [continued, untraced] = books.requests.map(({ headers }) => headers);
  expect(continued?.traceparent).toMatch(/^00-4bf92f3577b34da6a3ce929d0e0e4736-[\da-f]{16}-01$/);
  expect(continued?.tracestate).toBe('a=1');
  expect(untraced).not.toHaveProperty('traceparent');
});

test('metrics count upstream calls by the path template of their endpoint, and the calls saved by caches', async () => {
  const service = await hostile((socket, upstreamRequest) =>
    json(`{"id":"${/book\/(\w+)/.exec(upstreamRequest.path)?.[1]}","title":"x"}`)(socket, upstreamRequest),
  );
  const metrics = createMetrics();
  const address = { baseUrl: service.url, eventBaseUrl: service.url };
  const config = { ...readConfig({ RECORD_TTL_SECONDS: '60' }), ...patient, ...address };
  const upstream = createUpstream(catalogService, config, {
    observe: observeCalls(metrics, pino({ level: 'silent' })),
  });
  const { execute, facade } = await startFacade({}, {}, { upstream, metrics });
  for (const id of ['7', '8', '7']) await execute(`{ book(id: "${id}") { title } }`);
  await execute('{ again: book(id: "7") { title } }');
  await until(() => service.requests.length === 2);
  const text = await (await fetch(`${facade.url}/metrics`)).text();
  expect(text).toContain('catalog_upstream_calls_total{service="catalog",endpoint="GET /v2/book/:id",outcome="200"} 2');
  expect(text).toContain('catalog_upstream_seconds_count{service="catalog",endpoint="GET /v2/book/:id"} 2');
  expect(text).toContain('catalog_cache_hits_total{service="catalog",endpoint="GET /v2/book/:id",how="cached"} 1');
  expect(text).toContain('catalog_response_cache_hits_total 1');
  expect(text).toContain('catalog_upstream_calls_running{service="catalog"} 0');
  expect(text).toContain('catalog_upstream_up{service="events"} 1');

  service.behave(json('{"msg":"rate_limit_exceeded2","code":112,"request":"x"}', 429));
  for (const id of ['9', '10'])
    await execute(`{ book(id: "${id}") { title } }`, { headers: { authorization: 'Bearer a' } });
  const after = await (await fetch(`${facade.url}/metrics`)).text();
  expect(after).toContain('outcome="429"} 1');
  expect(after).toContain('catalog_rate_limited_total{service="catalog",endpoint="GET /v2/book/:id"} 1');
  expect(after).not.toMatch(/book\/\d/);
});

test('operations are counted by name only if the name is in the manifest or in operations/, never by a name that a client chose', async () => {
  const folder = join(import.meta.dirname, '../../../../operations');
  const { books, execute, facade } = await startFacade({}, {}, { tabs: readTabs(folder) });
  books.behave(json('{"id":"7","title":"x"}'));
  for (const name of ['Book', 'Book', 'Chosen']) await execute(`query ${name} { book(id: 7) { title } }`);
  const text = await (await fetch(`${facade.url}/metrics`)).text();
  expect(text).toContain('catalog_named_operations_total{operation="Book",outcome="ok"} 2');
  expect(text).toMatch(/catalog_named_operation_duration_seconds_sum\{operation="Book"\} 0\.\d+/);
  expect(text).not.toContain('Chosen');
});

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { catalogService } from '../../../src/graph/service/descriptor.ts';
import { readConfig } from '../../../src/config/read.ts';
import { schema } from '../../../src/graph/schema.ts';
import { createMetrics } from '../../../src/server/observability/metrics.ts';
import { createPipeline } from '../../../src/server/graphql/pipeline.ts';
import { createCancellationToken } from '../../../src/lib/cancellation.ts';
import { createUpstream } from '../../../src/upstream/client.ts';

setFlagsFromString('--expose_gc');
const collect = runInNewContext('gc') as () => void;
const heapBytes = () => {
  collect();
  return process.memoryUsage().heapUsed;
};

function createExecute(): (query: string, variables?: Record<string, unknown>) => Promise<unknown> {
  const unusedUrl = 'http://127.0.0.1:9';
  const config = readConfig({ BASE_URL: unusedUrl, EVENT_BASE_URL: unusedUrl });
  const upstream = createUpstream(catalogService, { ...config, baseUrl: unusedUrl, eventBaseUrl: unusedUrl });
  onTestFinished(async () => upstream.close());
  const parts = { schema, config, upstream, log: pino({ level: 'silent' }), metrics: createMetrics() };
  const pipeline = createPipeline(parts);
  const requestContext = { authorization: undefined, explain: undefined, address: '127.0.0.1', requestId: 'x' };
  return async (query, variables = {}) => {
    const prepared = pipeline.prepare(query, undefined);
    const cancellation = createCancellationToken();
    const { result } = await pipeline.run(prepared, { ...requestContext, variables, cancellation });
    return 'errors' in result ? result.errors?.[0]?.extensions.code : undefined;
  };
}

/** A document of one kilobyte whose plan is hundreds of kilobytes. */
const costly = (name: string) => `query ${name}($n: Int) {
  ${Array.from({ length: 8 }, (_, at) => `a${at}: top250(first: 100, offset: ${at}) { nodes { ...F } }`).join(' ')}
}
fragment F on Subject { title year id casts { ...P } directors { ...P } writers { ...P } }
fragment P on Celebrity { id name nameEn webUrl gender birthday summary works(first: $n) {
  nodes { roles subject { id title year casts { id name } directors { id name } } } } }`;

test('requests that cost too many calls leave nothing in memory, whatever their documents and variables', async () => {
  const execute = createExecute();
  await execute(costly('first'), { n: 1 });
  const before = heapBytes();
  for (let document = 0; document < 40; document++)
    for (let n = 1; n <= 8; n++) expect(await execute(costly(`Q${document}`), { n })).toBe('TOO_MANY_CALLS');
  expect(heapBytes() - before).toBeLessThan(25_000_000);
}, 120_000);

test('a long cursor is not part of a cached plan', async () => {
  const execute = createExecute();
  const query = 'query ($after: String) { subject(id: "1") { photos(after: $after) { nodes { id } } } }';
  await execute(query, { after: 'x' });
  const before = heapBytes();
  for (let at = 0; at < 30; at++) await execute(query, { after: `${at}`.repeat(500_000) });
  expect(heapBytes() - before).toBeLessThan(10_000_000);
}, 120_000);

test('invalid documents are cached with their errors only, not with their syntax trees', async () => {
  const execute = createExecute();
  const wrong = (name: string) =>
    `query ${name}(${Array.from({ length: 700 }, (_, at) => `$v${at}: ID!`).join(' ')}) { book(id: 1) { ${'a '.repeat(300)} } }`;
  await execute(wrong('first'));
  const before = heapBytes();
  for (let at = 0; at < 100; at++) expect(await execute(wrong(`Q${at}`))).toBe('GRAPHQL_VALIDATION_FAILED');
  expect(heapBytes() - before).toBeLessThan(30_000_000);
}, 120_000);

test('the cache of valid documents is bounded by the size of their syntax trees', async () => {
  const execute = createExecute();
  // As many small tokens as a document may have: 1 MB as a tree, 8 kB as text.
  const dense = (name: string) => `query ${name}($v: [ID!]! = [${'1 '.repeat(3_950)}]) { nodes(ids: $v) { id } }`;
  await execute(dense('first'));
  const before = heapBytes();
  for (let at = 0; at < 150; at++) expect(await execute(dense(`Q${at}`))).toBe('BAD_USER_INPUT');
  expect(heapBytes() - before).toBeLessThan(90_000_000);
}, 120_000);

test('a cached plan is evicted together with its document', async () => {
  const execute = createExecute();
  const dense = (name: string) => `query ${name} { nodes(ids: [${'1 '.repeat(3_950)}]) { id } }`;
  await execute(dense('first'));
  const before = heapBytes();
  for (let at = 0; at < 200; at++) expect(await execute(dense(`Q${at}`))).toBe('BAD_USER_INPUT');
  expect(heapBytes() - before).toBeLessThan(90_000_000);
}, 120_000);

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../../src/config/read.ts';
import { schema } from '../../../src/graph/schema.ts';
import { createMetrics } from '../../../src/server/observability/metrics.ts';
import { createPipeline } from '../../../src/server/graphql/answer.ts';
import { createCancellationToken } from '../../../src/lib/cancellation.ts';
import { createUpstream } from '../../../src/upstream/client.ts';

setFlagsFromString('--expose_gc');
const collect = runInNewContext('gc') as () => void;
const heapBytes = () => {
  collect();
  return process.memoryUsage().heapUsed;
};

function asker(): (query: string, variables?: Record<string, unknown>) => Promise<unknown> {
  const nowhere = 'http://127.0.0.1:9';
  const config = readConfig({ BASE_URL: nowhere, EVENT_BASE_URL: nowhere });
  const upstream = createUpstream({ ...config, baseUrl: nowhere, eventBaseUrl: nowhere });
  onTestFinished(async () => upstream.close());
  const parts = { schema, config, upstream, log: pino({ level: 'silent' }), metrics: createMetrics() };
  const pipeline = createPipeline(parts);
  const caller = { authorization: undefined, explain: undefined, address: '127.0.0.1', requestId: 'x' };
  return async (query, variables = {}) => {
    const prepared = pipeline.prepare(query, undefined);
    const result = await pipeline.answer(prepared, variables, caller, createCancellationToken());
    return 'errors' in result ? result.errors?.[0]?.extensions.code : undefined;
  };
}

/** A kilobyte whose plan is one of hundreds. */
const costly = (name: string) => `query ${name}($n: Int) {
  ${Array.from({ length: 8 }, (_, at) => `a${at}: top250(first: 100, offset: ${at}) { nodes { ...F } }`).join(' ')}
}
fragment F on Subject { title year id casts { ...P } directors { ...P } writers { ...P } }
fragment P on Celebrity { id name nameEn webUrl gender birthday summary works(first: $n) {
  nodes { roles subject { id title year casts { id name } directors { id name } } } } }`;

test('requests that are refused as too costly leave nothing behind, whatever their documents and variables', async () => {
  const ask = asker();
  await ask(costly('first'), { n: 1 });
  const before = heapBytes();
  for (let document = 0; document < 40; document++)
    for (let n = 1; n <= 8; n++) expect(await ask(costly(`Q${document}`), { n })).toBe('TOO_MANY_CALLS');
  expect(heapBytes() - before).toBeLessThan(25_000_000);
}, 120_000);

test('a long cursor is no part of what is kept', async () => {
  const ask = asker();
  const query = 'query ($after: String) { subject(id: "1") { photos(after: $after) { nodes { id } } } }';
  await ask(query, { after: 'x' });
  const before = heapBytes();
  for (let at = 0; at < 30; at++) await ask(query, { after: `${at}`.repeat(500_000) });
  expect(heapBytes() - before).toBeLessThan(10_000_000);
}, 120_000);

test('documents that are wrong are kept for what their errors say, not for their trees', async () => {
  const ask = asker();
  const wrong = (name: string) =>
    `query ${name}(${Array.from({ length: 700 }, (_, at) => `$v${at}: ID!`).join(' ')}) { book(id: 1) { ${'a '.repeat(300)} } }`;
  await ask(wrong('first'));
  const before = heapBytes();
  for (let at = 0; at < 100; at++) expect(await ask(wrong(`Q${at}`))).toBe('GRAPHQL_VALIDATION_FAILED');
  expect(heapBytes() - before).toBeLessThan(30_000_000);
}, 120_000);

test('documents that could be run are kept for as much as their trees take', async () => {
  const ask = asker();
  // As many small tokens as a document may have: 1 MB each as a tree, 8 kB as a text.
  const dense = (name: string) => `query ${name}($v: [ID!]! = [${'1 '.repeat(3_950)}]) { nodes(ids: $v) { id } }`;
  await ask(dense('first'));
  const before = heapBytes();
  for (let at = 0; at < 150; at++) expect(await ask(dense(`Q${at}`))).toBe('BAD_USER_INPUT');
  expect(heapBytes() - before).toBeLessThan(90_000_000);
}, 120_000);

test('a plan is kept no longer than its document, whose tree it holds', async () => {
  const ask = asker();
  const dense = (name: string) => `query ${name} { nodes(ids: [${'1 '.repeat(3_950)}]) { id } }`;
  await ask(dense('first'));
  const before = heapBytes();
  for (let at = 0; at < 200; at++) expect(await ask(dense(`Q${at}`))).toBe('BAD_USER_INPUT');
  expect(heapBytes() - before).toBeLessThan(90_000_000);
}, 120_000);

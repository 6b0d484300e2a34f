import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../../src/config/read.ts';
import { schema } from '../../../src/graph/schema.ts';
import { createMetrics } from '../../../src/server/observability/metrics.ts';
import { createPipeline } from '../../../src/server/graphql/answer.ts';
import { createCancellationToken, cancel } from '../../../src/lib/cancellation.ts';
import { createUpstream } from '../../../src/upstream/client.ts';

test('cancelling an operation releases its slot, even if its incremental result was never read', async () => {
  const unusedUrl = 'http://127.0.0.1:9';
  const config = readConfig({ BASE_URL: unusedUrl, EVENT_BASE_URL: unusedUrl });
  const upstream = createUpstream({ ...config, baseUrl: unusedUrl, eventBaseUrl: unusedUrl });
  onTestFinished(async () => upstream.close());
  const parts = { schema, config, upstream, log: pino({ level: 'silent' }), metrics: createMetrics() };
  const pipeline = createPipeline(parts);
  const requestContext = { authorization: undefined, explain: undefined, address: '127.0.0.1', requestId: 'x' };
  const cancellation = createCancellationToken();
  const query = '{ viewer { isLoggedIn ... @defer { filmTier } } }';
  const prepared = pipeline.prepare(query, undefined);
  const result = await pipeline.answer(prepared, {}, { ...requestContext, accept: 'multipart/mixed' }, cancellation);
  expect(Symbol.asyncIterator in result).toBe(true);
  expect(pipeline.running()).toBe(1);
  cancel(cancellation, new Error('The client has left.'));
  expect(pipeline.running()).toBe(0);
});

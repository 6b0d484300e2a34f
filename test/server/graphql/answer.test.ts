import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../../src/config/read.ts';
import { schema } from '../../../src/graph/schema.ts';
import { createMetrics } from '../../../src/server/observability/metrics.ts';
import { createPipeline } from '../../../src/server/graphql/answer.ts';
import { createCancellationToken, cancel } from '../../../src/lib/cancellation.ts';
import { createUpstream } from '../../../src/upstream/client.ts';

test('the deadline of an operation ends with its client, even where nobody has begun to read its parts', async () => {
  const nowhere = 'http://127.0.0.1:9';
  const config = readConfig({ BASE_URL: nowhere, EVENT_BASE_URL: nowhere });
  const upstream = createUpstream({ ...config, baseUrl: nowhere, eventBaseUrl: nowhere });
  onTestFinished(async () => upstream.close());
  const parts = { schema, config, upstream, log: pino({ level: 'silent' }), metrics: createMetrics() };
  const pipeline = createPipeline(parts);
  const caller = { authorization: undefined, explain: undefined, address: '127.0.0.1', requestId: 'x' };
  const lifetime = createCancellationToken();
  const query = '{ viewer { isLoggedIn ... @defer { filmTier } } }';
  const prepared = pipeline.prepare(query, undefined);
  const result = await pipeline.answer(prepared, {}, { ...caller, accept: 'multipart/mixed' }, lifetime);
  expect(Symbol.asyncIterator in result).toBe(true);
  expect(pipeline.running()).toBe(1);
  cancel(lifetime, new Error('The client has left.'));
  expect(pipeline.running()).toBe(0);
});

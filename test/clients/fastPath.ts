import { pino } from 'pino';
import { readConfig } from '../../src/config/read.ts';
import { schema } from '../../src/graph/schema.ts';
import { createResponseCache } from '../../src/server/graphql/response-cache.ts';
import { createFastPath } from '../../src/server/graphql/fast-path.ts';
import { createMetrics } from '../../src/server/observability/metrics.ts';
import { createPipeline } from '../../src/server/graphql/pipeline.ts';
import type { TextParams } from '../../src/server/graphql/params.ts';
import { acceptedTypes } from '../../src/server/http/request/accept.ts';
import type { Exchange } from '../../src/server/http/exchange.ts';
import { createCancellationToken } from '../../src/lib/cancellation.ts';
import { createUpstream } from '../../src/upstream/client.ts';

/** Whether the fast path answers this request of a client, or leaves it to Yoga. */
export async function isAnsweredByFastPath(sent: RequestInit | undefined): Promise<boolean> {
  const config = readConfig({ BASE_URL: 'http://127.0.0.1:9', EVENT_BASE_URL: 'http://127.0.0.1:9' });
  const upstream = createUpstream({ ...config, baseUrl: config.baseUrl!, eventBaseUrl: config.eventBaseUrl! });
  const pipeline = createPipeline({
    schema,
    config,
    upstream,
    log: pino({ level: 'silent' }),
    metrics: createMetrics(),
  });
  const { body, headers } = sent as { body: string; headers: Record<string, string> };
  let isAnswered = false;
  const response = { writeHead: () => response, end: () => (isAnswered = true) };
  const exchange = { response, headers: [], isOpen: true, setUnsent: () => undefined } as unknown as Exchange;
  const accepted = acceptedTypes(new Headers(headers).get('accept') ?? undefined);
  const params = JSON.parse(body) as TextParams;
  const operation = { authorization: undefined, explain: 'plan', address: '', requestId: '' };
  const epoch = () => null;
  const isTaken = await createFastPath(pipeline, createResponseCache(epoch), epoch).answer(
    params,
    { body, media: accepted.json!, exchange },
    { operation, accepted, params, cancellation: createCancellationToken() },
  );
  await upstream.close();
  return isTaken && isAnswered;
}

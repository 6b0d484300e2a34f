import { pino } from 'pino';
import { catalogService } from '../../src/graph/service/descriptor.ts';
import { readConfig } from '../../src/config/read.ts';
import { schema } from '../../src/graph/schema.ts';
import { createCancellationToken } from '../../src/lib/cancellation.ts';
import { createJsonWriter } from '../../src/server/graphql/json-response.ts';
import { createDocuments } from '../../src/server/graphql/documents/persisted-documents.ts';
import { createTrusted } from '../../src/server/graphql/documents/trusted.ts';
import { createPipeline } from '../../src/server/graphql/pipeline.ts';
import { createRequestReader } from '../../src/server/graphql/request.ts';
import { createGraphqlRoute } from '../../src/server/graphql/route.ts';
import { Admission } from '../../src/server/http/connections/admission.ts';
import type { Exchange } from '../../src/server/http/exchange.ts';
import type { BodyReader } from '../../src/server/http/request/body.ts';
import { UploadMemory } from '../../src/server/http/request/upload-memory.ts';
import { statusesOf } from '../../src/server/http/response/status.ts';
import { createUpstream } from '../../src/upstream/client.ts';

/** Whether the writer of JSON responds to this request of a client, and not Yoga. */
export async function isAnsweredByFastPath(sent: RequestInit | undefined): Promise<boolean> {
  const config = readConfig({ BASE_URL: 'http://127.0.0.1:9', EVENT_BASE_URL: 'http://127.0.0.1:9' });
  const upstream = createUpstream(catalogService, {
    ...config,
    baseUrl: config.baseUrl!,
    eventBaseUrl: config.eventBaseUrl!,
  });
  const log = pino({ level: 'silent' });
  const pipeline = createPipeline({ schema, config, upstream, log });
  const { body, headers } = sent as { body: string; headers: Record<string, string> };
  const bodies = { read: async () => body } as unknown as BodyReader;
  let writer: 'json' | 'yoga' | undefined;
  const route = createGraphqlRoute(config, {
    page: undefined,
    reader: createRequestReader(config, bodies, new UploadMemory(config), upstream, log),
    json: createJsonWriter({ epoch: () => null, confirmEpoch: undefined }, statusesOf(config.httpStatuses)),
    admission: new Admission(config),
    documents: createDocuments(config, pipeline.prepare, createTrusted(config.trustedDocuments)),
    run: pipeline.run,
    endStored: pipeline.endStored,
    headers: [],
    yoga: async () => async () => void (writer = 'yoga'),
  });
  const response = { writeHead: () => response, write: () => true, end: () => (writer = 'json') };
  const exchange = {
    request: {
      method: 'POST',
      url: '/graphql',
      // Nothing is called.
      headers: { ...Object.fromEntries(new Headers(headers)), 'content-type': 'application/json', 'x-explain': 'plan' },
      socket: {},
    },
    response,
    headers: [],
    lifetime: createCancellationToken(),
    isOpen: true,
    setUnsent: () => undefined,
    onClose: () => undefined,
  } as unknown as Exchange;
  await route(exchange);
  await upstream.close();
  return writer === 'json';
}

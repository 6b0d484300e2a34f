/** GraphQL as a server has it: what runs operations, with what features add, and the route of its requests. */
import { lazily } from '../../lib/promises.ts';
import type { Core } from '../core.ts';
import type { Feature } from '../feature.ts';
import type { Admission } from '../http/connections/admission.ts';
import type { BodyReader } from '../http/request/body.ts';
import type { UploadMemory } from '../http/request/upload-memory.ts';
import type { StatusOf } from '../http/response/status.ts';
import { createDocuments } from './documents/persisted-documents.ts';
import type { OperationWatchers } from './ended-operation.ts';
import { createJsonWriter } from './json-response.ts';
import { type RunOperation, createPipeline } from './pipeline.ts';
import { createRequestReader } from './request.ts';
import { createGraphqlRoute } from './route.ts';

interface HttpParts {
  statusOf: StatusOf;
  bodies: BodyReader;
  uploads: UploadMemory;
  admission: Admission;
}

export function createGraphql(core: Core, features: readonly Feature[], http: HttpParts) {
  const { statusOf, bodies, uploads, admission } = http;
  const { config, schema, upstream, log, trusted } = core;
  const watchers = watchersOf(features);
  const { prepare, run: plainRun, endStored } = createPipeline({ schema, config, upstream, log, watchers });
  const run = features.reduce<RunOperation>((inner, { around }) => around?.(inner) ?? inner, plainRun);
  const documents = createDocuments(config, prepare, trusted);
  // What happens to a GraphQL request, in this order.
  const route = createGraphqlRoute(config, {
    page: features.find(({ page }) => page)?.page,
    reader: createRequestReader(config, bodies, uploads, upstream, log),
    json: createJsonWriter(upstream, statusOf),
    admission,
    documents,
    run,
    endStored,
    headers: features.flatMap(({ headers }) => headers ?? []),
    yoga: lazily(async () => (await import('./yoga.ts')).createYogaWriter(schema, log, statusOf)),
  });
  return { prepare, run, route };
}

const watchersOf = (features: readonly Feature[]): OperationWatchers => ({
  startSpan: features.find(({ startSpan }) => startSpan)?.startSpan,
  onInvalidDocument: features.find(({ onInvalidDocument }) => onInvalidDocument)?.onInvalidDocument,
  onEnd: features.flatMap(({ onEnd }) => onEnd ?? []),
});

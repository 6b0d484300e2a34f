/**
 * Spans of operations and upstream calls, through the OpenTelemetry API: an embedding program's tracer provider receives them. Without a
 * provider all spans are no-ops. OTEL_EXPORTER_OTLP_ENDPOINT makes the facade export them itself.
 */
import { type Context, INVALID_TRACEID, ROOT_CONTEXT, SpanKind, context, trace } from '@opentelemetry/api';
import type { IncomingHttpHeaders } from 'node:http';
import type { OperationTypeNode } from 'graphql';
import type { Logger } from 'pino';
import type { Config } from '../../../config/settings.ts';
import { settlesWithin } from '../../../lib/promises.ts';
import { type OperationSpan, parseTraceHeaders } from '../../../lib/trace-context.ts';
import type { Feature, FeatureParts } from '../../feature.ts';
import { endSpan } from '../../observability/spans.ts';
import { type EndedOperation, codeOf, documentHash, documentText } from '../../graphql/ended-operation.ts';

export function createTracingFeature({ config, log, trusted }: FeatureParts): Feature {
  const tracing = createTracing(config, log);
  return {
    ...operationSpans(tracing, trusted.idOf),
    loading: () => tracing.loading,
    end: tracing.close,
  };
}

export type Tracing = ReturnType<typeof createTracing>;

const SCOPE = 'catalog-graphql';
/** The exporter retries; an unreachable collector must not delay the end of the process for longer. */
const CLOSE_MS = 4_000;

type TracingSettings = Pick<Config, 'otelExporterOtlpHeaders' | 'otelExporterOtlpEndpoint' | 'otelServiceName'>;

export function createTracing(config: TracingSettings, log: Logger) {
  let close = async () => undefined as void;
  const { otelExporterOtlpEndpoint: exportTo, otelExporterOtlpHeaders: headers = {} } = config;
  let loading = exportTo === undefined ? undefined : load(exportTo);

  async function load(endpoint: string): Promise<void> {
    const { createExportingProvider } = await import('./otlp-exporter.ts');
    const provider = createExportingProvider(endpoint, config.otelServiceName, headers, log);
    tracing.tracer = provider.getTracer(SCOPE);
    // A failed export is logged already.
    close = async () => void (await settlesWithin(CLOSE_MS, provider.shutdown()).catch(() => undefined));
    loading = undefined;
  }

  const tracing = {
    tracer: trace.getTracer(SCOPE),
    /** Resolves when the exporter is loaded; undefined if there is none to wait for. */
    get loading(): Promise<void> | undefined {
      return loading;
    },
    /** Exports the remaining spans. */
    close: async (): Promise<void> => {
      await loading;
      await close();
    },
  };
  return tracing;
}

/** The parent of an operation's span: the active span of an embedding program, or else that of the request's headers. */
function parentContext({ traceparent, tracestate }: IncomingHttpHeaders): Context {
  const active = context.active();
  if (trace.getSpan(active)) return active;
  if (traceparent === undefined) return ROOT_CONTEXT;
  // Node joins repeated headers that it does not know with a comma, which makes `traceparent` invalid.
  const parent = parseTraceHeaders(String(traceparent), tracestate === undefined ? undefined : String(tracestate));
  return parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
}

/** Starts and ends the spans of operations. `trustedId`: of a trusted document, by its text. */
export const operationSpans = (tracing: Tracing, trustedId: (text: string) => string | undefined) => ({
  /** Undefined if there is nothing to record and no trace to pass on. */
  startSpan: (
    type: OperationTypeNode,
    headers: IncomingHttpHeaders | undefined,
    startedAt: number,
  ): OperationSpan | undefined => {
    const { tracer } = tracing;
    const startTime = performance.timeOrigin + startedAt;
    const span = tracer.startSpan(type, { kind: SpanKind.SERVER, startTime }, parentContext(headers ?? {}));
    return span.spanContext().traceId === INVALID_TRACEID ? undefined : { span, tracer };
  },
  onEnd: ({ span: started, operation, document: ready, errors = [] }: EndedOperation): void => {
    if (!started || !operation) return;
    const { span } = started;
    const { type, name } = operation;
    const document = span.isRecording() ? ready?.document : undefined;
    const hash = document && documentHash(document);
    const id = document && trustedId(documentText(document));
    const codes = errors.map(codeOf);
    const [error] = codes;
    endSpan(span, error, () => ({
      'graphql.operation.type': type,
      ...(name !== undefined && { 'graphql.operation.name': name }),
      ...(hash !== undefined && { 'graphql.document.hash': `sha256:${hash}` }),
      ...(id !== undefined && { 'graphql.document.id': id }),
      ...(error !== undefined && { 'graphql.errors': [...new Set(codes)].join(',') }),
    }));
  },
});

/** Exports spans to OTEL_EXPORTER_OTLP_ENDPOINT. Loaded only if that is set: the SDK is large. */
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { Logger } from 'pino';
import { optionalLookup } from '../../../lib/lookup.ts';

const BATCH = { maxExportBatchSize: 512, maxQueueSize: 4_096, scheduledDelayMillis: 2_000, exportTimeoutMillis: 3_000 };

export function createExportingProvider(
  endpoint: string,
  serviceName: string,
  headers: Readonly<Record<string, string>>,
  log: Logger,
): BasicTracerProvider {
  const exporter = new OTLPTraceExporter({
    url: `${endpoint}/v1/traces`,
    timeoutMillis: BATCH.exportTimeoutMillis,
    httpAgentOptions: { lookup: optionalLookup },
    headers: { ...headers },
  });
  return new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName }),
    spanProcessors: [new BatchSpanProcessor(loggingFailures(exporter, log), BATCH)],
  });
}

/** The SDK reports failed exports to its global diagnostics only. */
function loggingFailures(exporter: SpanExporter, log: Logger): SpanExporter {
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const { error } = result;
        if (error) log.warn({ reason: error.message, spans: spans.length }, 'spans could not be exported');
        done(result);
      });
    },
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}

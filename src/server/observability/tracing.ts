/**
 * Spans of operations and upstream calls, sent as OTLP over HTTP in JSON.
 * Ours, because the libraries' exporters ask for Node 22 and bring forty packages for one POST.
 */
import type { Logger } from 'pino';
import type { Config } from '../../config/settings.ts';
import type { ObservedCall, Span } from '../../upstream/trace-context.ts';

export interface Telemetry {
  operation: (span: Span, type: string, name: string | undefined, ms: number, codes: readonly string[]) => void;
  call: (seen: ObservedCall) => void;
  /** Sends what is left. */
  close: () => Promise<void>;
}

export type TelemetrySettings = Pick<
  Config,
  'otelExporterOtlpEndpoint' | 'otelExporterOtlpHeaders' | 'otelServiceName'
>;

type Value = { stringValue: string } | { intValue: string };
interface Attribute {
  key: string;
  value: Value;
}

/** A batch is sent when it is this large or this old. */
const BATCH_MAX = 512;
const BATCH_MS = 2_000;
/** A collector that is slow or away must not fill the memory: what comes past this is dropped. */
const HELD_MAX = 4_096;
const SEND_MS = 5_000;

const SERVER = 2;
const CLIENT = 3;
const ERROR = 2;

/** Nothing where no collector is named. */
export function createTelemetry(settings: TelemetrySettings, log: Logger): Telemetry | undefined {
  const { otelExporterOtlpEndpoint: address, otelExporterOtlpHeaders: headers, otelServiceName: name } = settings;
  if (!address) return undefined;
  const resource = { attributes: [text('service.name', name)] };
  let held: object[] = [];
  let clock: NodeJS.Timeout | undefined;
  let sending: Promise<void> = Promise.resolve();
  let dropped = 0;

  return {
    operation(span, type, name, ms, codes) {
      add(span, SERVER, name ? `${type} ${name}` : type, ms, codes.length > 0, [
        text('graphql.operation.type', type),
        ...(name ? [text('graphql.operation.name', name)] : []),
        ...(codes.length > 0 ? [text('graphql.errors', [...new Set(codes)].join(','))] : []),
      ]);
    },
    call({ endpoint, outcome, ms, span }) {
      if (!span) return;
      const isStatus = /^\d{3}$/.test(outcome);
      add(span, CLIENT, `${endpoint.method} ${endpoint.path}`, ms, !isStatus || Number(outcome) >= 400, [
        text('http.request.method', endpoint.method),
        text('url.template', endpoint.path),
        text('peer.service', endpoint.service),
        isStatus ? { key: 'http.response.status_code', value: { intValue: outcome } } : text('error.type', outcome),
      ]);
    },
    async close() {
      clearTimeout(clock);
      flush();
      await sending;
    },
  };

  function add(span: Span, kind: number, name: string, ms: number, failed: boolean, attributes: Attribute[]): void {
    if (!span.isSampled) return;
    if (held.length >= HELD_MAX) return void dropped++;
    const end = Date.now();
    held.push({
      traceId: span.traceId,
      spanId: span.id,
      ...(span.parentId === undefined ? {} : { parentSpanId: span.parentId }),
      ...(span.state === undefined ? {} : { traceState: span.state }),
      name,
      kind,
      startTimeUnixNano: nanoseconds(end - ms),
      endTimeUnixNano: nanoseconds(end),
      attributes,
      status: failed ? { code: ERROR } : {},
    });
    if (held.length === BATCH_MAX) flush();
    else clock ??= setTimeout(flush, BATCH_MS).unref();
  }

  /** One batch at a time; what comes meanwhile is held. */
  function flush(): void {
    clearTimeout(clock);
    clock = undefined;
    sending = sending.then(async () => {
      const spans = held;
      held = [];
      if (spans.length > 0) await send(spans);
    });
  }

  async function send(spans: readonly object[]): Promise<void> {
    const body = { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'catalog-graphql' }, spans }] }] };
    try {
      const answer = await fetch(`${address}/v1/traces`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
        redirect: 'error',
        signal: AbortSignal.timeout(SEND_MS),
      });
      await answer.body?.cancel();
      if (!answer.ok) log.warn({ status: answer.status, spans: spans.length }, 'the collector refused spans');
      else if (dropped > 0) log.warn({ spans: dropped }, 'spans were dropped');
      if (answer.ok) dropped = 0;
    } catch (error) {
      const { name, cause } = error as Error;
      log.warn({ name, code: (cause as NodeJS.ErrnoException | undefined)?.code }, 'the collector cannot be reached');
    }
  }
}

const text = (key: string, value: string): Attribute => ({ key, value: { stringValue: value } });

/** As a string: a number would lose the last digits. */
const nanoseconds = (ms: number): string => String(BigInt(Math.round(ms * 1000)) * 1000n);

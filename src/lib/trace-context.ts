/** W3C Trace Context: the headers `traceparent` and `tracestate`, and the spans of one operation. */
import {
  INVALID_TRACEID,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  TraceFlags,
  type Tracer,
  createTraceState,
  trace,
} from '@opentelemetry/api';

/** The span of an operation, and the tracer that starts the spans of its upstream calls. */
export interface OperationSpan {
  readonly span: Span;
  readonly tracer: Tracer;
}

/** Starts the span of an HTTP request to an upstream; its name is the method alone. */
export const startCallSpan = ({ tracer, span }: OperationSpan, method: string): Span =>
  tracer.startSpan(method, { kind: SpanKind.CLIENT }, trace.setSpan(ROOT_CONTEXT, span));

/** Version 00 has four parts. Later versions may have more, and none is ff. */
const TRACEPARENT = /^(?!ff|00-.{53})[\da-f]{2}-((?!0{32})[\da-f]{32})-((?!0{16})[\da-f]{16})-([\da-f]{2})(?:-.*)?$/;

/** Undefined for a missing or invalid `traceparent`. */
export function parseTraceHeaders(traceparent: string | undefined, tracestate?: string): SpanContext | undefined {
  if (traceparent === undefined) return undefined;
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
  return {
    traceId,
    spanId,
    traceFlags,
    isRemote: true,
    ...(tracestate && { traceState: createTraceState(tracestate) }),
  };
}

/** Appends the trace headers to `headers`, names and values in turn. Adds nothing for a span without a trace. */
export function addTraceHeaders({ traceId, spanId, traceFlags, traceState }: SpanContext, headers: string[]): void {
  if (traceId === INVALID_TRACEID) return;
  headers.push('traceparent', `00-${traceId}-${spanId}-0${traceFlags & TraceFlags.SAMPLED}`);
  const state = traceState?.serialize();
  if (state) headers.push('tracestate', state);
}

/** How spans end: those of operations, and those of upstream calls. */
import { type Attributes, type Span, SpanStatusCode } from '@opentelemetry/api';
import type { ObservedCall } from '../../upstream/http/call.ts';

/** Ends the span of an upstream call. Its attributes name the path by its template: no ids and no search words. */
export function endCallSpan(span: Span, { endpoint, outcome }: ObservedCall): void {
  const status = /^\d{3}$/.test(outcome) ? Number(outcome) : undefined;
  endSpan(span, status === undefined || status >= 400 ? outcome : undefined, () => ({
    'http.request.method': endpoint.method,
    'url.template': endpoint.path,
    'peer.service': endpoint.service,
    ...(status !== undefined && { 'http.response.status_code': status }),
  }));
}

export function endSpan(span: Span, error: string | undefined, attributes: () => Attributes): void {
  if (span.isRecording()) {
    span.setAttributes({ ...attributes(), ...(error !== undefined && { 'error.type': error }) });
    if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}

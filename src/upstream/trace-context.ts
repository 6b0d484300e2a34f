/** W3C Trace Context: connects an operation with its client's trace, and upstream calls with the operation. */
import { randomBytes } from 'node:crypto';
import type { Endpoint } from '../api/endpoint.ts';

/** A span of an operation or of an upstream call. */
export interface Span {
  readonly traceId: string;
  readonly id: string;
  /** undefined if the trace begins here. */
  readonly parentId: string | undefined;
  readonly isSampled: boolean;
  /** The `tracestate` of other systems, passed on. */
  readonly state: string | undefined;
}

/** A call that was made, or that a cache answered. */
export interface ObservedCall {
  endpoint: Endpoint;
  /** Its status, the name of its error, `cached` or `stale`. */
  outcome: string;
  ms: number;
  /** A child of the operation's span. */
  span?: Span | undefined;
}

/** Continues the client's trace; undefined without a valid header. */
export function parseTraceParent(traceparent: string | undefined, tracestate?: string): Span | undefined {
  if (traceparent === undefined) return undefined;
  const [, traceId, parentId, flags] =
    /^(?!ff)[\da-f]{2}-((?!0{32})[\da-f]{32})-((?!0{16})[\da-f]{16})-([\da-f]{2})(?:-.*)?$/.exec(traceparent) ?? [];
  if (traceId === undefined || flags === undefined) return undefined;
  const state = tracestate && /^[\x20-\x7e]{1,512}$/.test(tracestate) ? tracestate : undefined;
  return { traceId, id: hex(8), parentId, isSampled: (Number.parseInt(flags, 16) & 1) === 1, state };
}

/** Begins a trace. */
export const newSpan = (): Span => ({
  traceId: hex(16),
  id: hex(8),
  parentId: undefined,
  isSampled: true,
  state: undefined,
});

export const childSpan = ({ traceId, id, isSampled, state }: Span): Span => ({
  traceId,
  id: hex(8),
  parentId: id,
  isSampled,
  state,
});

export function addTraceHeaders({ traceId, id, isSampled, state }: Span, headers: string[]): void {
  headers.push('traceparent', `00-${traceId}-${id}-${isSampled ? '01' : '00'}`);
  if (state !== undefined) headers.push('tracestate', state);
}

/** Random digits are generated in bulk: one system call for hundreds of ids. */
let pool = '';
let drawn = 0;
function hex(bytes: number): string {
  if (drawn + 2 * bytes > pool.length) {
    pool = randomBytes(4096).toString('hex');
    drawn = 0;
  }
  return pool.slice(drawn, (drawn += 2 * bytes));
}

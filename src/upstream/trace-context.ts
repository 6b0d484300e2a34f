/** What ties our work to that of our callers and of the service: W3C Trace Context. */
import { randomBytes } from 'node:crypto';
import type { Endpoint } from '../api/endpoint.ts';

/** One operation, as a tracing system knows it. */
export interface Span {
  readonly traceId: string;
  readonly id: string;
  /** The span that asked for this one; undefined where the trace begins here. */
  readonly parentId: string | undefined;
  readonly isSampled: boolean;
  /** What other systems want handed on. */
  readonly state: string | undefined;
}

/** A call that was made, or was answered otherwise. */
export interface ObservedCall {
  endpoint: Endpoint;
  /** Its status, the name of its fault, or `cached`, `stale`. */
  outcome: string;
  ms: number;
  /** Of the call; its parent is the operation's. */
  span?: Span | undefined;
}

/** Goes on with the caller's trace; undefined where the header is none or not a valid one. */
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

/** Random digits are drawn by the page: one system call for hundreds of ids. */
let pool = '';
let drawn = 0;
function hex(bytes: number): string {
  if (drawn + 2 * bytes > pool.length) {
    pool = randomBytes(4096).toString('hex');
    drawn = 0;
  }
  return pool.slice(drawn, (drawn += 2 * bytes));
}

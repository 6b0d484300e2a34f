import type { Path } from 'graphql/jsutils/Path.js';
import type { Service } from './refusal.ts';

/** One call that an operation made, or was spared. */
export interface TracedCall {
  service: Service;
  method: string;
  /** With the query but `fields`; ids are the caller's own. */
  path: string;
  fields?: string;
  status?: number;
  /** Milliseconds since the operation began. */
  startMs: number;
  ms: number;
  /** Of the answer's body, inflated. */
  bytes?: number;
  attempts?: number;
  /** Answered from the record cache. */
  cached?: boolean;
  /** Answered from the cache because upstream failed; its age in seconds. */
  staleSeconds?: number;
  /** Another operation's call in flight answered it. */
  coalesced?: boolean;
  error?: string;
  /** The response path of the field that asked first. */
  field: string;
}

/** What one operation asked of the service. */
export interface Trace {
  readonly calls: TracedCall[];
  readonly now: () => number;
}

export function createTrace(): Trace {
  const started = performance.now();
  return { calls: [], now: () => performance.now() - started };
}

export function pathText(path: Path | undefined): string {
  const keys: (string | number)[] = [];
  for (let at = path; at; at = at.prev) keys.unshift(at.key);
  return keys.join('.');
}

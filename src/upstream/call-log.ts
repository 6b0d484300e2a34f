import type { Path } from 'graphql/jsutils/Path.js';
import type { Service } from './errors.ts';

/**
 * How a call was answered: an HTTP request was sent for it; it joined an equal call in flight; by the cache; by the cache because upstream
 * failed; not at all, because the facade did not send it.
 */
export type CallAnswer = 'sent' | 'joined' | 'cached' | 'stale' | 'refused';

/** One call of an operation, also if the cache made it unnecessary. */
export interface LoggedCall {
  /** Headers, logs, metrics, usage and tools for agents all count sent calls by this. */
  how: CallAnswer;
  service: Service;
  method: string;
  /** Path and query as sent; ids are those of the caller. */
  wirePath: string;
  status?: number;
  /** Milliseconds since the operation began. */
  startMs: number;
  ms: number;
  /** The size of the response body, decompressed. */
  bytes?: number;
  /** HTTP requests, if there were several. */
  attempts?: number;
  /** Served from the cache because upstream failed; its age in seconds. */
  staleSeconds?: number;
  /** Served from the cache although the client asks for new data; its age in seconds. */
  ageSeconds?: number;
  error?: string;
  /** The response path of the field that requested it first. */
  field: Path | undefined;
}

/** The calls of one operation. */
export interface CallLog {
  readonly calls: LoggedCall[];
  /** Those that the limit of an operation counts: not what the cache answered. */
  made: number;
  /** When the operation began, by performance.now(). */
  readonly started: number;
}

export const wasSent = ({ how }: Pick<LoggedCall, 'how'>): boolean => how === 'sent';

/** `attempts`: HTTP requests that were begun for it; undefined if they are not known. */
export function countAttempts(call: LoggedCall, attempts: number | undefined): void {
  if (attempts === 0) call.how = 'refused';
  if (attempts !== undefined && attempts > 1) call.attempts = attempts;
}

export const createCallLog = (): CallLog => ({ calls: [], made: 0, started: performance.now() });

/** A call as a client sees it: `fields` apart from the rest of the query, times in milliseconds to a tenth. */
export function describeCall({ wirePath, field, startMs, ms, ...call }: LoggedCall): object {
  const [path, fields] = withoutFields(wirePath);
  const tenth = (time: number) => Math.round(time * 10) / 10;
  return {
    ...call,
    path,
    ...(fields === undefined ? {} : { fields }),
    startMs: tenth(startMs),
    ms: tenth(ms),
    field: responsePath(field).join('.'),
  };
}

/** A response path as GraphQL writes one. */
export function responsePath(path: Path | undefined): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let at = path; at; at = at.prev) keys.unshift(at.key);
  return keys;
}

function withoutFields(wirePath: string): [path: string, fields: string | undefined] {
  const [path = '', query = ''] = wirePath.split('?');
  const params = query.split('&');
  const fields = params.find((param) => param.startsWith(FIELDS));
  const others = params.filter((param) => param !== fields).join('&');
  return [others === '' ? path : `${path}?${others}`, fields?.slice(FIELDS.length)];
}

const FIELDS = 'fields=';

import type { IncomingMessage } from 'node:http';
import type { Config } from '../../config/settings.ts';
import { createBatch } from '../../lib/batch.ts';
import { createDeadlineQueue } from '../../lib/deadlines.ts';
import { HttpError } from './http-error.ts';
import { checkPercentEncoding, checkSurrogates, decodeStrictUtf8 } from './strict-text.ts';

/** What a POST asks, before anything of it is believed. */
export interface GraphqlParams {
  /** Absent where the document is named instead. */
  query?: string | null | undefined;
  [parameter: string]: unknown;
}

/** The same with its text. */
export interface TextParams extends GraphqlParams {
  query: string;
}

const JSON_TYPES = new Set(['application/json', 'application/graphql+json']);

/** A page of another site cannot set these without asking first, so they tell a form that was meant from one that was not. */
const CSRF_HEADERS = ['x-graphql-csrf', 'apollo-require-preflight'];

/** Refuses what a foreign page could send without a preflight. */
export function checkCsrf({ headers }: IncomingMessage, type: string): void {
  if (isJsonType(type) || CSRF_HEADERS.some((name) => headers[name] !== undefined)) return;
  throw new HttpError(
    415,
    'CSRF_HEADER_REQUIRED',
    `Send application/json, or add the header ${CSRF_HEADERS.join(' or ')} with any value.`,
  );
}

/** The x-explain header. A mistyped one would run what was to be planned. */
export function explainHeader({ headers }: IncomingMessage): string | undefined {
  const explain = headers['x-explain'];
  if (explain === undefined || explain === 'plan' || explain === 'trace') return explain;
  throw new HttpError(400, 'BAD_EXPLAIN', 'The header x-explain is "plan" or "trace".');
}

/** A body that has come to its end, and who waits for it. */
interface Whole {
  chunks: Buffer | Buffer[] | undefined;
  resolve: (text: string) => void;
  reject: (reason: unknown) => void;
}

export interface BodyReader {
  read: (request: IncomingMessage) => Promise<string>;
  /** Bodies that have come, and whose readers are told of it at the end of this turn. */
  completed: () => number;
  /** Bodies that are still arriving. */
  reading: () => number;
}

/** Reads whole bodies within their limits of size and time. */
export function createBodyReader({ maxBodyBytes, requestBodyTimeoutMs }: Config): BodyReader {
  const clock = createDeadlineQueue(requestBodyTimeoutMs);
  const whole = createBatch<Whole>(({ chunks, resolve, reject }) => {
    try {
      resolve(chunks === undefined ? '' : decodeStrictUtf8(Array.isArray(chunks) ? Buffer.concat(chunks) : chunks));
    } catch (error) {
      reject(error);
    }
  });
  const tooLarge = () => new HttpError(413, 'BODY_TOO_LARGE', `A body has at most ${maxBodyBytes} bytes.`);
  const tooSlow = () => new HttpError(408, 'REQUEST_TIMEOUT', `A body arrives within ${requestBodyTimeoutMs} ms.`);

  return { read, completed: whole.size, reading: clock.size };

  function read(request: IncomingMessage): Promise<string> {
    const { 'content-encoding': encoding, 'content-length': length } = request.headers;
    if (encoding && encoding !== 'identity') {
      throw new HttpError(415, 'UNSUPPORTED_ENCODING', 'Send the body without Content-Encoding.');
    }
    if (Number(length) > maxBodyBytes) throw tooLarge();
    return new Promise((resolve, reject) => {
      let first: Buffer | undefined;
      let more: Buffer[] | undefined;
      let size = 0;
      const fail = (refusal: HttpError) => {
        clock.stop(ticking);
        request.off('data', take);
        request.off('end', finish);
        request.pause();
        reject(refusal);
      };
      const take = (chunk: Buffer) => {
        size += chunk.length;
        if (size > maxBodyBytes) fail(tooLarge());
        else if (first === undefined) first = chunk;
        else (more ??= [first]).push(chunk);
      };
      const finish = () => {
        clock.stop(ticking);
        whole.add({ chunks: more ?? first, resolve, reject });
      };
      const ticking = clock.start({ onDeadline: () => fail(tooSlow()) });
      request.on('data', take);
      request.on('end', finish);
      request.on('error', () => fail(new HttpError(400, 'BAD_REQUEST', 'The body broke off.')));
    });
  }
}

export const isJsonType = (type: string): boolean => JSON_TYPES.has(type);

/** What a body asks: JSON, a form, or a bare document. */
export function readParams(text: string, type: string): GraphqlParams {
  if (JSON_TYPES.has(type)) return checkParams(json(text, 'The body'));
  if (type === 'application/graphql') return checkParams({ query: text });
  if (type === 'application/x-www-form-urlencoded') {
    checkPercentEncoding(text);
    const { variables, extensions, ...rest } = Object.fromEntries(new URLSearchParams(text));
    return checkParams({
      ...rest,
      ...(variables && { variables: json(variables, 'variables') }),
      ...(extensions && { extensions: json(extensions, 'extensions') }),
    });
  }
  throw new HttpError(415, 'UNSUPPORTED_MEDIA_TYPE', 'Send application/json.');
}

/** Refuses a GET whose parameters cannot be read. */
export function checkQueryString({ url = '' }: IncomingMessage): void {
  const query = url.indexOf('?');
  if (query < 0) return;
  checkPercentEncoding(url);
  const given = new URLSearchParams(url.slice(query));
  for (const name of ['variables', 'extensions']) {
    const text = given.get(name);
    if (text) json(text, name);
  }
}

/** Takes what was read for a question, or refuses it. */
export function checkParams(value: unknown): GraphqlParams {
  if (Array.isArray(value)) throw new HttpError(400, 'BATCHING_OFF', 'Send one operation a request, not a list.');
  if (typeof value !== 'object' || value === null || !(hasText(value) || namesText(value))) {
    throw new HttpError(400, 'BAD_REQUEST', 'The body must be an object with a string "query".');
  }
  return value as GraphqlParams;
}

const hasText = (value: object): boolean => 'query' in value && typeof value.query === 'string';

/** What the name is worth is found out later. */
const namesText = (value: object): boolean =>
  !('query' in value && value.query !== null) && ('documentId' in value || 'extensions' in value);

function json(text: string, what: string): unknown {
  checkSurrogates(text);
  try {
    return JSON.parse(text);
  } catch {
    throw new HttpError(400, 'BAD_REQUEST', `${what} must be JSON.`);
  }
}

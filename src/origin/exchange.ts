import { isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import busboy from 'busboy';
import { AtomError, readers, writers } from '../atom/media.ts';
import { COUNT_MAX } from '../api/book.ts';
import type { Endpoint, Media } from '../api/endpoint.ts';
import type { ErrorBody } from '../api/errors.ts';
import { serviceErrors } from '../api/errors.ts';
import { serviceHeaders, visitorCookie } from '../api/service-headers.ts';
import { isPlainObject } from '../lib/objects.ts';
import { lazily } from '../lib/promises.ts';
import { wereDecodedWithLoss, hasLoneSurrogate, isPercentEncodedUtf8 } from '../lib/text/unicode.ts';
import type { Route } from './routes.ts';
import type { Call } from './rules/call.ts';
import { Rejection } from './rules/rejection.ts';
import { CommitError } from './store/database/sqlite.ts';
import type { PictureStore, ReceivedPicture } from './store/pictures.ts';

/** The parts of a request that are input of a rule. */
interface OriginRequest {
  params: Record<string, string>;
  query: URLSearchParams;
  incoming: IncomingMessage;
}

const BODY_MAX = 2_000_000;
const JSON_TYPE = 'application/json; charset=utf-8';
const ATOM_TYPE = 'application/atom+xml; charset=utf-8';

/** The headers that the real service sends. The origin does not read the cookie. */
const headersOf = (type?: string): Record<string, string> => ({
  ...serviceHeaders,
  ...(type !== undefined && { 'content-type': type }),
  'set-cookie': visitorCookie(randomBytes(8).toString('base64url'), Date.now()),
});

/** Reads the request as its endpoint declares, calls the rule, and writes the response as the endpoint declares. */
export async function exchange(
  { endpoint, rule }: Route,
  { params, query, incoming }: OriginRequest,
  caller: Omit<Call, 'received' | 'unused'>,
): Promise<Response> {
  const received: ReceivedPicture[] = [];
  try {
    const members = await readBody(endpoint, incoming, caller.pictures, received);
    if (!isPercentEncodedUtf8(incoming.url ?? '')) throw new Rejection(999);
    const call: Call = { ...caller, received, unused: [] };
    if (endpoint.method === 'GET')
      return write(endpoint, rule(call, { ...decoded(query), ...params }), query.get('fields'));
    const result = await caller.db.write(() => rule(call, { ...members, ...params }));
    await caller.pictures.remove(call.unused);
    return responseTo(endpoint, result);
  } finally {
    caller.pictures.discard(received);
  }
}

/** The write was made, but its response failed. */
class ResponseError extends Error {}

function responseTo(endpoint: Endpoint, result: unknown): Response {
  try {
    return write(endpoint, result, null);
  } catch (error) {
    throw new ResponseError('the response to a write that was made failed', { cause: error });
  }
}

/** The response to a rejected request, or to one that failed by an internal error, most likely a full or read-only disk. */
export function errorResponse(error: unknown, request: string): Response {
  // Not specified: the documentation has 6009 for an internal error with the status 400; 500 shows that the request is not at fault,
  // and 503 that a write was certainly not made, so that it may be sent again.
  const mayBeMade = error instanceof CommitError || error instanceof ResponseError;
  const failed = request.startsWith('GET ') || mayBeMade ? 500 : 503;
  const { code, retryAfter } = error instanceof Rejection ? error : { code: 6009 as const };
  const { msg, status } = serviceErrors[code];
  const body: ErrorBody = { code, msg, request };
  const wait = retryAfter === undefined ? undefined : { 'retry-after': String(retryAfter) };
  return new Response(JSON.stringify(body), {
    status: code === 6009 ? failed : status,
    headers: { ...headersOf(JSON_TYPE), ...wait },
  });
}

function write({ media, status, list }: Endpoint, result: unknown, fields: string | null): Response {
  if (media === 'empty') return new Response(null, { status, headers: headersOf() });
  if (media === 'json') {
    const body = fields && isPlainObject(result) ? selectFields(result, list, fields) : result;
    return new Response(JSON.stringify(body), { status, headers: headersOf(JSON_TYPE) });
  }
  const writer: (record: never) => string = writers[media];
  return new Response(writer(result as never), { status, headers: headersOf(ATOM_TYPE) });
}

/** Selects the members in `fields`, in the order of the record. In a list, it applies to the items only. */
function selectFields(record: Record<string, unknown>, list: string | undefined, fields: string) {
  const names = new Set(fields.split(',').map((name) => name.trim()));
  if (names.has('all')) return record;
  const pick = (value: unknown) =>
    isPlainObject(value) ? Object.fromEntries(Object.entries(value).filter(([name]) => names.has(name))) : value;
  if (list === undefined) return pick(record);
  const items = record[list];
  return { ...record, [list]: Array.isArray(items) ? items.map(pick) : items };
}

/** The members of the body. Pictures in it are added to `received`, also of a form that is rejected. */
async function readBody(
  { body, method }: Endpoint,
  incoming: IncomingMessage,
  store: PictureStore,
  received: ReceivedPicture[],
): Promise<Record<string, unknown>> {
  if (body === 'empty' || method === 'DELETE') return {};
  const type = incoming.headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (body !== 'json') return readAtom(body, await textOf(incoming));
  if (type === 'multipart/form-data') return decoded(await readForm(incoming, store, received));
  const text = await textOf(incoming);
  if (text.trim() === '') return {};
  if (type !== 'application/x-www-form-urlencoded') return storable(decoded(readJson(text)));
  if (!isPercentEncodedUtf8(text)) throw new Rejection(999);
  return storable(decoded(new URLSearchParams(text)));
}

function readAtom(media: Exclude<Media, 'json' | 'empty'>, text: string) {
  try {
    return { ...readers[media](text) };
  } catch (error) {
    if (error instanceof AtomError) throw new Rejection(999);
    throw error;
  }
}

function readJson(text: string): [string, unknown][] {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new Rejection(999);
  }
  if (!isPlainObject(body)) throw new Rejection(999);
  return Object.entries(body);
}

/** Rejects for an incomplete body, so that no rule gets part of one. */
async function textOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size <= BODY_MAX) chunks.push(chunk);
    }
  } catch {
    throw new Rejection(999);
  }
  if (size > BODY_MAX) throw new Rejection(999);
  const bytes = Buffer.concat(chunks);
  if (!isUtf8(bytes)) throw new Rejection(999);
  return bytes.toString();
}

async function readForm(incoming: IncomingMessage, store: PictureStore, received: ReceivedPicture[]) {
  const texts: [string, string][] = [];
  const uploads: Promise<ReceivedPicture>[] = [];
  let isWrong = false;
  let isBroken = false;
  let textBytes = 0;
  /** The first bytes of the form, to check that its texts are UTF-8. */
  const head: Buffer[] = [];
  let headBytes = 0;
  try {
    const form = busboy({
      headers: incoming.headers,
      defParamCharset: 'utf8',
      limits: { fields: 100, files: 20, parts: 120, fieldSize: BODY_MAX },
    });
    form.on('field', (name, value, info) => {
      textBytes += Buffer.byteLength(value);
      if (info.valueTruncated || info.nameTruncated || textBytes > BODY_MAX || value.includes('\0')) isWrong = true;
      if (!isWrong) texts.push([name, value]);
    });
    form.on('file', (name, stream) => {
      // The form may end early, before the store reads the picture, and an error without a listener would end the process.
      stream.on('error', () => undefined);
      const picture = store.receive(name, stream as AsyncIterable<Buffer>);
      picture.catch(() => {}); // reported at the end of the form
      uploads.push(picture);
    });
    for (const limit of ['fieldsLimit', 'filesLimit', 'partsLimit'] as const) form.on(limit, () => (isWrong = true));
    incoming.on('data', (chunk: Buffer) => {
      if (headBytes < BODY_MAX) head.push(chunk);
      headBytes += chunk.length;
    });
    await pipeline(incoming, form);
  } catch {
    isBroken = true;
  }
  const outcomes = await Promise.allSettled(uploads);
  received.push(...outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : [])));
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  const values = texts.map(([, value]) => value);
  if (
    wereDecodedWithLoss(
      values,
      lazily(() => Buffer.concat(head)),
    )
  )
    isWrong = true;
  if (failure && !isBroken) throw failure.reason;
  if (isBroken || isWrong) throw new Rejection(999);
  return texts;
}

const positions: ReadonlySet<string> = new Set(['start', 'count', 'start-index', 'max-results']);
const numbers: ReadonlySet<string> = new Set([...positions, 'page', 'rating']);
const flags: ReadonlySet<string> = new Set(['can_reply']);

/**
 * Decodes numbers and flags; null and empty values become absent. An invalid number becomes NaN, so that each rule rejects it with its
 * own code. An invalid page is rejected here.
 */
function decoded(entries: Iterable<[string, unknown]>): Record<string, unknown> {
  const input = new Map<string, string | number | boolean>();
  for (const [name, value] of entries) {
    if (value === null || value === undefined || value === '' || input.has(name)) continue;
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') throw new Rejection(999);
    if (typeof value === 'string' && hasLoneSurrogate(value)) throw new Rejection(999);
    input.set(name, numbers.has(name) ? wholeNumber(value) : flags.has(name) ? flag(value) : String(value));
    if (positions.has(name) && Number.isNaN(input.get(name))) throw new Rejection(999);
  }
  const count = input.get('count');
  if (typeof count === 'number') input.set('count', Math.min(count, COUNT_MAX));
  return Object.fromEntries(input);
}

/** Not specified: a text with NUL is rejected, because SQLite may end it there. */
function storable(members: Record<string, unknown>): Record<string, unknown> {
  if (Object.values(members).some((value) => typeof value === 'string' && value.includes('\0')))
    throw new Rejection(999);
  return members;
}

function wholeNumber(value: string | number | boolean): number {
  const text = String(value).trim();
  return /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
}

function flag(value: string | number | boolean): boolean {
  if (value === true || value === 'true') return true;
  if (value === false || value === 'false') return false;
  throw new Rejection(999);
}

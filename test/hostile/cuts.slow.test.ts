// A response may be cut at any byte. Every position is tried: the bytes before it are sent, then the connection is closed.
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { startFacade } from '../support/start-facade.ts';
import type { Behaviour, ReceivedRequest } from '../support/hostile.ts';
import { failOnUnhandledErrors } from '../support/unhandled.ts';

failOnUnhandledErrors();

/** All positions are tested in one operation, so the limits are raised; retries are off. */
const large = {
  ...{ maxRootFields: '2000', maxAliases: '2000', maxFields: '10000', maxTokens: '100000', maxMutations: '2000' },
  ...{ maxDocumentCharacters: '1000000', maxUpstreamCalls: '10000', maxConnections: '2000', readAttempts: '1' },
  breakerFailures: '1000',
};
const facade = await startFacade(large);

/** The id of the first position. All ids, and so all responses, have the same length. */
const FIRST = 1_000;
const positionOf = ({ path }: ReceivedRequest) => Number(/\d{4}/.exec(path)![0]) - FIRST;

type Frame = (body: Buffer, type: string) => Buffer;
type Ending = (socket: Socket, bytes: Buffer) => void;
interface Kind {
  service: 'books' | 'events';
  type: string;
  body: (id: string) => string;
  selection: (id: string) => string;
  whole: (id: string) => object;
}

const json: Kind = {
  service: 'books',
  type: 'application/json',
  body: (id) => `{"id":"${id}","title":"活着 ${id}","tags":[{"name":"小说"}]}`,
  selection: (id) => `book(id: "${id}") { title tags { name } }`,
  whole: (id) => ({ title: `活着 ${id}`, tags: [{ name: '小说' }] }),
};
const atom: Kind = {
  service: 'events',
  type: 'application/atom+xml',
  body: (id) =>
    `<entry xmlns="http://www.w3.org/2005/Atom"><id>http://x/event/${id}</id><title>活 ${id}</title></entry>`,
  selection: (id) => `event(id: "${id}") { title }`,
  whole: (id) => ({ title: `活 ${id}` }),
};

const head = (type: string, ...lines: string[]) =>
  Buffer.from(['HTTP/1.1 200 OK', `content-type: ${type}`, ...lines, '', ''].join('\r\n'));
const inChunks = (body: Buffer) => {
  const third = Math.ceil(body.length / 3);
  const parts = [0, 1, 2].map((n) => body.subarray(n * third, (n + 1) * third));
  const chunks = parts.flatMap((part) => [Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')]);
  return Buffer.concat([...chunks, Buffer.from('0\r\n\r\n')]);
};

const withLength: Frame = (body, type) => Buffer.concat([head(type, `content-length: ${body.length}`), body]);
const lastWithLength: Frame = (body, type) =>
  Buffer.concat([head(type, `content-length: ${body.length}`, 'connection: close'), body]);
const withoutLength: Frame = (body, type) => Buffer.concat([head(type), body]);
const chunked: Frame = (body, type) => Buffer.concat([head(type, 'transfer-encoding: chunked'), inChunks(body)]);
const lastChunked: Frame = (body, type) =>
  Buffer.concat([head(type, 'transfer-encoding: chunked', 'connection: close'), inChunks(body)]);
const gzipped: Frame = (body, type) => {
  const bytes = gzipSync(body);
  return Buffer.concat([head(type, 'content-encoding: gzip', `content-length: ${bytes.length}`), bytes]);
};
const gzippedWithoutLength: Frame = (body, type) =>
  Buffer.concat([head(type, 'content-encoding: gzip'), gzipSync(body)]);

const ended: Ending = (socket, bytes) => socket.end(bytes);
const reset: Ending = (socket, bytes) => socket.write(bytes, () => socket.resetAndDestroy());
const silent: Ending = (socket, bytes) => socket.write(bytes);

const bytesOf = ({ body, type }: Kind, frame: Frame, id: string) => frame(Buffer.from(body(id)), type);

/** Sends each response up to its position. */
const cutting =
  (kind: Kind, frame: Frame, ending: Ending): Behaviour =>
  (socket, request) =>
    ending(socket, bytesOf(kind, frame, String(FIRST + positionOf(request))).subarray(0, positionOf(request)));

/** The result of each position: `whole`, its error code, or other data. */
async function resultsOf(
  { execute }: Pick<typeof facade, 'execute'>,
  { selection, whole }: Pick<Kind, 'selection' | 'whole'>,
  positions: number,
  operation = '',
): Promise<string[]> {
  const ids = Array.from({ length: positions }, (_, position) => String(FIRST + position));
  const text = `${operation}{ ${ids.map((id) => `_${id}: ${selection(id)}`).join(' ')} }`;
  // Calls with an unverified token are limited, so only writes send one.
  const { data, errors = [] } = await execute(text, operation ? { headers: { authorization: 'Bearer caller' } } : {});
  const codes = new Map(errors.map(({ path, extensions }) => [path?.[0], String(extensions.code)]));
  return ids.map((id) => {
    const result = JSON.stringify(data[`_${id}`]);
    const code = codes.get(`_${id}`);
    if (code !== undefined) return result === 'null' ? code : `${code} with ${result}`;
    return result === JSON.stringify(whole(id)) ? 'whole' : result;
  });
}

const lost = 'UPSTREAM_UNAVAILABLE';
const malformed = 'UPSTREAM_INVALID_RESPONSE';

// Without Content-Length, the end of the connection ends the body, which is then malformed.
const cuts: [name: string, kind: Kind, frame: Frame, ending: Ending, inBody: string][] = [
  ['JSON with a length', json, withLength, ended, lost],
  ['JSON with a length, reset', json, withLength, reset, lost],
  ['JSON with a length, last on its connection', json, lastWithLength, ended, lost],
  ['JSON without a length', json, withoutLength, ended, malformed],
  ['JSON without a length, reset', json, withoutLength, reset, malformed],
  ['JSON in chunks', json, chunked, ended, lost],
  ['JSON in chunks, last on its connection', json, lastChunked, ended, lost],
  ['JSON in gzip', json, gzipped, ended, lost],
  ['JSON in gzip, without a length', json, gzippedWithoutLength, ended, malformed],
  ['Atom with a length', atom, withLength, ended, lost],
  ['Atom without a length', atom, withoutLength, ended, malformed],
  ['Atom in chunks', atom, chunked, reset, lost],
  ['Atom in gzip, without a length', atom, gzippedWithoutLength, ended, malformed],
];

test.each(cuts)('%s, cut at any byte, is an error unless it is complete', async (...row) => {
  const [, kind, frame, ending, inBody] = row;
  facade[kind.service].behave(cutting(kind, frame, ending));
  const positions = bytesOf(kind, frame, String(FIRST)).length + 8; // some gzip bodies are longer than the first
  const result = await resultsOf(facade, kind, positions);
  const expected = result.map((_, position) => {
    const bytes = bytesOf(kind, frame, String(FIRST + position));
    if (position >= bytes.length) return 'whole';
    return position < bytes.indexOf('\r\n\r\n') + 4 ? lost : inBody;
  });
  expect(result).toEqual(expected);
  expect(facade.logged).toEqual([]);
});

test.each([
  ['JSON', json],
  ['Atom', atom],
] as const)('%s that stops at any byte without closing the connection is a timeout', async (_, kind) => {
  const impatient = await startFacade({ ...large, headersTimeoutMs: '800', bodyTimeoutMs: '800' });
  impatient[kind.service].behave(cutting(kind, withLength, silent));
  const { length } = bytesOf(kind, withLength, String(FIRST));
  expect(new Set(await resultsOf(impatient, kind, length))).toEqual(new Set(['UPSTREAM_TIMEOUT']));
  // A complete response needs no end of the connection.
  facade[kind.service].behave((socket) => silent(socket, bytesOf(kind, withLength, String(FIRST))));
  expect(await resultsOf(facade, kind, 1)).toEqual(['whole']);
});

test('a wrong Content-Length is an error', async () => {
  const { length } = Buffer.from(json.body(String(FIRST)));
  facade.books.behave((socket, request) => {
    const body = json.body(String(FIRST + positionOf(request)));
    socket.end(Buffer.concat([head(json.type, `content-length: ${positionOf(request)}`), Buffer.from(body)]));
  });
  const result = await resultsOf(facade, json, 2 * length);
  const expected = result.map((_, output) => (output === length ? 'whole' : output < length ? malformed : lost));
  expect(result).toEqual(expected);
});

test('bytes after a response are not taken for the next response', async () => {
  const { books, execute } = await startFacade({ ...large, maxConnections: '1' });
  books.behave((socket, request) => {
    const id = String(FIRST + positionOf(request));
    const lie = withLength(Buffer.from(`{"id":"${id}","title":"a lie"}`), json.type);
    socket.write(Buffer.concat([bytesOf(json, withLength, id), lie]));
  });
  expect(new Set(await resultsOf({ execute }, json, 100))).toEqual(new Set(['whole']));
});

test('a read that is cut at any byte is retried', async () => {
  const patient = await startFacade({ ...large, readAttempts: '2' });
  const found = new Set<number>();
  patient.books.behave((socket, request) => {
    const isFirst = !found.has(positionOf(request));
    found.add(positionOf(request));
    const bytes = bytesOf(json, withLength, String(FIRST + positionOf(request)));
    return isFirst ? socket.end(bytes.subarray(0, positionOf(request))) : socket.write(bytes);
  });
  const { length } = bytesOf(json, withLength, String(FIRST));
  expect(new Set(await resultsOf(patient, json, length))).toEqual(new Set(['whole']));
  expect(patient.books.requests).toHaveLength(2 * length);
});

test('a 404 is accepted only if it is complete', async () => {
  const absent = Buffer.from('{"msg":"book_not_found","code":6000,"request":"GET /v2/book/1000"}');
  const framed = Buffer.concat([Buffer.from('HTTP/1.1 404 X\r\ncontent-type: application/json\r\n\r\n'), absent]);
  facade.books.behave((socket, request) => socket.end(framed.subarray(0, positionOf(request))));
  const result = await resultsOf(facade, json, framed.length + 1);
  // Without the service's own code it may be the page of a gateway.
  expect(new Set(result.slice(0, -1))).toEqual(new Set([lost]));
  expect(result.at(-1)).toBe('null');
});

test('a write whose response is cut at any byte is sent once, and its result is unknown', async () => {
  const draft: Kind = {
    ...json,
    body: () => '{"status":"read"}',
    selection: (id) => `collectBook(input: { bookId: "${id}", status: READ }) { collection { status } }`,
    whole: () => ({ collection: { status: 'READ' } }),
  };
  const { length } = bytesOf(draft, withLength, String(FIRST));
  facade.books.requests.length = 0;
  facade.books.behave(cutting(draft, withLength, ended));
  const result = await resultsOf(facade, draft, length + 1, 'mutation ');
  expect(result).toEqual([...Array<string>(length).fill('UPSTREAM_RESULT_UNKNOWN'), 'whole']);
  expect(facade.books.requests.map(positionOf)).toEqual(result.map((_, position) => position));
});

// An answer of the service may end at any byte. Every place is tried: the bytes before it come, and then the connection ends.
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { besieged } from '../support/besieged.ts';
import type { Behaviour, Heard } from '../support/hostile.ts';
import { failOnUnhandledErrors } from '../support/unhandled.ts';

failOnUnhandledErrors();

/** All places of an answer are asked for in one operation, so an operation may be as large; and nothing is tried again. */
const large = {
  ...{ maxRootFields: '2000', maxAliases: '2000', maxFields: '10000', maxTokens: '100000', maxMutations: '2000' },
  ...{ maxDocumentCharacters: '1000000', maxUpstreamCalls: '10000', maxBusyConnections: '2000', readAttempts: '1' },
  breakerFailures: '1000',
};
const facade = await besieged(large);

/** The id of the first place: so ids are as long as one another, and so are the answers to them. */
const FIRST = 1_000;
const placeOf = ({ path }: Heard) => Number(/\d{4}/.exec(path)![0]) - FIRST;

type Frame = (body: Buffer, type: string) => Buffer;
type Ending = (socket: Socket, bytes: Buffer) => void;
interface Kind {
  service: 'books' | 'events';
  type: string;
  body: (id: string) => string;
  ask: (id: string) => string;
  whole: (id: string) => object;
}

const json: Kind = {
  service: 'books',
  type: 'application/json',
  body: (id) => `{"id":"${id}","title":"活着 ${id}","tags":[{"name":"小说"}]}`,
  ask: (id) => `book(id: "${id}") { title tags { name } }`,
  whole: (id) => ({ title: `活着 ${id}`, tags: [{ name: '小说' }] }),
};
const atom: Kind = {
  service: 'events',
  type: 'application/atom+xml',
  body: (id) =>
    `<entry xmlns="http://www.w3.org/2005/Atom"><id>http://x/event/${id}</id><title>活 ${id}</title></entry>`,
  ask: (id) => `event(id: "${id}") { title }`,
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
const packed: Frame = (body, type) => {
  const bytes = gzipSync(body);
  return Buffer.concat([head(type, 'content-encoding: gzip', `content-length: ${bytes.length}`), bytes]);
};
const packedWithoutLength: Frame = (body, type) =>
  Buffer.concat([head(type, 'content-encoding: gzip'), gzipSync(body)]);

const ended: Ending = (socket, bytes) => socket.end(bytes);
const reset: Ending = (socket, bytes) => socket.write(bytes, () => socket.resetAndDestroy());
const silent: Ending = (socket, bytes) => socket.write(bytes);

const bytesOf = ({ body, type }: Kind, frame: Frame, id: string) => frame(Buffer.from(body(id)), type);

/** Gives each place of an answer its bytes before it. */
const cutting =
  (kind: Kind, frame: Frame, ending: Ending): Behaviour =>
  (socket, heard) =>
    ending(socket, bytesOf(kind, frame, String(FIRST + placeOf(heard))).subarray(0, placeOf(heard)));

/** What is told of each place: `whole`, the code of its error, or whatever else was shown. */
async function told(
  { ask }: Pick<typeof facade, 'ask'>,
  { ask: selection, whole }: Pick<Kind, 'ask' | 'whole'>,
  places: number,
  operation = '',
): Promise<string[]> {
  const ids = Array.from({ length: places }, (_, place) => String(FIRST + place));
  const text = `${operation}{ ${ids.map((id) => `_${id}: ${selection(id)}`).join(' ')} }`;
  // A token that the service has not accepted yet may ask for little at once; and only a write needs one.
  const { data, errors = [] } = await ask(text, operation ? { headers: { authorization: 'Bearer caller' } } : {});
  const codes = new Map(errors.map(({ path, extensions }) => [path?.[0], String(extensions.code)]));
  return ids.map((id) => {
    const shown = JSON.stringify(data[`_${id}`]);
    const code = codes.get(`_${id}`);
    if (code !== undefined) return shown === 'null' ? code : `${code} with ${shown}`;
    return shown === JSON.stringify(whole(id)) ? 'whole' : shown;
  });
}

const gone = 'UPSTREAM_UNAVAILABLE';
const nonsense = 'UPSTREAM_INVALID_RESPONSE';

// Without a length, the end of the connection is the end of a body that makes no sense.
const cuts: [name: string, kind: Kind, frame: Frame, ending: Ending, inBody: string][] = [
  ['JSON with its length', json, withLength, ended, gone],
  ['JSON with its length, reset', json, withLength, reset, gone],
  ['JSON with its length, the last of its connection', json, lastWithLength, ended, gone],
  ['JSON without a length', json, withoutLength, ended, nonsense],
  ['JSON without a length, reset', json, withoutLength, reset, nonsense],
  ['JSON in chunks', json, chunked, ended, gone],
  ['JSON in chunks, the last of its connection', json, lastChunked, ended, gone],
  ['JSON packed', json, packed, ended, gone],
  ['JSON packed, without a length', json, packedWithoutLength, ended, nonsense],
  ['Atom with its length', atom, withLength, ended, gone],
  ['Atom without a length', atom, withoutLength, ended, nonsense],
  ['Atom in chunks', atom, chunked, reset, gone],
  ['Atom packed, without a length', atom, packedWithoutLength, ended, nonsense],
];

test.each(cuts)('%s, cut at any byte, is a fault, and the answer only when it is whole', async (...row) => {
  const [, kind, frame, ending, inBody] = row;
  facade[kind.service].behave(cutting(kind, frame, ending));
  const places = bytesOf(kind, frame, String(FIRST)).length + 8; // packed, some are longer than the first
  const shown = await told(facade, kind, places);
  const expected = shown.map((_, place) => {
    const bytes = bytesOf(kind, frame, String(FIRST + place));
    if (place >= bytes.length) return 'whole';
    return place < bytes.indexOf('\r\n\r\n') + 4 ? gone : inBody;
  });
  expect(shown).toEqual(expected);
  expect(facade.logged).toEqual([]);
});

test.each([
  ['JSON', json],
  ['Atom', atom],
] as const)('%s that falls silent at any byte is a fault, in time', async (_, kind) => {
  const hasty = await besieged({ ...large, headersTimeoutMs: '800', bodyTimeoutMs: '800' });
  hasty[kind.service].behave(cutting(kind, withLength, silent));
  const { length } = bytesOf(kind, withLength, String(FIRST));
  expect(new Set(await told(hasty, kind, length))).toEqual(new Set(['UPSTREAM_TIMEOUT']));
  // The connection stays after the last byte too: of a whole answer nothing is missing.
  facade[kind.service].behave((socket) => silent(socket, bytesOf(kind, withLength, String(FIRST))));
  expect(await told(facade, kind, 1)).toEqual(['whole']);
});

test('a length that is not that of the answer makes nothing of it', async () => {
  const { length } = Buffer.from(json.body(String(FIRST)));
  facade.books.behave((socket, heard) => {
    const body = json.body(String(FIRST + placeOf(heard)));
    socket.end(Buffer.concat([head(json.type, `content-length: ${placeOf(heard)}`), Buffer.from(body)]));
  });
  const shown = await told(facade, json, 2 * length);
  const expected = shown.map((_, said) => (said === length ? 'whole' : said < length ? nonsense : gone));
  expect(shown).toEqual(expected);
});

test('what comes after an answer is not taken for the next', async () => {
  const { books, ask } = await besieged({ ...large, maxConnections: '1', maxBusyConnections: '1' });
  books.behave((socket, heard) => {
    const id = String(FIRST + placeOf(heard));
    const lie = withLength(Buffer.from(`{"id":"${id}","title":"a lie"}`), json.type);
    socket.write(Buffer.concat([bytesOf(json, withLength, id), lie]));
  });
  expect(new Set(await told({ ask }, json, 100))).toEqual(new Set(['whole']));
});

test('a read that is cut at any byte is tried again', async () => {
  const patient = await besieged({ ...large, readAttempts: '2' });
  const seen = new Set<number>();
  patient.books.behave((socket, heard) => {
    const isFirst = !seen.has(placeOf(heard));
    seen.add(placeOf(heard));
    const bytes = bytesOf(json, withLength, String(FIRST + placeOf(heard)));
    return isFirst ? socket.end(bytes.subarray(0, placeOf(heard))) : socket.write(bytes);
  });
  const { length } = bytesOf(json, withLength, String(FIRST));
  expect(new Set(await told(patient, json, length))).toEqual(new Set(['whole']));
  expect(patient.books.heard).toHaveLength(2 * length);
});

test('that a book is not there is believed only when it is said to the end', async () => {
  const absent = Buffer.from('{"msg":"book_not_found","code":6000,"request":"GET /v2/book/1000"}');
  const framed = Buffer.concat([Buffer.from('HTTP/1.1 404 X\r\ncontent-type: application/json\r\n\r\n'), absent]);
  facade.books.behave((socket, heard) => socket.end(framed.subarray(0, placeOf(heard))));
  const shown = await told(facade, json, framed.length + 1);
  expect(new Set(shown.slice(0, -1))).toEqual(new Set([gone, nonsense]));
  expect(shown.at(-1)).toBe('null');
});

test('a write whose answer is cut at any byte is sent once, and its outcome is said to be unknown', async () => {
  const draft: Kind = {
    ...json,
    body: () => '{"status":"read"}',
    ask: (id) => `collectBook(input: { bookId: "${id}", status: READ }) { collection { status } }`,
    whole: () => ({ collection: { status: 'READ' } }),
  };
  const { length } = bytesOf(draft, withLength, String(FIRST));
  facade.books.heard.length = 0;
  facade.books.behave(cutting(draft, withLength, ended));
  const shown = await told(facade, draft, length + 1, 'mutation ');
  expect(shown).toEqual([...Array<string>(length).fill('UPSTREAM_RESULT_UNKNOWN'), 'whole']);
  expect(facade.books.heard.map(placeOf)).toEqual(shown.map((_, place) => place));
});

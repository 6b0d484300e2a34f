/**
 * The upstream that every contestant asks: answers computed once a URL and kept as bytes, over bare sockets, because node:http would be
 * the slowest part of the measurement. It reads GET requests and nothing else. Set and read by paths under /admin.
 */
import { type Socket, createServer } from 'node:net';
import { writers } from '../src/atom/media.ts';
import {
  BOOK_TAGS,
  FILMS,
  SHELF,
  book,
  bookTags,
  celebrity,
  chart,
  cityEvents,
  collections,
  film,
  participants,
  searchedFilms,
} from './records.ts';

const answers = new Map<string, Answer>();
const counted = { calls: 0, bytes: 0 };
let latencyMs = 0;
/** Seconds for which answers may be used again; 0: never. */
let reuseSeconds = 0;
let hasOtherNamespaces = false;

createServer((socket) => {
  let pending = '';
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    pending += chunk.toString('latin1');
    for (let end = pending.indexOf('\r\n\r\n'); end >= 0; end = pending.indexOf('\r\n\r\n')) {
      const target = pending.slice(4, pending.indexOf(' ', 4));
      pending = pending.slice(end + 4);
      if (target.startsWith('/admin/')) socket.write(response(administer(target), 'application/json'));
      else answer(socket, target);
    }
  });
}).listen(Number(process.env.PORT), '127.0.0.1');

function answer(socket: Socket, target: string): void {
  let known = answers.get(target);
  if (!known) answers.set(target, (known = answerTo(target)));
  counted.calls++;
  counted.bytes += known.bodyLength;
  const { bytes } = known;
  if (latencyMs === 0) socket.write(bytes);
  else setTimeout(() => socket.writable && socket.write(bytes), latencyMs);
}

/** `/admin/set?latency=5&reuse=60&namespaces=other` sets, `/admin/count` tells what was asked since it was last asked. */
function administer(target: string): string {
  const { pathname, searchParams } = new URL(target, 'http://upstream');
  if (pathname === '/admin/set') {
    latencyMs = Number(searchParams.get('latency'));
    reuseSeconds = Number(searchParams.get('reuse'));
    hasOtherNamespaces = searchParams.get('namespaces') === 'other';
    answers.clear();
  }
  const told = JSON.stringify(counted);
  counted.calls = counted.bytes = 0;
  return told;
}

interface Answer {
  bytes: Buffer;
  bodyLength: number;
}
interface Query {
  text: (name: string) => string;
  number: (name: string, byDefault: number) => number;
}
type Make = (id: string, query: Query) => object;

/** One record, cut to `fields`. */
const records: [RegExp, Make][] = [
  [/^\/v2\/book\/(\d+)$/, (id) => book(Number(id))],
  [/^\/v2\/movie\/subject\/(\d+)$/, (id) => film(Number(id))],
  [/^\/v2\/movie\/celebrity\/(\d+)$/, (id) => celebrity(Number(id))],
];
/** One page of a list: its member, its total, its items, each cut to `fields`. */
const lists: [RegExp, string, number, (id: string, query: Query) => object[]][] = [
  [/^\/v2\/book\/user\/(\d+)\/collections$/, 'collections', SHELF, (id) => collections(Number(id))],
  // The interface names no window for it: the 50 most used always come.
  [/^\/v2\/book\/(\d+)\/tags$/, 'tags', BOOK_TAGS, (id) => bookTags(Number(id))],
  [/^\/v2\/movie\/(top250)$/, 'subjects', FILMS, (_, { number }) => chart(number('start', 0), number('count', 20))],
  [/^\/v2\/movie\/(search)$/, 'subjects', 200, (_, { text }) => searchedFilms(text('q'))],
];
const eventFeed = /^\/event\/location\/(\w+)$/;
const personFeed = /^\/event\/(\d+)\/participants$/;

function answerTo(target: string): Answer {
  const { pathname, searchParams } = new URL(target, 'http://upstream');
  const query: Query = {
    text: (name) => searchParams.get(name) ?? '',
    number: (name, byDefault) => Number(searchParams.get(name) ?? byDefault),
  };
  const names = searchParams.get('fields')?.split(',');
  for (const [pattern, make] of records) {
    const id = pattern.exec(pathname)?.[1];
    if (id !== undefined) return json(only(make(id, query), names));
  }
  for (const [pattern, member, total, make] of lists) {
    const id = pattern.exec(pathname)?.[1];
    if (id === undefined) continue;
    const items = make(id, query);
    return json({
      count: items.length,
      start: query.number('start', 0),
      total,
      [member]: items.map((item) => only(item, names)),
    });
  }
  const wanted = query.number('max-results', 20);
  const page = { startIndex: query.number('start-index', 1), itemsPerPage: wanted, totalResults: 340 };
  const city = eventFeed.exec(pathname)?.[1];
  if (city !== undefined) return atom(writers.eventFeed({ ...page, entries: cityEvents(city, wanted) }));
  const event = personFeed.exec(pathname)?.[1];
  if (event !== undefined) return atom(writers.personFeed({ ...page, entries: participants(Number(event), wanted) }));
  throw new Error(`nothing at ${target}`);
}

const json = (value: object) => kept(JSON.stringify(value), 'application/json; charset=utf-8');
function atom(body: string): Answer {
  const document = hasOtherNamespaces ? body.replaceAll(/xmlns(:\w+)?="[^"]*"/g, 'xmlns$1="urn:other$1"') : body;
  return kept(document, 'application/atom+xml; charset=utf-8');
}
const kept = (body: string, type: string): Answer => ({
  bytes: response(body, type),
  bodyLength: Buffer.byteLength(body),
});

function only(value: object, names: string[] | undefined): object {
  if (!names) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => names.includes(name)));
}

function response(body: string, type: string): Buffer {
  const reuse = reuseSeconds > 0 ? `max-age=${reuseSeconds}` : 'no-store';
  const head = `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ncontent-length: ${Buffer.byteLength(body)}\r\ncache-control: ${reuse}\r\n\r\n`;
  return Buffer.from(head + body);
}

/**
 * The upstream of every contestant: responses computed once per URL and cached as bytes, over bare sockets, because node:http would be
 * the slowest part of the measurement. It supports GET requests only. Paths under /admin configure it.
 */
import { type Socket, createServer } from 'node:net';
import { serviceHeaders, visitorCookie } from '../src/api/service-headers.ts';
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

const responses = new Map<string, CachedResponse>();
const counted = { calls: 0, bytes: 0 };
let latencyMs = 0;
/** The max-age of responses in seconds; 0: no-store; undefined: as the real service says it. */
let reuseSeconds: number | undefined;
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
      else respond(socket, target);
    }
  });
}).listen(Number(process.env.PORT), '127.0.0.1');

function respond(socket: Socket, target: string): void {
  let cached = responses.get(target);
  if (!cached) responses.set(target, (cached = responseTo(target)));
  counted.calls++;
  counted.bytes += cached.bodyLength;
  const { bytes } = cached;
  if (latencyMs === 0) socket.write(bytes);
  else setTimeout(() => socket.writable && socket.write(bytes), latencyMs);
}

/** `/admin/set?latency=5&reuse=60&namespaces=other` configures it, without `reuse` with the caching headers of the real service; `/admin/count` returns and resets the counts. */
function administer(target: string): string {
  const { pathname, searchParams } = new URL(target, 'http://upstream');
  if (pathname === '/admin/set') {
    latencyMs = Number(searchParams.get('latency'));
    const reuse = searchParams.get('reuse');
    reuseSeconds = reuse === null ? undefined : Number(reuse);
    hasOtherNamespaces = searchParams.get('namespaces') === 'other';
    responses.clear();
  }
  const counts = JSON.stringify(counted);
  counted.calls = counted.bytes = 0;
  return counts;
}

interface CachedResponse {
  bytes: Buffer;
  bodyLength: number;
}
interface Query {
  text: (name: string) => string;
  number: (name: string, byDefault: number) => number;
}
type Make = (id: string, query: Query) => object;

/** Records, with the members in `fields`. */
const records: [RegExp, Make][] = [
  [/^\/v2\/book\/(\d+)$/, (id) => book(Number(id))],
  [/^\/v2\/movie\/subject\/(\d+)$/, (id) => film(Number(id))],
  [/^\/v2\/movie\/celebrity\/(\d+)$/, (id) => celebrity(Number(id))],
];
/** Pages of lists: member, total, and items with the members in `fields`. */
const lists: [RegExp, string, number, (id: string, query: Query) => object[]][] = [
  [/^\/v2\/book\/user\/(\d+)\/collections$/, 'collections', SHELF, (id) => collections(Number(id))],
  // Not paged by the service: it always sends the 50 most used.
  [/^\/v2\/book\/(\d+)\/tags$/, 'tags', BOOK_TAGS, (id) => bookTags(Number(id))],
  [/^\/v2\/movie\/(top250)$/, 'subjects', FILMS, (_, { number }) => chart(number('start', 0), number('count', 20))],
  [/^\/v2\/movie\/(search)$/, 'subjects', 200, (_, { text }) => searchedFilms(text('q'))],
];
const eventFeed = /^\/event\/location\/(\w+)$/;
const personFeed = /^\/event\/(\d+)\/participants$/;

function responseTo(target: string): CachedResponse {
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
  const size = query.number('max-results', 20);
  const page = { startIndex: query.number('start-index', 1), itemsPerPage: size, totalResults: 340 };
  const city = eventFeed.exec(pathname)?.[1];
  if (city !== undefined) return atom(writers.eventFeed({ ...page, entries: cityEvents(city, size) }));
  const event = personFeed.exec(pathname)?.[1];
  if (event !== undefined) return atom(writers.personFeed({ ...page, entries: participants(Number(event), size) }));
  throw new Error(`nothing at ${target}`);
}

const json = (value: object) => toResponse(JSON.stringify(value), 'application/json; charset=utf-8');
function atom(body: string): CachedResponse {
  const document = hasOtherNamespaces ? body.replaceAll(/xmlns(:\w+)?="[^"]*"/g, 'xmlns$1="urn:other$1"') : body;
  return toResponse(document, 'application/atom+xml; charset=utf-8');
}
const toResponse = (body: string, type: string): CachedResponse => ({
  bytes: response(body, type),
  bodyLength: Buffer.byteLength(body),
});

function only(value: object, names: string[] | undefined): object {
  if (!names) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => names.includes(name)));
}

function response(body: string, type: string): Buffer {
  const headers: Record<string, string> = {
    'content-type': type,
    'content-length': String(Buffer.byteLength(body)),
    ...serviceHeaders,
    'set-cookie': visitorCookie('AbCdEfGhIjK', Date.now()),
  };
  if (reuseSeconds !== undefined) headers['cache-control'] = reuseSeconds > 0 ? `max-age=${reuseSeconds}` : 'no-store';
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`HTTP/1.1 200 OK\r\n${lines.join('')}\r\n${body}`);
}

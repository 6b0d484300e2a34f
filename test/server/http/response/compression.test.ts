import { readFileSync } from 'node:fs';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { Transform } from 'node:stream';
import { text } from 'node:stream/consumers';
import zlib from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { Compression } from '../../../../src/server/http/response/compression.ts';
import { expectAtRest } from '../../../support/atRest.ts';
import { readTabs } from '../../../../src/server/graphql/documents/tabs.ts';
import { startFacade } from '../../../support/start-facade.ts';
import { json, until } from '../../../support/hostile.ts';
import { journey } from '../../../support/journey.ts';

const decoders: Record<string, () => Transform> = {
  br: () => zlib.createBrotliDecompress(),
  gzip: () => zlib.createGunzip(),
};

const sent: ClientRequest[] = [];
afterEach(() => sent.splice(0).forEach((each) => each.destroy()));

/** Sends a request with exactly these headers. */
function send(url: string, headers: Record<string, string>, query?: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const method = query === undefined ? 'GET' : 'POST';
    const outgoing = request(url, { method, headers: { 'content-type': 'application/json', ...headers } }, resolve);
    sent.push(outgoing);
    outgoing.on('error', reject).end(query && JSON.stringify({ query }));
  });
}

async function read(incoming: IncomingMessage) {
  const { 'content-encoding': encoding, 'content-length': length, vary } = incoming.headers;
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  if (length !== undefined) expect(Number(length)).toBe(bytes.length);
  const decoder = encoding === undefined ? undefined : decoders[encoding]!();
  decoder?.end(bytes);
  return { encoding, vary, bytes: bytes.length, text: decoder ? await text(decoder) : bytes.toString() };
}

const summary = 'A long summary, of which there is much to say. '.repeat(100);
const book = json(JSON.stringify({ id: '7', title: 'x', summary }));
const query = '{ book(id: 7) { title summary } }';
const expected = { data: { book: { title: 'x', summary } } };

test.each([
  ['br', 'br'],
  ['gzip', 'gzip'],
  ['gzip, deflate, br', 'br'],
  ['GZIP;q=1.0, br;q=0.5', 'gzip'],
  ['*', 'br'],
  ['*, br;q=0', 'gzip'],
  ['gzip;q=0', undefined],
  ['identity, gzip;q=0.5', undefined],
  ['identity;q=0.5, gzip', 'gzip'],
  ['deflate', undefined],
  ['nonsense;;q=,', undefined],
  ['', undefined],
])('a client that accepts %j gets %s', async (accept, encoding) => {
  const { url, books } = await startFacade();
  books.behave(book);
  for (const [where, document] of [
    [url, query],
    [`${url}?query=${encodeURIComponent(query)}`, undefined],
  ] as const) {
    const response = await read(await send(where, { 'accept-encoding': accept }, document));
    expect([response.encoding, JSON.parse(response.text)]).toEqual([encoding, expected]);
    expect(response.vary).toContain('Accept-Encoding');
  }
});

test('without Accept-Encoding, if it is short, or with compression off, a response is not compressed', async () => {
  const on = await startFacade();
  const off = await startFacade({}, { COMPRESSION: 'off' });
  on.books.behave(book);
  off.books.behave(book);
  const accept = { 'accept-encoding': 'br' };
  expect((await read(await send(on.url, {}, query))).encoding).toBeUndefined();
  expect((await read(await send(on.url, accept, '{ book(id: 7) { title } }'))).encoding).toBeUndefined();
  const { encoding, vary } = await read(await send(off.url, accept, query));
  expect([encoding, vary]).toEqual([undefined, 'Authorization, Accept, x-explain, Origin']);
});

test('an event stream that is not compressed has no Content-Encoding', async () => {
  const { url, books } = await startFacade();
  books.behave(book);
  for (const headers of [{}, { 'accept-encoding': 'identity' }] as Record<string, string>[]) {
    const response = await send(url, { accept: 'text/event-stream', ...headers }, query);
    expect((await read(response)).text).toContain('event: complete');
    expect(response.headers['content-encoding']).toBeUndefined();
  }
});

test('a cached response is served in each encoding', async () => {
  const { url, books, metrics } = await startFacade({ recordTtlSeconds: '60' });
  books.behave(book);
  for (const accept of ['gzip', 'gzip', 'br', 'identity', 'br', 'gzip'])
    expect(JSON.parse((await read(await send(url, { 'accept-encoding': accept }, query))).text)).toEqual(expected);
  expect(books.requests).toHaveLength(1);
  expect(await metrics.text()).toContain('catalog_response_cache_hits_total 5');
});

test('GraphiQL, the error page and metrics are compressed', async () => {
  const { url, facade } = await startFacade({ graphiql: 'on' }, {}, { tabs: readTabs('operations') });
  const headers = { 'accept-encoding': 'br', accept: 'text/html' };
  for (const page of [url, `${facade.url}/docs/errors`, `${facade.url}/metrics`]) {
    const [plain, ...compressed] = [
      await read(await send(page, { accept: 'text/html' })),
      await read(await send(page, headers)),
      await read(await send(page, headers)),
    ];
    for (const { encoding, bytes, text, vary } of compressed) {
      expect([encoding, vary?.includes('Accept-Encoding')]).toEqual(['br', true]);
      expect(bytes).toBeLessThan(plain.bytes / 2);
      if (!page.endsWith('metrics')) expect(text === plain.text).toBe(true);
    }
  }
});

test('the charts of the demo, 13 kB, take at most 2.5 kB in any encoding', async () => {
  const { facade } = await journey();
  const charts = readFileSync('operations/charts.graphql', 'utf8');
  const authorization = 'Bearer demo-alice';
  const plain = await read(await send(`${facade.url}/graphql`, { authorization }, charts));
  expect(plain.bytes).toBeGreaterThan(12_000);
  for (const accept of Object.keys(decoders)) {
    const response = await read(
      await send(`${facade.url}/graphql`, { authorization, 'accept-encoding': accept }, charts),
    );
    expect([response.encoding, response.text]).toEqual([accept, plain.text]);
    expect(response.bytes).toBeLessThanOrEqual(2_500);
  }
});

test.each(
  Object.keys(decoders).flatMap((each) => [[each, 'multipart/mixed'] as const, [each, 'text/event-stream'] as const]),
)('each part of incremental delivery is flushed as it comes: %s, %s', async (encoding, accept) => {
  const { facade, url, books } = await startFacade();
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  books.behave(async (socket, upstreamRequest) => {
    if (upstreamRequest.path.includes('annotations')) await released;
    return (upstreamRequest.path.includes('annotations') ? json('{"annotations":[],"total":0}') : book)(
      socket,
      upstreamRequest,
    );
  });
  const deferred = '{ book(id: 7) { title summary ... @defer { annotations(first: 1) { totalCount } } } }';
  const incoming = await send(url, { accept, 'accept-encoding': encoding }, deferred);
  expect(incoming.headers['content-encoding']).toBe(encoding);
  let received = '';
  const decoded = incoming.pipe(decoders[encoding]!());
  decoded.on('data', (chunk: Buffer) => (received += chunk.toString()));
  await until(() => received.includes('"title":"x"') && received.includes('"hasNext":true'));
  expect(received).not.toContain('totalCount');
  release();
  await until(() => received.includes('totalCount') && received.includes('"hasNext":false'));
  await expectAtRest(facade);
});

test('bytes that wait for compression count as unsent', async () => {
  const { facade, url, books } = await startFacade({ maxResponseBytes: '100000000' });
  books.behave(json(JSON.stringify({ id: '7', title: 'x', summary: 'y'.repeat(1_000_000) })));
  let unsent = 0;
  const measure = ({ compressionsRunning, unsentBytes } = facade.state()) => {
    if (compressionsRunning > 0) unsent = Math.max(unsent, unsentBytes);
  };
  const timer = setInterval(measure, 1);
  await Promise.all(Array.from({ length: 20 }, async () => read(await send(url, { 'accept-encoding': 'br' }, query))));
  clearInterval(timer);
  expect(unsent).toBeGreaterThan(1_000_000);
  await expectAtRest(facade);
});

test('at most 32 bodies and 32 streams are compressed at once; others are sent uncompressed', async () => {
  const compression = new Compression();
  const bodies = Array.from({ length: 40 }, () => compression.compress(summary, 'gzip', false));
  expect(bodies.map((each) => each instanceof Promise).lastIndexOf(true)).toBe(31);
  const streams = Array.from({ length: 40 }, () => compression.open('br'));
  expect([streams.findIndex((each) => !each), compression.running()]).toEqual([32, 64]);
  for (const each of streams) each?.stream.destroy();
  await until(() => compression.running() === 0);
  expect(compression.compress(summary, 'gzip', false)).toBeInstanceOf(Promise);
  compression.open('br')!.stream.destroy();
  await until(() => compression.running() === 0);
});

import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { type Behaviour, drip, json, response } from '../support/hostile.ts';
import { codesIn, startFacade } from '../support/start-facade.ts';
import { sampleOf } from '../support/optional.ts';
import { failOnUnhandledErrors } from '../support/unhandled.ts';

failOnUnhandledErrors();

type Headers = Record<string, string>;

/** A page of a gateway in China: 系统繁忙, in GBK. */
const gbk = Buffer.concat([Buffer.from('<html>'), Buffer.from('cfb5cdb3b7b1c3a6'.repeat(9), 'hex')]);
const page = '<html>busy</html>';
const utf8 = 'text/html; charset=utf-8';
const head = (status: number, headers: Headers, more: string): string =>
  `HTTP/1.1 ${status} X\r\ncontent-type: text/html\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}${more}\r\n\r\n<html>`;

/** An error whose body cannot be read. */
const unreadable: Readonly<Record<string, (status: number, headers: Headers) => Behaviour>> = {
  'in GBK that says UTF-8': (status, headers) => response(status, utf8, gbk, headers),
  'in an unknown charset': (status, headers) => response(status, 'text/html; charset=x-none', gbk, headers),
  'in brotli': (status, headers) => response(status, utf8, page, { ...headers, 'content-encoding': 'br' }),
  'in gzip that is none': (status, headers) => response(status, utf8, page, { ...headers, 'content-encoding': 'gzip' }),
  'in gzip of more than the limit': (status, headers) =>
    response(status, utf8, gzipSync(' '.repeat(3_000)), { ...headers, 'content-encoding': 'gzip' }),
  'over the limit': (status, headers) => response(status, utf8, ' '.repeat(3_000), headers),
  'cut short': (status, headers) => (socket) => {
    socket.write(head(status, headers, 'content-length: 1000'));
    setTimeout(() => socket.resetAndDestroy(), 5);
  },
  'of a connection that ends': (status, headers) => (socket) => {
    socket.end(head(status, headers, 'content-length: 1000'));
  },
  'without end': (status, headers) => drip(head(status, headers, 'connection: close'), ' ', 50),
  'that stops in the middle': (status, headers) => (socket) =>
    void socket.write(head(status, headers, 'content-length: 1000')),
};

const asked: Headers = { 'retry-after': '30' };
const limits = { readAttempts: '1', maxJsonBytes: '2000', bodyTimeoutMs: '150', callTimeoutMs: '600' };
const book = '{ book(id: "7") { title } }';
const collect = 'mutation { collectBook(input: { bookId: "7", status: READ }) { collection { status } } }';
const asAlice = { headers: { authorization: 'Bearer alice' } };

/** What a client gets, twice, and what became of the service, in one line. */
async function outcome(status: number, headers: Headers, behaviour: Behaviour, document: string): Promise<string> {
  const { books, execute, upstream, close } = await startFacade({ ...limits, breakerFailures: '2' });
  books.behave(json('{"id":"7","title":"x"}'));
  await execute(book, asAlice);
  books.behave(behaviour);
  const results = [await execute(document, asAlice), await execute(document, asAlice)];
  const waits = results.map(({ errors }) => errors?.[0]?.extensions.retryAfter !== undefined);
  const { isOpen } = upstream.state().catalog;
  await close();
  return `${status} ${JSON.stringify(headers)}: ${results.flatMap(codesIn).join()}, waits ${waits.join()}, ${books.requests.length - 1} calls, open ${isOpen}`;
}

const answers = [302, 400, 401, 403, 404, 429, 500, 501, 503].flatMap((status) =>
  [{}, asked].map((headers: Headers) => ({ status, headers })),
);
const outcomes = (document: string, behaviour: (status: number, headers: Headers) => Behaviour, some = answers) =>
  Promise.all(some.map(({ status, headers }) => outcome(status, headers, behaviour(status, headers), document)));
const empty = (status: number, headers: Headers) => response(status, 'text/html', '', headers);

describe.each([
  ['a read', book],
  ['a write', collect],
])('%s that is answered by an error', (_, document) => {
  let expected: Promise<string[]> | undefined;

  test.each(Object.entries(unreadable))(
    'with a body %s is treated as one with an empty body, whatever its status',
    async (kind, behaviour) => {
      const some = sampleOf(answers, 3, Object.keys(unreadable).indexOf(kind));
      const wanted = await (expected ??= outcomes(document, empty));
      expect(await outcomes(document, behaviour, some)).toEqual(
        wanted.filter((_each, at) => some.includes(answers[at]!)),
      );
    },
  );
});

test.each([429, 503, 403])(
  'a %i with Retry-After and a body that cannot be read is one call, and a pause',
  async (status) => {
    const codes = Array(2).fill(status === 503 ? 'UPSTREAM_UNAVAILABLE' : 'RATE_LIMITED');
    if (status === 403) codes[0] = 'UPSTREAM_UNAVAILABLE';
    expect(await outcome(status, asked, unreadable['in brotli']!(status, asked), book)).toBe(
      `${status} {"retry-after":"30"}: ${codes.join()}, waits true,true, 1 calls, open false`,
    );
  },
);

import { connect } from 'node:net';
import { setTimeout as after } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { json } from '../../../support/hostile.ts';
import { startFacade } from '../../../support/start-facade.ts';

const { facade, books } = await startFacade({ corsOrigins: 'https://shop.example', maxHeaderBytes: '4000' });

/** Upstream responds when `release` is called. */
let release: () => void;
beforeEach(() => {
  const released = new Promise<void>((resolve) => (release = resolve));
  books.behave(async (socket, request) => {
    await released;
    await json('{"id":"7","title":"活着"}')(socket, request);
  });
});
afterEach(() => release());

const FOUND = '{"data":{"book":{"title":"活着"}}}';
const body = '{"query":"{ book(id: 7) { title } }"}';
const post = (text = body, length = Buffer.byteLength(text)) =>
  `POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n${text}`;

/** Sends the pieces, each in a packet of its own, and returns all that is received until the connection closes. */
async function send(...pieces: string[]): Promise<string> {
  const socket = connect({ port: facade.port, host: '127.0.0.1', noDelay: true });
  const received: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => received.push(chunk));
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('error', () => undefined);
  for (const piece of pieces) {
    socket.write(piece);
    await after(20);
  }
  release();
  await closed;
  return Buffer.concat(received).toString();
}

/** The statuses of the responses, in their order. */
const statuses = (received: string) => [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));

describe('a complete request gets its response, then the connection closes', () => {
  test.each([
    ['one byte behind the body', [post(), 'x'], [200, 400]],
    ['a byte in the same packet', [`${post()}x`], [200, 400]],
    ['many bytes in many packets', [post(), 'x', 'y', 'z'.repeat(9_000)], [200, 400]],
    ['a TLS hello', [post(), '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'], [200, 400]],
    ['headers that are too large', [`${post()}GET /health HTTP/1.1\r\nx: ${'y'.repeat(9_000)}\r\n\r\n`], [200, 431]],
    ['two good requests and garbage', [`${post()}${post()}garbage\r\n\r\n`], [200, 200, 400]],
    ['a GET before the garbage', [`${post()}GET /health HTTP/1.1\r\nhost: x\r\n\r\n\0\0\0`], [200, 200, 400]],
    [
      'a malformed chunk of the next body',
      [`${post()}${post('', 0).replace('content-length: 0', 'transfer-encoding: chunked')}zz`],
      [200, 400],
    ],
    ['forty requests and garbage', [post().repeat(40) + '\0'], [...Array<number>(40).fill(200), 400]],
    ['an early response and the rest of a body', [`DELETE /graphql HTTP/1.1\r\nhost: x\r\n\r\n{"a":1}`], [405, 400]],
    ['a GET with a body and no length', [`GET /health HTTP/1.1\r\nhost: x\r\n\r\n{"a":1}`], [200, 400]],
    ['a length in characters', [post('{"query":"{ book(id: 7) { title } } #活着"}', 40)], [400, 400]],
  ] as [string, string[], number[]][])('before %s', async (_, pieces, expected) => {
    const received = await send(...pieces);
    expect(statuses(received)).toEqual(expected);
    if (pieces[0]!.startsWith(post())) expect(received).toContain(FOUND);
    expect(received.slice(received.lastIndexOf('HTTP/1.1'))).toContain('\r\nconnection: close\r\n');
  });

  test('a client that asks for it gets no second response', async () => {
    expect(statuses(await send(`${post().replace('host: x', 'host: x\r\nconnection: close')}x`))).toEqual([200]);
  });

  test('a write is acknowledged', async () => {
    books.behave(json('{}'));
    const write = JSON.stringify({ query: 'mutation { deleteAnnotation(input: { id: "1" }) { __typename } }' });
    expect(statuses(await send(post(write), '}'))).toEqual([200, 400]);
  });

  test('neighbours are not disturbed', async () => {
    const [broken, whole] = await Promise.all([
      send(post(), 'x'),
      send(post().replace('host: x', 'host: x\r\nconnection: close')),
    ]);
    expect(statuses(broken)).toEqual([200, 400]);
    expect(whole).toContain(FOUND);
  });
});

describe('a request is answered with our headers', () => {
  test.each([
    ['a second Host', 'GET /health HTTP/1.1\r\nhost: a\r\nHost: a\r\n', 400, 'BAD_REQUEST'],
    ['an unknown path', 'GET /nothing HTTP/1.1\r\nhost: a\r\n', 404, 'NOT_FOUND'],
    ['too many headers', `GET /health HTTP/1.1\r\nhost: a\r\n${'a: 1\r\n'.repeat(505)}`, 431, 'HEADERS_TOO_LARGE'],
    [
      'headers that are too large',
      `GET /health HTTP/1.1\r\nhost: a\r\nx: ${'y'.repeat(9_000)}\r\n`,
      431,
      'HEADERS_TOO_LARGE',
    ],
  ])('that has %s', async (_, head, status, code) => {
    const [line, ...rest] = head.split('\r\n');
    const received = await send([line, 'origin: https://shop.example', 'connection: close', ...rest, ''].join('\r\n'));
    expect(statuses(received)).toEqual([status]);
    expect(received).toContain(`"code":"${code}"`);
    expect(received).toContain('\r\naccess-control-allow-origin: https://shop.example\r\n');
    expect(received).toContain('\r\nx-content-type-options: nosniff\r\n');
    const foreign = await send([line, 'origin: https://evil.example', 'connection: close', ...rest, ''].join('\r\n'));
    expect(foreign).not.toContain('access-control-allow-origin');
  });

  test('the absolute form is the path', async () => {
    expect(await send('GET http://x/health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')).toContain(
      '{"status":"ok"}',
    );
    expect(
      await send(post().replace('/graphql', 'HTTP://x:1/graphql/').replace('host: x', 'host: x\r\nconnection: close')),
    ).toContain(FOUND);
    const get = `GET http://x/graphql?query=${encodeURIComponent('{book(id:7){title}}')} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`;
    expect(await send(get)).toContain(FOUND);
  });

  test('an expectation of 100-continue is met', async () => {
    const received = await send(post().replace('host: x', 'host: x\r\nconnection: close\r\nexpect: 100-continue'));
    expect(statuses(received)).toEqual([100, 200]);
  });

  test('a preflight may ask for any header, and at any path', async () => {
    const asked = 'baggage, sentry-trace, x-datadog-trace-id, x-requested-with';
    for (const path of ['/graphql', '/nothing']) {
      const headers = {
        origin: 'https://shop.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': asked,
      };
      const allowed = await fetch(facade.url + path, { method: 'OPTIONS', headers });
      expect(allowed.status).toBe(204);
      expect(allowed.headers.get('access-control-allow-headers')?.split(', ')).toEqual(
        expect.arrayContaining([...asked.split(', '), 'authorization']),
      );
      const foreign = await fetch(facade.url + path, {
        method: 'OPTIONS',
        headers: { ...headers, origin: 'https://evil.example' },
      });
      expect(foreign.headers.get('access-control-allow-headers')).toBeNull();
    }
  });
});

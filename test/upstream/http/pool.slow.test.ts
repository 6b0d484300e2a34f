import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { readConfig } from '../../../src/config/read.ts';
import { UpstreamFailure } from '../../../src/upstream/errors.ts';
import { createCancellationToken, cancel } from '../../../src/lib/cancellation.ts';
import { REQUESTS_MAX } from '../../../src/upstream/http/dispatcher.ts';
import { type TransportSettings, createTransport } from '../../../src/upstream/http/pool.ts';
import type { HttpRequest } from '../../../src/upstream/http/request.ts';
import {
  type Behaviour,
  cutInBody,
  drip,
  hostile,
  inTurn,
  json,
  reset,
  silence,
  until,
} from '../../support/hostile.ts';
import { patient } from '../../support/patient.ts';

/** Short timeouts, for tests of timeouts. */
const quick = { headersTimeoutMs: 300, bodyTimeoutMs: 300, callTimeoutMs: 900 };

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

async function transportTo(behaviour: Behaviour, settings: Partial<TransportSettings> = {}) {
  const service = await hostile(behaviour);
  const transport = createTransport({
    ...readConfig({}),
    ...patient,
    breakerFailures: 1_000,
    baseUrl: service.url,
    eventBaseUrl: service.url,
    ...settings,
  });
  const send = (request: Partial<HttpRequest> = {}, token = createCancellationToken()) =>
    transport.send(
      {
        service: 'catalog',
        method: 'GET',
        path: '/x',
        headers: [],
        maxBytes: 10_000,
        ...request,
      },
      token,
    );
  return { service, transport, send };
}

const post = { method: 'POST', body: 'a=1' } as const;

/** The error code of a failed call, or "none". */
async function errorCodeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
  } catch (error) {
    if (error instanceof UpstreamFailure) return error.code;
    throw error;
  }
  return 'none';
}

const head = (headers: string) => `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${headers}\r\n\r\n`;
const raw =
  (bytes: string | Buffer): Behaviour =>
  (socket) =>
    socket.write(bytes);

const failures: [name: string, behaviour: Behaviour, code: string, attempts: number][] = [
  ['a connection reset before the response', reset, 'UPSTREAM_UNAVAILABLE', 3],
  ['a connection cut in the middle of a body', cutInBody, 'UPSTREAM_UNAVAILABLE', 3],
  ['a connection closed without a response', (socket) => socket.end(), 'UPSTREAM_UNAVAILABLE', 3],
  [
    'a chunked body that never gets its last chunk',
    (socket) => socket.end(head('transfer-encoding: chunked') + '2\r\n{}\r\n'),
    'UPSTREAM_UNAVAILABLE',
    3,
  ],
  ['no response at all', silence, 'UPSTREAM_TIMEOUT', 1],
  ['headers that never end', drip('HTTP/1.1 200 OK\r\n', 'x-a: b\r\n'), 'UPSTREAM_TIMEOUT', 1],
  ['headers that stop', raw('HTTP/1.1 200 OK\r\nx-a: '), 'UPSTREAM_TIMEOUT', 1],
  [
    'headers that are too large',
    raw(`HTTP/1.1 200 OK\r\nx-a: ${'b'.repeat(40_000)}\r\n\r\n`),
    'UPSTREAM_INVALID_RESPONSE',
    1,
  ],
  ['a body that stops', raw(`${head('content-length: 100')}{"a":`), 'UPSTREAM_TIMEOUT', 1],
  ['a body that drips for ever', drip(head('content-length: 100000'), ' ', 20), 'UPSTREAM_TIMEOUT', 1],
  ['a chunked drip', drip(head('transfer-encoding: chunked'), '1\r\n \r\n', 20), 'UPSTREAM_TIMEOUT', 1],
  ['a body too large, announced', json(' '.repeat(10_001)), 'UPSTREAM_INVALID_RESPONSE', 1],
  [
    'a body too large, streamed',
    drip(head('transfer-encoding: chunked'), `1000\r\n${' '.repeat(4096)}\r\n`, 1),
    'UPSTREAM_INVALID_RESPONSE',
    1,
  ],
  [
    'a gzip bomb',
    (socket, upstreamRequest) => {
      const bomb = gzipSync(Buffer.alloc(5_000_000));
      expect(bomb.length).toBeLessThan(10_000);
      socket.write(`${head(`content-encoding: gzip\r\ncontent-length: ${bomb.length}`)}`);
      socket.write(bomb);
      return upstreamRequest;
    },
    'UPSTREAM_INVALID_RESPONSE',
    1,
  ],
  [
    'gzip inside gzip, declared',
    (socket) => {
      const twice = gzipSync(gzipSync('{}'));
      socket.write(head(`content-encoding: gzip, gzip\r\ncontent-length: ${twice.length}`));
      socket.write(twice);
    },
    'UPSTREAM_INVALID_RESPONSE',
    1,
  ],
  [
    'gzip inside gzip, undeclared',
    (socket) => {
      const twice = gzipSync(gzipSync('{}'));
      socket.write(head(`content-encoding: gzip\r\ncontent-length: ${twice.length}`));
      socket.write(twice);
    },
    'UPSTREAM_INVALID_RESPONSE',
    1,
  ],
  [
    'gzip cut short',
    (socket) => {
      const short = gzipSync('{"a":"活着活着活着"}').subarray(0, -9);
      socket.write(head(`content-encoding: gzip\r\ncontent-length: ${short.length}`));
      socket.write(short);
    },
    'UPSTREAM_INVALID_RESPONSE',
    1,
  ],
  ['an encoding that was not requested', json('{}', 200, { 'content-encoding': 'br' }), 'UPSTREAM_INVALID_RESPONSE', 1],
  [
    'bytes that are not UTF-8',
    (socket) => {
      socket.write(head('content-length: 4'));
      socket.write(Buffer.from('"\xff\xfe"', 'latin1'));
    },
    'UPSTREAM_INVALID_RESPONSE',
    1,
  ],
  ['a response that is not HTTP', raw('SSH-2.0-OpenSSH_9.6\r\n'), 'UPSTREAM_INVALID_RESPONSE', 1],
];

test.each(failures)('%s fails with its code, and leaves no connection open', async (_, behaviour, code, attempts) => {
  const { service, transport, send } = await transportTo(behaviour, code === 'UPSTREAM_TIMEOUT' ? quick : {});
  expect(await errorCodeOf(send())).toBe(code);
  await until(() => service.requests.length > 0); // the abort may come before the request was read
  expect(service.requests).toHaveLength(attempts);
  await transport.close();
  await until(() => service.open() === 0);
});

test('a body of exactly the limit is read', async () => {
  const { send } = await transportTo(json('{}'.padStart(10_000)));
  expect(await send()).toMatchObject({ status: 200, bytes: 10_000 });
});

test('a refused connection is retried, then reported as unavailable', async () => {
  const { service, transport, send } = await transportTo(silence);
  await service.close();
  expect(await errorCodeOf(send())).toBe('UPSTREAM_UNAVAILABLE');
  expect(await errorCodeOf(send(post))).toBe('UPSTREAM_UNAVAILABLE'); // nothing was sent, so the outcome is known
  await transport.close();
});

test('a connection attempt without a TLS handshake times out', async () => {
  // Accepts connections but never starts the TLS handshake.
  const mute = createServer().listen(0, '127.0.0.1');
  await once(mute, 'listening');
  const url = `https://127.0.0.1:${(mute.address() as AddressInfo).port}`;
  const { transport, send } = await transportTo(silence, { ...quick, connectTimeoutMs: 300, baseUrl: url });
  expect(await errorCodeOf(send())).toBe('UPSTREAM_TIMEOUT');
  await transport.close();
  mute.close();
});

test('a host name that does not resolve is reported as unavailable', async () => {
  const { transport, send } = await transportTo(silence, { baseUrl: 'http://nowhere.invalid', readAttempts: 1 });
  expect(await errorCodeOf(send())).toBe('UPSTREAM_UNAVAILABLE');
  await transport.close();
});

test('a read is retried after two lost connections, and after two gateway errors', async () => {
  const { send } = await transportTo(inTurn(reset, cutInBody, json('{"a":1}')));
  expect(await send()).toMatchObject({ status: 200, text: '{"a":1}', attempts: 3 });
  const gateway = await transportTo(inTurn(json('', 502), json('', 503), json('{"a":2}')));
  expect(await gateway.send()).toMatchObject({ text: '{"a":2}', attempts: 3 });
  const down = await transportTo(json('down', 504));
  expect(await down.send()).toMatchObject({ status: 504, attempts: 3 });
});

test('a byte order mark is removed from the response, plain and in gzip', async () => {
  const packed = gzipSync('\ufeff{"a":1}');
  const inGzip: Behaviour = (socket) => {
    socket.write(head(`content-encoding: gzip\r\ncontent-length: ${packed.length}`));
    socket.write(packed);
  };
  const { send } = await transportTo(inTurn(json('\ufeff{"a":1}'), inGzip, json('\ufeff')));
  for (const body of ['{"a":1}', '{"a":1}', '']) expect((await send()).text).toBe(body);
});

test('a body that arrives in several chunks is read whole, plain and in gzip, wherever it is split', async () => {
  const text = '{"title":"活着"}';
  const chunked =
    (body: Buffer, encoding: string): Behaviour =>
    (socket) => {
      socket.write(head(`${encoding}transfer-encoding: chunked`));
      for (const byte of body)
        socket.write(Buffer.concat([Buffer.from('1\r\n'), Buffer.of(byte), Buffer.from('\r\n')]));
      socket.write('0\r\n\r\n');
    };
  const { send } = await transportTo(
    inTurn(chunked(Buffer.from(text), ''), chunked(gzipSync(text), 'content-encoding: gzip\r\n')),
  );
  for (let round = 0; round < 2; round++) expect((await send()).text).toBe(text);
});

test('an empty Content-Encoding counts as absent, and x-gzip as gzip', async () => {
  const packed = gzipSync('{"a":1}');
  const inGzip: Behaviour = (socket) => {
    socket.write(head(`content-encoding: x-gzip\r\ncontent-length: ${packed.length}`));
    socket.write(packed);
  };
  const { send } = await transportTo(inTurn(json('{"a":1}', 200, { 'content-encoding': '' }), inGzip));
  for (let round = 0; round < 2; round++) expect((await send()).text).toBe('{"a":1}');
});

test('a read on an idle connection that was closed is retried without an error', async () => {
  const { service, send } = await transportTo(json('{"a":1}'));
  for (let round = 0; round < 5; round++) {
    expect((await send()).text).toBe('{"a":1}');
    service.hangUp();
  }
});

test('a service that closes the connection after each response, or instead of every second one, is still readable', async () => {
  const { send } = await transportTo((socket, upstreamRequest) => {
    if (upstreamRequest.nth % 2 === 1) return socket.resetAndDestroy();
    json('{"a":1}', 200, { connection: 'close' })(socket, upstreamRequest);
    return socket.end();
  });
  for (let round = 0; round < 8; round++) expect((await send()).text).toBe('{"a":1}');
});

test.each([
  ['reset', reset, {}],
  ['cut within the response', cutInBody, {}],
  ['open without a response', silence, quick],
] as const)(
  'a write is sent once and its result is unknown if the connection is %s',
  async (_, behaviour, settings) => {
    const { service, send } = await transportTo(behaviour, settings);
    expect(await errorCodeOf(send(post))).toBe('UPSTREAM_RESULT_UNKNOWN');
    await until(() => service.requests.length > 0);
    expect(service.requests).toHaveLength(1);
  },
);

test('a write is not retried after a gateway error', async () => {
  const { service, send } = await transportTo(json('', 503));
  expect(await send(post)).toMatchObject({ status: 503, attempts: 1 });
  expect(service.requests).toHaveLength(1);
});

test('the timeout of a call includes its retries', async () => {
  const slowThenReset: Behaviour = (socket) => setTimeout(() => socket.resetAndDestroy(), 120);
  const { service, send } = await transportTo(slowThenReset, { callTimeoutMs: 200, readAttempts: 10 });
  expect(['UPSTREAM_TIMEOUT', 'UPSTREAM_UNAVAILABLE']).toContain(await errorCodeOf(send()));
  expect(service.requests.length).toBeLessThan(4);
});

test('a retry that the rate limiter rejects is not sent', async () => {
  const { service, send } = await transportTo(json('', 503), { readAttempts: 10 });
  let abandoned = 2;
  const response = await send({ chargeRetry: () => Promise.resolve(abandoned-- > 0) });
  expect(response).toMatchObject({ status: 503, attempts: 3 });
  expect(service.requests).toHaveLength(3);
});

test('redirects are not followed, and the token is not sent to their target', async () => {
  const elsewhere = await hostile();
  for (const status of [301, 302, 303, 307, 308]) {
    const { send } = await transportTo(json('{}', status, { location: `${elsewhere.url}/take` }));
    expect((await send({ headers: ['authorization', 'Bearer secret'] })).status).toBe(status);
  }
  expect(elsewhere.requests).toEqual([]);
});

test('cancelling a call closes its connection, whether it waits for headers, a body or a retry', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(1_000); // keeps the second attempt from starting before the cancellation
  for (const behaviour of [silence, drip(head('content-length: 1000'), ' '), reset]) {
    const { service, transport, send } = await transportTo(behaviour, { readAttempts: 10 });
    const cancellation = createCancellationToken();
    const fault = errorCodeOf(send({}, cancellation));
    const isWaiting = () => behaviour !== reset || transport.state().catalog.running === 0;
    await until(() => service.requests.length > 0 && isWaiting());
    cancel(cancellation, new Error('left'));
    expect(await fault).toBe(behaviour === reset ? 'UPSTREAM_UNAVAILABLE' : 'UPSTREAM_TIMEOUT');
    await transport.close();
    await until(() => service.open() === 0);
  }
  const { service, transport, send } = await transportTo(silence);
  const cancelled = createCancellationToken();
  cancel(cancelled, new Error('left'));
  expect(await errorCodeOf(send({}, cancelled))).toBe('UPSTREAM_TIMEOUT');
  expect(transport.state().catalog.running).toBe(0); // it takes no connection either
  expect(service.requests).toEqual([]);
});

test('the circuit breaker opens after a few failures, and sends one trial call after a pause', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const settings = { breakerFailures: 3, breakerPauseMs: 100, readAttempts: 1 };
  const { service, transport, send } = await transportTo(reset, settings);
  for (let n = 0; n < 3; n++) expect(await errorCodeOf(send())).toBe('UPSTREAM_UNAVAILABLE');
  expect(service.requests).toHaveLength(3);
  expect(await errorCodeOf(send())).toBe('UPSTREAM_UNAVAILABLE');
  expect(service.requests).toHaveLength(3); // the breaker is open
  expect(transport.state().catalog.isOpen).toBe(true);

  vi.advanceTimersByTime(100);
  const results = await Promise.all(Array.from({ length: 20 }, () => errorCodeOf(send())));
  expect(new Set(results)).toEqual(new Set(['UPSTREAM_UNAVAILABLE']));
  expect(service.requests).toHaveLength(4); // one of the twenty was sent as a trial

  service.behave(json('{}'));
  vi.advanceTimersByTime(199); // the pause has doubled by now
  expect(await errorCodeOf(send())).toBe('UPSTREAM_UNAVAILABLE');
  vi.advanceTimersByTime(1);
  await send();
  expect(transport.state().catalog.isOpen).toBe(false);
  const responses = await Promise.all(Array.from({ length: 20 }, () => send()));
  expect(responses).toHaveLength(20);
});

test('a cancelled trial call lets the next call be the trial', async () => {
  const { service, transport, send } = await transportTo(reset, {
    breakerFailures: 1,
    readAttempts: 1,
    breakerPauseMs: 1,
  });
  await errorCodeOf(send());
  service.behave(silence);
  await new Promise((resolve) => setTimeout(resolve, 20));
  const cancellation = createCancellationToken();
  const given = errorCodeOf(send({}, cancellation));
  await until(() => service.requests.length === 2);
  cancel(cancellation, new Error('left'));
  await given;
  service.behave(json('{}'));
  expect((await send()).status).toBe(200);
  expect(transport.state().catalog.isOpen).toBe(false);
});

test('error responses, invalid responses and cancelled calls do not open the circuit breaker', async () => {
  const { service, transport, send } = await transportTo(json('no', 500), { breakerFailures: 1 });
  await send();
  service.behave(raw('nonsense\r\n\r\n'));
  await errorCodeOf(send());
  service.behave(silence);
  const cancellation = createCancellationToken();
  const abandoned = errorCodeOf(send({}, cancellation));
  await until(() => service.requests.length === 3);
  cancel(cancellation, new Error('left'));
  await abandoned;
  expect(transport.state().catalog.isOpen).toBe(false);
});

test('calls above the most connections wait', async () => {
  const held: (() => void)[] = [];
  const { service, transport, send } = await transportTo(
    (socket, upstreamRequest) => held.push(() => json('{}')(socket, upstreamRequest)),
    { maxConnections: 12 },
  );
  const calls = Promise.all(Array.from({ length: 30 }, () => send()));
  await until(() => service.requests.length === 12);
  await new Promise((resolve) => setTimeout(resolve, 120));
  expect(service.requests).toHaveLength(12);
  expect(transport.state().catalog).toMatchObject({ running: 12, waiting: 18 });
  const pump = setInterval(() => held.splice(0).forEach((go) => go()), 5);
  expect(await calls).toHaveLength(30);
  clearInterval(pump);
  expect(service.connections()).toBe(12);
  expect(transport.state().catalog).toMatchObject({ running: 0, waiting: 0 });
});

test('cancelling a call that waits for a connection removes it from the queue', async () => {
  const { service, transport, send } = await transportTo(silence, { maxConnections: 1 });
  const [one, other] = [createCancellationToken(), createCancellationToken()];
  const first = errorCodeOf(send({}, one));
  const second = errorCodeOf(send(post, other));
  await until(() => service.requests.length === 1);
  cancel(other, new Error('left'));
  expect(await second).toBe('UPSTREAM_TIMEOUT'); // never sent, so the outcome is known
  cancel(one, new Error('left'));
  expect(await first).toBe('UPSTREAM_TIMEOUT');
  expect(transport.state().catalog).toMatchObject({ running: 0, waiting: 0 });
});

/** One connection at once: otherwise a second one may be made while the first is about to be idle. */
const one = { maxConnections: 1 };

/** Two servers of one name: new connections go to the first until the name moves. */
async function movingService() {
  const [old, other] = [await hostile(json('"old"')), await hostile(json('"other"'))];
  let target = old;
  const server = createServer({ noDelay: true }, (socket) => {
    const { port } = new URL(target.url);
    const beyond = connect({ port: Number(port), host: '127.0.0.1', noDelay: true });
    socket.pipe(beyond).pipe(socket);
    socket.on('error', () => beyond.destroy());
    beyond.on('error', () => socket.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    move: () => void (target = other),
  };
}

test('a connection is used for so many requests, then a new one finds where the service has moved to', async () => {
  const service = await movingService();
  const { send, transport } = await transportTo(json(''), { ...one, baseUrl: service.url });
  expect((await send()).text).toBe('"old"');
  service.move();
  for (let made = 1; made < REQUESTS_MAX; made++) expect((await send()).text).toBe('"old"');
  while ((await send()).text !== '"other"') await sleep(5);
  await transport.close();
});

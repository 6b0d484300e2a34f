import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, expect, test, vi } from 'vitest';
import { readConfig } from '../../../src/config/read.ts';
import { UpstreamFailure } from '../../../src/upstream/errors.ts';
import { createCancellationToken, cancel } from '../../../src/lib/cancellation.ts';
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

/** Quick to give up, where that is tested. */
const quick = { headersTimeoutMs: 300, bodyTimeoutMs: 300, callTimeoutMs: 900 };

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

async function over(behaviour: Behaviour, settings: Partial<TransportSettings> = {}) {
  const service = await hostile(behaviour);
  const transport = createTransport({
    ...readConfig({}),
    ...patient,
    breakerFailures: 1_000,
    baseUrl: service.url,
    eventBaseUrl: service.url,
    ...settings,
  });
  const send = (request: Partial<HttpRequest> = {}, asker = createCancellationToken()) =>
    transport.send(
      {
        service: 'catalog',
        method: 'GET',
        path: '/x',
        headers: [],
        maxBytes: 10_000,
        requestLine: 'GET /x',
        ...request,
      },
      asker,
    );
  return { service, transport, send };
}

const post = { method: 'POST', body: 'a=1', requestLine: 'POST /x' } as const;

/** The code of the fault that a call ends with. */
async function faultOf(call: Promise<unknown>): Promise<string> {
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

const faults: [name: string, behaviour: Behaviour, code: string, attempts: number][] = [
  ['a connection reset before the answer', reset, 'UPSTREAM_UNAVAILABLE', 3],
  ['a connection cut in the middle of a body', cutInBody, 'UPSTREAM_UNAVAILABLE', 3],
  ['a connection ended politely without an answer', (socket) => socket.end(), 'UPSTREAM_UNAVAILABLE', 3],
  [
    'a chunked body that never gets its last chunk',
    (socket) => socket.end(head('transfer-encoding: chunked') + '2\r\n{}\r\n'),
    'UPSTREAM_UNAVAILABLE',
    3,
  ],
  ['no answer at all', silence, 'UPSTREAM_TIMEOUT', 1],
  ['headers that never end', drip('HTTP/1.1 200 OK\r\n', 'x-a: b\r\n'), 'UPSTREAM_TIMEOUT', 1],
  ['headers that stop', raw('HTTP/1.1 200 OK\r\nx-a: '), 'UPSTREAM_TIMEOUT', 1],
  [
    'headers past all measure',
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
    (socket, heard) => {
      const bomb = gzipSync(Buffer.alloc(5_000_000));
      expect(bomb.length).toBeLessThan(10_000);
      socket.write(`${head(`content-encoding: gzip\r\ncontent-length: ${bomb.length}`)}`);
      socket.write(bomb);
      return heard;
    },
    'UPSTREAM_INVALID_RESPONSE',
    1,
  ],
  [
    'gzip inside gzip, said so',
    (socket) => {
      const twice = gzipSync(gzipSync('{}'));
      socket.write(head(`content-encoding: gzip, gzip\r\ncontent-length: ${twice.length}`));
      socket.write(twice);
    },
    'UPSTREAM_INVALID_RESPONSE',
    1,
  ],
  [
    'gzip inside gzip, not said',
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
  ['an encoding that nobody asked for', json('{}', 200, { 'content-encoding': 'br' }), 'UPSTREAM_INVALID_RESPONSE', 1],
  [
    'bytes that are not UTF-8',
    (socket) => {
      socket.write(head('content-length: 4'));
      socket.write(Buffer.from('"\xff\xfe"', 'latin1'));
    },
    'UPSTREAM_INVALID_RESPONSE',
    1,
  ],
  ['something that is no HTTP', raw('SSH-2.0-OpenSSH_9.6\r\n'), 'UPSTREAM_INVALID_RESPONSE', 1],
];

test.each(faults)('%s has its code, and leaves no connection behind', async (_, behaviour, code, attempts) => {
  const { service, transport, send } = await over(behaviour, code === 'UPSTREAM_TIMEOUT' ? quick : {});
  expect(await faultOf(send())).toBe(code);
  await until(() => service.heard.length > 0); // given up, it may still be read
  expect(service.heard).toHaveLength(attempts);
  await transport.close();
  await until(() => service.open() === 0);
});

test('a connection that is refused is tried again, and then told', async () => {
  const { service, transport, send } = await over(silence);
  await service.close();
  expect(await faultOf(send())).toBe('UPSTREAM_UNAVAILABLE');
  expect(await faultOf(send(post))).toBe('UPSTREAM_UNAVAILABLE'); // nothing was sent, so the outcome is known
  await transport.close();
});

test('a connection that is never made is given up', async () => {
  // Takes the connection and never speaks TLS.
  const mute = createServer().listen(0, '127.0.0.1');
  await once(mute, 'listening');
  const url = `https://127.0.0.1:${(mute.address() as AddressInfo).port}`;
  const { transport, send } = await over(silence, { ...quick, connectTimeoutMs: 300, baseUrl: url });
  expect(await faultOf(send())).toBe('UPSTREAM_TIMEOUT');
  await transport.close();
  mute.close();
});

test('a name that does not resolve is told as unreachable', async () => {
  const { transport, send } = await over(silence, { baseUrl: 'http://nowhere.invalid', readAttempts: 1 });
  expect(await faultOf(send())).toBe('UPSTREAM_UNAVAILABLE');
  await transport.close();
});

test('a read outlives two lost connections, and gateways that fail twice', async () => {
  const { send } = await over(inTurn(reset, cutInBody, json('{"a":1}')));
  expect(await send()).toMatchObject({ status: 200, body: Buffer.from('{"a":1}'), attempts: 3 });
  const gateway = await over(inTurn(json('', 502), json('', 503), json('{"a":2}')));
  expect(await gateway.send()).toMatchObject({ body: Buffer.from('{"a":2}'), attempts: 3 });
  const down = await over(json('down', 504));
  expect(await down.send()).toMatchObject({ status: 504, attempts: 3 });
});

test('an answer loses its byte order mark, plain and in gzip, and one that is nothing else is empty', async () => {
  const packed = gzipSync('\ufeff{"a":1}');
  const inGzip: Behaviour = (socket) => {
    socket.write(head(`content-encoding: gzip\r\ncontent-length: ${packed.length}`));
    socket.write(packed);
  };
  const { send } = await over(inTurn(json('\ufeff{"a":1}'), inGzip, json('\ufeff')));
  for (const body of ['{"a":1}', '{"a":1}', '']) expect((await send()).body.toString()).toBe(body);
});

test('a connection that died while it was idle costs a read nothing', async () => {
  const { service, send } = await over(json('{"a":1}'));
  for (let round = 0; round < 5; round++) {
    expect((await send()).body.toString()).toBe('{"a":1}');
    service.hangUp();
  }
});

test('a service that hangs up after each answer, or in place of every second one, is still read', async () => {
  const { send } = await over((socket, heard) => {
    if (heard.nth % 2 === 1) return socket.resetAndDestroy();
    json('{"a":1}', 200, { connection: 'close' })(socket, heard);
    return socket.end();
  });
  for (let round = 0; round < 8; round++) expect((await send()).body.toString()).toBe('{"a":1}');
});

test.each([
  ['reset', reset, {}],
  ['cut in its answer', cutInBody, {}],
  ['never answered', silence, quick],
] as const)(
  'a write that is %s is sent once, and its outcome is said to be unknown',
  async (_, behaviour, settings) => {
    const { service, send } = await over(behaviour, settings);
    expect(await faultOf(send(post))).toBe('UPSTREAM_RESULT_UNKNOWN');
    await until(() => service.heard.length > 0);
    expect(service.heard).toHaveLength(1);
  },
);

test('a write that a gateway fails is sent once', async () => {
  const { service, send } = await over(json('', 503));
  expect(await send(post)).toMatchObject({ status: 503, attempts: 1 });
  expect(service.heard).toHaveLength(1);
});

test('attempts end with the time of the call', async () => {
  const slowThenReset: Behaviour = (socket) => setTimeout(() => socket.resetAndDestroy(), 120);
  const { service, send } = await over(slowThenReset, { callTimeoutMs: 200, readAttempts: 10 });
  expect(['UPSTREAM_TIMEOUT', 'UPSTREAM_UNAVAILABLE']).toContain(await faultOf(send()));
  expect(service.heard.length).toBeLessThan(4);
});

test('an attempt that cannot be paid is not made', async () => {
  const { service, send } = await over(json('', 503), { readAttempts: 10 });
  let left = 2;
  const answer = await send({ chargeRetry: () => Promise.resolve(left-- > 0) });
  expect(answer).toMatchObject({ status: 503, attempts: 3 });
  expect(service.heard).toHaveLength(3);
});

test('redirects are not followed, and the token is not sent on', async () => {
  const elsewhere = await hostile();
  for (const status of [301, 302, 303, 307, 308]) {
    const { send } = await over(json('{}', status, { location: `${elsewhere.url}/take` }));
    expect((await send({ headers: ['authorization', 'Bearer secret'] })).status).toBe(status);
  }
  expect(elsewhere.heard).toEqual([]);
});

test('a caller who goes away takes the call along, whatever it was waiting for', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(1_000); // no second attempt comes before the caller leaves
  for (const behaviour of [silence, drip(head('content-length: 1000'), ' '), reset]) {
    const { service, transport, send } = await over(behaviour, { readAttempts: 10 });
    const caller = createCancellationToken();
    const fault = faultOf(send({}, caller));
    const isWaiting = () => behaviour !== reset || transport.state().catalog.running === 0;
    await until(() => service.heard.length > 0 && isWaiting());
    cancel(caller, new Error('left'));
    expect(await fault).toBe(behaviour === reset ? 'UPSTREAM_UNAVAILABLE' : 'UPSTREAM_TIMEOUT');
    await transport.close();
    await until(() => service.open() === 0);
  }
  const { service, send } = await over(silence);
  const gone = createCancellationToken();
  cancel(gone, new Error('left'));
  expect(await faultOf(send({}, gone))).toBe('UPSTREAM_TIMEOUT');
  expect(service.heard).toEqual([]);
});

test('a service that is down is left alone after a few faults, and tried with one call after a pause', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const settings = { breakerFailures: 3, breakerPauseMs: 100, readAttempts: 1 };
  const { service, transport, send } = await over(reset, settings);
  for (let n = 0; n < 3; n++) expect(await faultOf(send())).toBe('UPSTREAM_UNAVAILABLE');
  expect(service.heard).toHaveLength(3);
  expect(await faultOf(send())).toBe('UPSTREAM_UNAVAILABLE');
  expect(service.heard).toHaveLength(3); // not asked
  expect(transport.state().catalog.isOpen).toBe(true);
  expect(() => transport.requireAvailable({ service: 'catalog', requestLine: 'GET /x' })).toThrow(UpstreamFailure);
  transport.requireAvailable({ service: 'event', requestLine: 'GET /x' });

  vi.advanceTimersByTime(100);
  const crowd = await Promise.all(Array.from({ length: 20 }, () => faultOf(send())));
  expect(new Set(crowd)).toEqual(new Set(['UPSTREAM_UNAVAILABLE']));
  expect(service.heard).toHaveLength(4); // one of the twenty tried

  service.behave(json('{}'));
  vi.advanceTimersByTime(199); // the pause is twice as long by now
  expect(await faultOf(send())).toBe('UPSTREAM_UNAVAILABLE');
  vi.advanceTimersByTime(1);
  await send();
  expect(transport.state().catalog.isOpen).toBe(false);
  const answers = await Promise.all(Array.from({ length: 20 }, () => send()));
  expect(answers).toHaveLength(20);
});

test('a trial that its caller gives up lets the next one try', async () => {
  const { service, transport, send } = await over(reset, { breakerFailures: 1, readAttempts: 1, breakerPauseMs: 1 });
  await faultOf(send());
  service.behave(silence);
  await new Promise((resolve) => setTimeout(resolve, 20));
  const caller = createCancellationToken();
  const given = faultOf(send({}, caller));
  await until(() => service.heard.length === 2);
  cancel(caller, new Error('left'));
  await given;
  service.behave(json('{}'));
  expect((await send()).status).toBe(200);
  expect(transport.state().catalog.isOpen).toBe(false);
});

test('refusals, nonsense and callers who leave do not count as being down', async () => {
  const { service, transport, send } = await over(json('no', 500), { breakerFailures: 1 });
  await send();
  service.behave(raw('nonsense\r\n\r\n'));
  await faultOf(send());
  service.behave(silence);
  const caller = createCancellationToken();
  const left = faultOf(send({}, caller));
  await until(() => service.heard.length === 3);
  cancel(caller, new Error('left'));
  await left;
  expect(transport.state().catalog.isOpen).toBe(false);
});

test('a crowd of quick calls keeps to a few connections; more are opened while calls wait', async () => {
  const settings = { maxConnections: 4, maxBusyConnections: 12 };
  const quickly = await over(json('{}'), settings);
  await Promise.all(Array.from({ length: 40 }, () => quickly.send()));
  expect(quickly.service.connections()).toBeLessThanOrEqual(12);

  const held: (() => void)[] = [];
  const { service, transport, send } = await over(
    (socket, heard) => held.push(() => json('{}')(socket, heard)),
    settings,
  );
  const calls = Promise.all(Array.from({ length: 30 }, () => send()));
  await until(() => service.heard.length === 12);
  await new Promise((resolve) => setTimeout(resolve, 120));
  expect(service.heard).toHaveLength(12);
  expect(transport.state().catalog).toMatchObject({ running: 12, waiting: 18 });
  const pump = setInterval(() => held.splice(0).forEach((go) => go()), 5);
  expect(await calls).toHaveLength(30);
  clearInterval(pump);
  expect(service.connections()).toBe(12);
  expect(transport.state().catalog).toMatchObject({ running: 0, waiting: 0 });
});

test('a call that waits for a connection ends with its caller', async () => {
  const { service, transport, send } = await over(silence, { maxConnections: 1, maxBusyConnections: 1 });
  const [one, other] = [createCancellationToken(), createCancellationToken()];
  const first = faultOf(send({}, one));
  const second = faultOf(send(post, other));
  await until(() => service.heard.length === 1);
  cancel(other, new Error('left'));
  expect(await second).toBe('UPSTREAM_TIMEOUT'); // never sent, so its outcome is known
  cancel(one, new Error('left'));
  expect(await first).toBe('UPSTREAM_TIMEOUT');
  expect(transport.state().catalog).toMatchObject({ running: 0, waiting: 0 });
});

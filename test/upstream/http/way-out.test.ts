import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { type RequestListener, createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { proxyFor } from '../../../src/config/proxy.ts';
import { ConfigError, readConfig } from '../../../src/config/read.ts';
import { createCancellationToken } from '../../../src/lib/cancellation.ts';
import { REQUESTS_MAX } from '../../../src/upstream/http/dispatcher.ts';
import type { HttpRequest } from '../../../src/upstream/http/request.ts';
import { createTransport } from '../../../src/upstream/http/pool.ts';
import { createAuthority, hasOpenssl } from '../../support/certificates.ts';
import { configWith } from '../../support/config.ts';
import { HANG_UP, connectProxy } from '../../support/connect-proxy.ts';
import { listen } from '../../support/listen.ts';

const TOKEN = 'sesame-token';
const listening = async (server: Parameters<typeof listen>[0]) => new URL(await listen(server)).port;

const read: HttpRequest = {
  service: 'catalog',
  method: 'GET',
  path: '/v2/book/1',
  headers: ['accept', 'application/json', 'authorization', `Bearer ${TOKEN}`],
  maxBytes: 10_000,
};

/** Calls with these settings; over a base URL for both services. */
function caller(base: string, env: NodeJS.ProcessEnv) {
  const config = configWith({ BASE_URL: base, EVENT_BASE_URL: base, READ_ATTEMPTS: '1', ...env });
  const outages: unknown[] = [];
  const transport = createTransport({ ...config, baseUrl: base, eventBaseUrl: base }, undefined, (...outage) =>
    outages.push(outage),
  );
  onTestFinished(transport.close);
  const send = async (more: Partial<HttpRequest> = {}) => {
    try {
      const { status, text } = await transport.send({ ...read, ...more }, createCancellationToken());
      return `${status} ${text}`;
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  return { config, send, outages, transport };
}

describe.skipIf(!hasOpenssl)('an upstream with a certificate', async () => {
  const authority = hasOpenssl ? createAuthority() : undefined!;
  const own = authority.issue('server');
  const received: string[] = [];
  const respond: RequestListener = (request, response) => {
    received.push(`${request.method} ${request.url} ${request.headers.host} ${request.headers.authorization}`);
    if (request.url!.includes('moved')) return response.writeHead(302, { location: 'https://127.0.0.1:9/' }).end();
    const name = (request.socket as TLSSocket).getPeerCertificate?.()?.subject?.CN;
    response.end(JSON.stringify({ id: '1', name }));
  };
  const port = await listening(createHttpsServer(authority.read(own), respond));
  const picky = await listening(
    createHttpsServer(
      { ...authority.read(own), requestCert: true, rejectUnauthorized: true, ca: readFileSync(authority.ca) },
      respond,
    ),
  );
  const expired = await listening(createHttpsServer(authority.read(authority.issue('expired', -1)), respond));
  const plain = await listening(createHttpServer(respond));
  const withCa = { BASE_URL_CA: authority.ca, EVENT_BASE_URL_CA: authority.ca };

  test('is called directly where there is no proxy, by the authority that is set', async () => {
    const { send } = caller(`https://127.0.0.1:${port}`, withCa);
    expect(await send()).toBe('200 {"id":"1"}');
  });

  test.each([
    ['that is not signed by a known authority', () => port, {}, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    ['that has expired', () => expired, withCa, 'CERT_HAS_EXPIRED'],
  ])('is not called with one %s', async (_, at, env, reason) => {
    const { send, outages } = caller(`https://127.0.0.1:${at()}`, { ...env, BREAKER_FAILURES: '1' });
    received.length = 0;
    expect(await send()).toBe('UPSTREAM_UNAVAILABLE');
    expect(outages).toEqual([['catalog', reason]]);
    expect(received).toEqual([]);
  });

  test('is called through the tunnel of a proxy, which sees no token and no path', async () => {
    const proxy = await connectProxy();
    const { send } = caller(`https://localhost:${port}`, { ...withCa, HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` });
    received.length = 0;
    const all = await Promise.all(Array.from({ length: 20 }, () => send()));
    expect(new Set(all)).toEqual(new Set(['200 {"id":"1"}']));
    expect(received).toHaveLength(20);
    expect(received[0]).toBe(`GET /v2/book/1 localhost:${port} Bearer ${TOKEN}`);
    expect(new Set(proxy.tunnels)).toEqual(new Set([`localhost:${port}`]));
    expect(proxy.seen()).not.toContain(TOKEN);
    expect(proxy.seen()).not.toContain('/v2/book');
    expect(proxy.seen().toLowerCase()).not.toContain('authorization: bearer');
  });

  test('keeps its tunnels: reads one after the other use one or two', async () => {
    const proxy = await connectProxy();
    const { send } = caller(`https://localhost:${port}`, { ...withCa, HTTPS_PROXY: `127.0.0.1:${proxy.port}` });
    for (let n = 0; n < 8; n++) expect(await send()).toContain('200');
    expect(proxy.tunnels.length).toBeLessThanOrEqual(2);
  });

  test('has no more tunnels than connections to a busy upstream', async () => {
    const proxy = await connectProxy();
    const limits = { MAX_CONNECTIONS: '2' };
    const { send } = caller(`https://localhost:${port}`, {
      ...withCa,
      ...limits,
      HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`,
    });
    await Promise.all(Array.from({ length: 12 }, () => send()));
    expect(proxy.tunnels.length).toBeLessThanOrEqual(2);
  });

  test('is reached through a proxy that wants a user, whose password is sent to the proxy alone', async () => {
    const proxy = await connectProxy('user:p@ss');
    const at = (user: string) => `http://${user}127.0.0.1:${proxy.port}`;
    const good = caller(`https://localhost:${port}`, { ...withCa, HTTPS_PROXY: at('user:p%40ss@') });
    received.length = 0;
    expect(await good.send()).toBe('200 {"id":"1"}');
    expect(received.join()).not.toMatch(/proxy|dXNlc/i);
    const bad = caller(`https://localhost:${port}`, {
      ...withCa,
      HTTPS_PROXY: at('user:wrong@'),
      BREAKER_FAILURES: '1',
    });
    expect(await bad.send()).toBe('UPSTREAM_UNAVAILABLE');
    expect(bad.outages).toEqual([['catalog', 'the proxy answers 407']]);
    expect(JSON.stringify(bad.outages)).not.toContain('wrong');
  });

  test.each(['403 Forbidden', '502 Bad Gateway', '302 Found'])(
    'is unreachable if the proxy answers %s',
    async (status) => {
      const proxy = await connectProxy();
      proxy.answer(status);
      const env = { ...withCa, HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` };
      const { send } = caller(`https://localhost:${port}`, env);
      expect(await send()).toBe('UPSTREAM_UNAVAILABLE');
      // Nothing was sent, so the caller of a write is not told that its result is unknown.
      expect(await send({ method: 'DELETE' })).toBe('UPSTREAM_UNAVAILABLE');
      proxy.answer(undefined);
      expect(await send()).toBe('200 {"id":"1"}');
    },
  );

  test('is unreachable if the proxy closes each connection, and the proxy is not asked without end', async () => {
    const proxy = await connectProxy();
    proxy.answer(HANG_UP);
    const env = { ...withCa, HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` };
    const { send } = caller(`https://localhost:${port}`, env);
    expect(await send()).toBe('UPSTREAM_UNAVAILABLE');
    expect(proxy.heads.length).toBeLessThanOrEqual(3); // READ_ATTEMPTS
    expect(await send({ method: 'DELETE' })).toBe('UPSTREAM_UNAVAILABLE');
    proxy.answer(undefined);
    expect(await send()).toBe('200 {"id":"1"}');
  });

  test('is unreachable, and its connections are free again, if the proxy never answers', async () => {
    const proxy = await connectProxy();
    proxy.answer('');
    const env = { ...withCa, HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`, CONNECT_TIMEOUT_MS: '50' };
    const { send, transport } = caller(`https://localhost:${port}`, env);
    expect(await send()).toMatch(/^UPSTREAM_(TIMEOUT|UNAVAILABLE)$/);
    expect(transport.state().catalog).toMatchObject({ running: 0, waiting: 0 });
  });

  test('is not followed to another address', async () => {
    const proxy = await connectProxy();
    const env = { ...withCa, HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` };
    const { send } = caller(`https://localhost:${port}`, env);
    expect(await send({ path: '/moved' })).toBe('302 ');
    expect(proxy.tunnels).toEqual([`localhost:${port}`]);
  });

  test('at http:// is called without the proxy, which would read the token', async () => {
    const proxy = await connectProxy();
    const at = `http://127.0.0.1:${proxy.port}`;
    const { send } = caller(`http://127.0.0.1:${plain}`, { HTTP_PROXY: at, HTTPS_PROXY: at });
    expect(await send()).toBe('200 {"id":"1"}');
    expect(proxy.heads).toEqual([]);
  });

  test('is called directly if NO_PROXY names it', async () => {
    const proxy = await connectProxy();
    const env = { ...withCa, HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`, NO_PROXY: `other, localhost:${port}` };
    expect(await caller(`https://localhost:${port}`, env).send()).toBe('200 {"id":"1"}');
    expect(proxy.heads).toEqual([]);
  });

  test('that demands one of the client gets it, through a proxy too', async () => {
    const client = authority.issue('facade');
    const base = `https://localhost:${picky}`;
    const env = { ...withCa, BASE_URL_CERT: client.cert, BASE_URL_KEY: client.key };
    expect(await caller(base, withCa).send()).toMatch(/^UPSTREAM_/);
    expect(await caller(base, env).send()).toBe('200 {"id":"1","name":"facade"}');
    const proxy = await connectProxy();
    const through = caller(base, { ...env, HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` });
    expect(await through.send()).toBe('200 {"id":"1","name":"facade"}');
    // The other upstream has files of its own.
    expect(await caller(base, env).send({ service: 'events' })).toMatch(/^UPSTREAM_/);
  });

  test('keeps the certificate of the start, whatever becomes of its files', async () => {
    const first = authority.issue('first');
    const [cert, key] = [join(authority.folder, 'now.pem'), join(authority.folder, 'now.key')];
    copyFileSync(first.cert, cert);
    copyFileSync(first.key, key);
    const base = `https://localhost:${picky}`;
    const env = { BASE_URL_CERT: cert, BASE_URL_KEY: key, ...withCa };
    const { send } = caller(base, env);
    expect(await send()).toBe('200 {"id":"1","name":"first"}');
    writeFileSync(cert, 'no certificate');
    copyFileSync(authority.issue('other').key, key);
    // Another connection is made meanwhile.
    for (let made = 0; made <= REQUESTS_MAX; made++) expect(await send()).toBe('200 {"id":"1","name":"first"}');
  });
});

test.each([
  ['a.example', 'a.example', true],
  ['b.a.example', 'a.example', true],
  ['b.a.example', '.a.example', true],
  ['a.example', '.a.example', true],
  ['b.a.example', '*.a.example', true],
  ['ba.example', 'a.example', false],
  ['a.example', 'b.example,A.EXAMPLE', true],
  ['a.example', 'b.example a.example', true],
  ['a.example', '*', true],
  ['a.example', 'b.example,*', true],
  ['a.example', '', false],
  ['a.example:8443', 'a.example', true],
  ['a.example:8443', 'a.example:8443', true],
  ['a.example:8443', 'a.example:443', false],
  ['a.example', 'a.example:443', true],
  ['a.example.', 'a.example', true],
  ['10.1.2.3', '10.1.2.3', true],
  ['10.1.2.3', '10.0.0.0/8', false],
  ['10.1.2.3', '2.3', false],
  ['[fd00::1]', 'fd00::1', true],
  ['[fd00::1]:8443', '[fd00::1]:8443', true],
  ['[fd00::1]', '::1', false],
])('whether https://%s is exempt by NO_PROXY=%s: %s', (host, list, expected) => {
  const settings = { httpsProxy: 'http://proxy.example:3128/', httpProxy: undefined, noProxy: list };
  expect(proxyFor(`https://${host}`, settings) === undefined).toBe(expected);
});

test('no list of hosts makes the choice of a proxy fail, and an address at http:// never has one', () => {
  fc.assert(
    fc.property(
      fc.string(),
      fc.constantFrom('http://a.example', 'https://b.example:8443/x', 'https://10.1.2.3'),
      (noProxy, address) => {
        const httpsProxy = 'http://proxy.example:3128/';
        const proxy = proxyFor(address, { httpsProxy, httpProxy: undefined, noProxy });
        if (address.startsWith('http:')) expect(proxy).toBeUndefined();
      },
    ),
  );
});

test.each([
  [{ BASE_URL_CERT: 'FILE' }, /BASE_URL must be an address with TLS.* because BASE_URL_CERT is set/],
  [{ BASE_URL_CA: '/nowhere' }, /BASE_URL_CA must be a file of certificates in PEM/],
])('the start refuses certificates that cannot be used: %o', (env, problem) => {
  const file = hasOpenssl ? createAuthority().ca : '/nowhere';
  const base = { BASE_URL: 'http://a', EVENT_BASE_URL: 'https://a' };
  const given = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value === 'FILE' ? file : value]));
  if (hasOpenssl || !('BASE_URL_CERT' in env)) expect(() => readConfig({ ...base, ...given })).toThrow(problem);
});

test.skipIf(!hasOpenssl)('the start refuses a certificate without its key, and with the key of another', () => {
  const authority = createAuthority();
  const [one, other] = [authority.issue('one'), authority.issue('other')];
  const base = { BASE_URL: 'https://a', EVENT_BASE_URL: 'https://a', BASE_URL_CERT: one.cert };
  expect(() => readConfig(base)).toThrow('BASE_URL_CERT and BASE_URL_KEY must be set together');
  expect(() => readConfig({ ...base, BASE_URL_KEY: other.key })).toThrow(
    'BASE_URL_KEY must be the key of BASE_URL_CERT',
  );
  expect(readConfig({ ...base, BASE_URL_KEY: one.key }).baseUrlKey).toBe(one.key);
});

test('variables in small letters count, as for other programs, and those in capitals too', () => {
  expect(readConfig({ https_proxy: 'http://a:1', HTTPS_PROXY: 'http://b:2' }).httpsProxy).toBe('http://a:1/');
  expect(readConfig({ HTTP_PROXY: 'b:2' }).httpProxy).toBe('http://b:2/');
});

test.each(['socks5://user:sesame@a:1', 'http://user:sesame@a:1/path', 'http://user:sesame%@a:1', 'user:sesame@a:x'])(
  'a proxy that cannot be used is refused without its password: %s',
  (HTTPS_PROXY) => {
    const start = () => readConfig({ HTTPS_PROXY });
    expect(start).toThrow(ConfigError);
    expect(start).toThrow(/HTTPS_PROXY must be an http/);
    expect(start).not.toThrow(/sesame/);
  },
);

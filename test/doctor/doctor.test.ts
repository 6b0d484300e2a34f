import { createServer } from 'node:https';
import { type AddressInfo, type Server, createServer as createTcpServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { diagnosesJson, diagnosesText, exitCodeOf, failed } from '../../src/doctor/diagnosis.ts';
import { diagnose } from '../../src/doctor/doctor.ts';
import { createAuthority, hasOpenssl } from '../support/certificates.ts';
import { configWith } from '../support/config.ts';
import { type Behaviour, hostile, json, response } from '../support/hostile.ts';
import { connectProxy } from '../support/connect-proxy.ts';
import { runProgram } from '../support/program.ts';
import { hasRedis } from '../support/redis.ts';
import { startRedis } from '../support/redis-process.ts';
import { service } from '../support/service.ts';

async function doctor(env: NodeJS.ProcessEnv) {
  const all = await diagnose({
    readSettings: () => configWith(env),
    withoutEffect: [],
  });
  return {
    all,
    exitCode: exitCodeOf(all),
    text: diagnosesText(all),
    lines: all.map(({ check, status }) => `${status} ${check}`),
    find: (check: string) => all.filter((each) => each.check === check),
  };
}
const over = (url: string, env: NodeJS.ProcessEnv = {}) => ({
  BASE_URL: url,
  EVENT_BASE_URL: url,
  READ_ATTEMPTS: '1',
  ...env,
});

/** Passes everything on to a service, and changes answers. */
async function changing(url: string, change: (path: string, body: string) => string) {
  const requests: string[] = [];
  const behaviour: Behaviour = async (socket, request) => {
    requests.push(`${request.method} ${request.path}`);
    const headers = { accept: request.headers.accept ?? '', authorization: request.headers.authorization ?? '' };
    const answer = await fetch(url + request.path, { headers });
    const type = answer.headers.get('content-type') ?? '';
    response(answer.status, type, change(request.path, await answer.text()), { date: new Date().toUTCString() })(
      socket,
      request,
    );
  };
  return { url: (await hostile(behaviour)).url, requests };
}

test('over the origin everything is well, in five reads', async () => {
  const origin = await service();
  const { url, requests } = await changing(origin.url, (_, body) => body);
  const { lines, exitCode, text } = await doctor(over(url, { ACCESS_TOKEN: 'demo-app', FILM_TIER: 'advance' }));
  expect(lines).toEqual(
    ['settings', 'redis', 'idempotency keys', 'upstream catalog', 'upstream events', 'token', 'caching'].map(
      (check) => `ok ${check}`,
    ),
  );
  expect(exitCode).toBe(0);
  expect(text).toContain('the token of ACCESS_TOKEN is accepted, film tier advance');
  expect(requests).toHaveLength(5);
  expect(requests.every((line) => line.startsWith('GET '))).toBe(true);
});

test("the doctor says that the service's headers forbid caching, and what is done", async () => {
  const origin = await service();
  const env = { ACCESS_TOKEN: 'demo-app' };
  const [relaxed] = (await doctor(over(origin.url, env))).find('caching');
  expect(relaxed!.status).toBe('ok');
  expect(relaxed!.message).toMatch(
    /public answers forbid or limit caching \(no-cache, private, must-revalidate, Expires in the past\); UPSTREAM_CACHE=relaxed/,
  );
  const [strict] = (await doctor(over(origin.url, { ...env, UPSTREAM_CACHE: 'strict' }))).find('caching');
  expect(strict).toMatchObject({
    status: 'warning',
    advice: expect.stringContaining('UPSTREAM_CACHE=relaxed') as string,
  });
  expect(strict!.message).toContain('are not cached');
});

test('a basic token reads nothing that its tier does not get, and FILM_TIER is held against what was seen', async () => {
  const origin = await service();
  const { find, exitCode } = await doctor(over(origin.url, { ACCESS_TOKEN: 'demo-bob', FILM_TIER: 'advance' }));
  expect(find('token')).toMatchObject([{ status: 'warning', advice: expect.stringContaining('FILM_TIER=basic') }]);
  expect(exitCode).toBe(0);
});

test.each([
  ['a page of a gateway', response(502, 'text/html', '<html>Bad Gateway</html>'), 'status 502, text/html'],
  ['a redirect', response(302, 'text/html', ''), 'status 302, a redirect, which is not followed'],
  ['the page of a firewall', response(403, 'text/html', '<html>Forbidden</html>'), 'status 403, a web page'],
  ['a server without these paths', response(404, 'text/plain', 'Not Found'), 'status 404, no error of the service'],
  ['the login page of a proxy', response(200, 'text/html', '<!doctype html><html></html>'), 'status 200, a web page'],
])('%s is no service, and is not read again and again', async (_, behaviour, expected) => {
  const upstream = await hostile(behaviour);
  const { find, exitCode } = await doctor(over(upstream.url, { ACCESS_TOKEN: 'x' }));
  expect(find('upstream catalog')).toMatchObject([{ status: 'failed', message: expect.stringContaining(expected) }]);
  expect(find('upstream events')).toMatchObject([{ status: 'failed' }]);
  expect(find('caching')).toMatchObject([{ status: 'warning' }]);
  expect(upstream.requests.length).toBeLessThanOrEqual(6);
  expect(exitCode).toBe(1);
});

test('a port that nothing listens on is named with what to check', async () => {
  const { find } = await doctor(over('http://127.0.0.1:9'));
  expect(find('upstream catalog')).toMatchObject([
    {
      status: 'failed',
      message: 'http://127.0.0.1:9 cannot be reached: ECONNREFUSED',
      advice: expect.stringContaining('BASE_URL'),
    },
  ]);
});

test('a token that the service does not accept fails, and is not printed', async () => {
  const origin = await service();
  const { all, find, text, exitCode } = await doctor(over(origin.url, { ACCESS_TOKEN: 'sesame-token' }));
  expect(find('token')).toMatchObject([{ status: 'failed', message: expect.stringContaining('code 103') }]);
  expect(exitCode).toBe(1);
  expect(text + diagnosesJson(all)).not.toContain('sesame');
});

const refusal = (status: number, code: number) => json(JSON.stringify({ code, msg: 'x', request: 'x' }), status);

test.each([
  [401, 103],
  [403, 106],
  [400, 104],
  [400, 105],
  [400, 131],
])('a %i with code %i for films alone fails, and the line of the token says so', async (status, code) => {
  const origin = await service();
  const upstream = await hostile(async (socket, request) => {
    if (request.path.startsWith('/v2/movie')) return refusal(status, code)(socket, request);
    const { accept = '', authorization = '' } = request.headers;
    const answer = await fetch(origin.url + request.path, { headers: { accept, authorization } });
    response(answer.status, answer.headers.get('content-type') ?? '', await answer.text())(socket, request);
  });
  const { find, exitCode } = await doctor(over(upstream.url, { ACCESS_TOKEN: 'demo-app', FILM_TIER: 'advance' }));
  expect(find('token')).toMatchObject([{ status: 'failed', message: expect.stringContaining(`code ${code}`) }]);
  expect(exitCode).toBe(1);
});

test('a 503 is reported as one, also if its body is cut', async () => {
  const { url } = await hostile((socket) => {
    socket.end('HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/html\r\ncontent-length: 99\r\n\r\n<html>');
  });
  const { find } = await doctor(over(url));
  expect(find('upstream catalog')).toMatchObject([
    { status: 'failed', message: expect.stringContaining('answers, but not as the service: status 503') as string },
  ]);
});

test('of a response without end the doctor reads no more bytes than the facade would, and says so', async () => {
  let written = 0;
  const { url } = await hostile((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n"');
    const piece = Buffer.alloc(100_000, 'x');
    const fill = (): void => {
      while (socket.writable && socket.write(piece));
    };
    socket.on('drain', fill).on('close', () => (written = Math.max(written, socket.bytesWritten)));
    fill();
  });
  const { find } = await doctor(over(url));
  expect(find('upstream catalog')).toMatchObject([
    { status: 'failed', message: expect.stringContaining('a response with too many bytes') as string },
  ]);
  expect(written).toBeGreaterThan(4_000_000);
});

test('a service that takes no calls without a key fails where there is no token', async () => {
  const upstream = await hostile(refusal(400, 131));
  const { find, exitCode } = await doctor(over(upstream.url));
  expect(find('token')).toMatchObject([{ status: 'failed', message: expect.stringContaining('without a token') }]);
  expect(exitCode).toBe(1);
});

test('a clock that is wrong is a warning', async () => {
  const date = new Date(Date.now() - 3_600_000).toUTCString();
  const upstream = await hostile(json('{"code":1000,"msg":"need_permission","request":"x"}', 403, { date }));
  const { find } = await doctor(over(upstream.url, { ACCESS_TOKEN: 'x' }));
  expect(find('upstream catalog')).toMatchObject([
    { status: 'warning', message: expect.stringMatching(/clock is 3\d{3} s behind/) },
  ]);
});

test.skipIf(!hasOpenssl)(
  'a certificate that has expired, and one of an unknown authority, are told apart',
  async () => {
    const authority = createAuthority();
    const serving = async (days: number) => {
      const server = createServer(authority.read(authority.issue(`days${days}`, days)), (_, reply) => reply.end('{}'));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      onTestFinished(() => void server.close());
      return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    };
    const ca = { BASE_URL_CA: authority.ca, EVENT_BASE_URL_CA: authority.ca };
    const expired = await doctor(over(await serving(-1), ca));
    expect(expired.find('upstream catalog')).toMatchObject([
      { status: 'failed', advice: expect.stringContaining('has expired') },
    ]);
    const unknown = await doctor(over(await serving(2)));
    expect(unknown.find('upstream catalog')).toMatchObject([
      { status: 'failed', advice: expect.stringContaining('BASE_URL_CA') },
    ]);
  },
);

test('settings that cannot be used are all named, and nothing else is checked', async () => {
  const { lines, exitCode, all } = await doctor({ MAX_DEPTH: 'x', BASE_URL: 'http://a/v2' });
  expect(lines).toEqual(['failed settings', 'failed settings', 'failed settings']);
  expect(all.map(({ message }) => message).join()).toContain('MAX_DEPTH');
  expect(exitCode).toBe(1);
});

test.skipIf(!hasRedis)('Redis is described, and one that evicts nothing is a warning', async () => {
  const of = async (...args: string[]) => {
    const { port } = await startRedis(args);
    const { find } = await doctor(over('http://127.0.0.1:9', { REDIS_URL: `redis://:sesame@127.0.0.1:${port}` }));
    return find('redis')[0]!;
  };
  const secret = ['--requirepass', 'sesame'];
  const limit = ['--maxmemory', '100mb', '--maxmemory-policy'];
  const good = await of(...secret, ...limit, 'volatile-lru');
  expect(good.status).toBe('ok');
  expect(good.message).toMatch(/^server 127\.0\.0\.1:\d+: version \d+\.\d+\.\d+, [\d.]+ MB of 105 MB, volatile-lru$/);
  for (const policy of ['volatile-lfu', 'volatile-random', 'allkeys-lfu', 'allkeys-random'])
    expect(await of(...secret, ...limit, policy)).toMatchObject({
      status: 'warning',
      advice: expect.stringMatching(/in use.* volatile-lru/),
    });
  expect(await of(...secret, ...limit, 'noeviction')).toMatchObject({
    status: 'warning',
    advice: expect.stringContaining('volatile-lru'),
  });
  expect(await of(...secret)).toMatchObject({ status: 'warning', message: expect.stringContaining('no maxmemory') });
});

test.skipIf(!hasRedis)('what is advised of a Redis that has idempotency keys too keeps them', async () => {
  const adviceOf = async (policy: string, more: NodeJS.ProcessEnv = {}) => {
    const { port } = await startRedis(['--maxmemory', '100mb', '--maxmemory-policy', policy]);
    const { find } = await doctor(over('http://127.0.0.1:9', { REDIS_URL: `redis://127.0.0.1:${port}`, ...more }));
    return find('redis')[0]!.advice;
  };
  for (const policy of ['noeviction', 'allkeys-lru', 'volatile-lfu']) {
    expect(await adviceOf(policy)).toContain('once the idempotency keys are in another Redis');
    expect(await adviceOf(policy, { IDEMPOTENCY_TTL_SECONDS: '0' })).not.toContain('idempotency');
  }
});

test.skipIf(!hasRedis)('a Redis of idempotency keys that is nearly full is a warning', async () => {
  const of = async (...args: string[]) => {
    const { port } = await startRedis(['--maxmemory-policy', 'noeviction', '--appendonly', 'yes', ...args]);
    const env = { IDEMPOTENCY_REDIS_URL: `redis://127.0.0.1:${port}` };
    return (await doctor(over('http://127.0.0.1:9', env))).find('idempotency keys')[0]!;
  };
  expect(await of('--maxmemory', '100mb')).toMatchObject({ status: 'ok' });
  expect(await of('--maxmemory', '1000')).toMatchObject({
    status: 'warning',
    message: expect.stringMatching(/MB of 0\.0 MB$/),
    advice: expect.stringContaining('more memory'),
  });
});

test.skipIf(!hasRedis)('a Redis that does not write idempotency keys to disk is a warning', async () => {
  const of = async (variable: string, ...args: string[]) => {
    const { port } = await startRedis(args);
    const env = { [variable]: `redis://127.0.0.1:${port}` };
    return (await doctor(over('http://127.0.0.1:9', env))).find('idempotency keys')[0]!;
  };
  const isWarned = {
    status: 'warning',
    message: expect.stringMatching(/may lose them at a restart \(appendonly no\)/),
    advice: expect.stringContaining('appendonly yes'),
  };
  expect(await of('REDIS_URL')).toMatchObject(isWarned);
  expect(await of('IDEMPOTENCY_REDIS_URL')).toMatchObject(isWarned);
  // A snapshot lacks the last keys.
  expect(await of('IDEMPOTENCY_REDIS_URL', '--save', '60 1')).toMatchObject(isWarned);
  expect(await of('IDEMPOTENCY_REDIS_URL', '--appendonly', 'yes')).toMatchObject({
    status: 'ok',
    message: 'in the Redis of IDEMPOTENCY_REDIS_URL, which evicts nothing and writes to disk',
  });
});

test.skipIf(!hasRedis)('a Redis that refuses the password is named without it', async () => {
  const { port } = await startRedis(['--requirepass', 'other']);
  for (const [variable, check] of [
    ['REDIS_URL', 'redis'],
    ['IDEMPOTENCY_REDIS_URL', 'idempotency keys'],
  ] as const) {
    const { find } = await doctor(over('http://127.0.0.1:9', { [variable]: `redis://:sesame@127.0.0.1:${port}` }));
    const refused = find(check)[0]!;
    expect(refused).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('refuses the password'),
      advice: `The facade does not start like this. Correct ${variable}, or the user in Redis.`,
    });
    expect(JSON.stringify(refused)).not.toContain('sesame');
  }
});

test('of a Redis that is away it is said what to do, and what does not work meanwhile', async () => {
  const env = { REDIS_URL: 'redis://127.0.0.1:9', IDEMPOTENCY_REDIS_URL: 'redis://127.0.0.1:9' };
  const { find } = await doctor(over('http://127.0.0.1:9', env));
  const start = 'Start Redis, look why it does not respond, or correct';
  expect(find('redis')[0]!.advice).toBe(`${start} REDIS_URL. The facade runs without it, and replicas share nothing.`);
  expect(find('idempotency keys')[0]!.advice).toBe(
    `${start} IDEMPOTENCY_REDIS_URL. Without it, writes with keys are refused.`,
  );
});

/** A port of 127.0.0.1 where connections are dealt with so. */
async function listening(server: Server): Promise<number> {
  onTestFinished(() => void server.close());
  await new Promise((resolve) => void server.listen(0, '127.0.0.1', () => resolve(undefined)));
  return (server.address() as AddressInfo).port;
}

test.each([
  ['is not there', async () => 9, 'cannot be reached: ECONNREFUSED', 'Start Redis'],
  [
    'ends connections',
    () => listening(createTcpServer((socket) => socket.resetAndDestroy())),
    'cannot be reached: ECONNRESET',
    'look why it does not respond',
  ],
  [
    'is silent',
    () => listening(createTcpServer(() => undefined)),
    'cannot be reached: no answer in time',
    'Start Redis',
  ],
])('of a Redis that %s the reason is said', async (_, start, problem, advice) => {
  const url = `redis://127.0.0.1:${await start()}`;
  const { find } = await doctor(over('http://127.0.0.1:9', { REDIS_URL: url, IDEMPOTENCY_REDIS_URL: url }));
  for (const check of ['redis', 'idempotency keys']) {
    expect(find(check)[0]!.message).toContain(problem);
    expect(find(check)[0]!.advice).toContain(advice);
  }
});

test.skipIf(!hasOpenssl)('of a Redis whose certificate an unknown authority signed, REDIS_CA is named', async () => {
  const authority = createAuthority();
  const port = await listening(createTlsServer(authority.read(authority.issue('redis'))));
  const env = { REDIS_URL: `rediss://127.0.0.1:${port}` };
  const { find } = await doctor(over('http://127.0.0.1:9', env));
  expect(find('redis')[0]!.message).toBe(`127.0.0.1:${port} cannot be reached: UNABLE_TO_VERIFY_LEAF_SIGNATURE`);
  expect(find('redis')[0]!.advice).toMatch(/name that in REDIS_CA\. The facade runs without it/);
});

test('every line that is not ok says what to do, in text and for programs', async () => {
  const { all, text } = await doctor(over('http://127.0.0.1:9', { HOST: '0.0.0.0' }));
  for (const { status, advice, message } of all) {
    expect(message).not.toBe('');
    if (status !== 'ok') expect(advice).toMatch(/\w{4}/);
  }
  expect(text).toMatch(/\d+ ok, \d+ warnings, 2 failed$/);
  expect(JSON.parse(diagnosesJson(all))).toEqual({ ok: false, checks: all });
});

test('the command prints JSON, and its exit code is that of the checks', async () => {
  const { code, out } = await runProgram({}, ['doctor', '--json', '--base-url', 'http://127.0.0.1:9']);
  const { ok, checks } = JSON.parse(out) as { ok: boolean; checks: { check: string; status: string }[] };
  expect([code, ok]).toEqual([1, false]);
  expect(checks.filter(({ status }) => status === 'failed').map(({ check }) => check)).toEqual([
    'upstream catalog',
    'upstream events',
  ]);
});

test.skipIf(!hasOpenssl)('the built command calls the service through a proxy', async () => {
  const authority = createAuthority();
  const refusal = '{"code":1000,"msg":"need_permission","request":"x"}';
  const server = createServer(authority.read(authority.issue('server')), (_, reply) =>
    reply.writeHead(403, { 'content-type': 'application/json' }).end(refusal),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const proxy = await connectProxy('user:sesame');
  const { out } = await runProgram(
    {
      HTTPS_PROXY: `http://user:sesame@127.0.0.1:${proxy.port}`,
      BASE_URL_CA: authority.ca,
      EVENT_BASE_URL_CA: authority.ca,
    },
    ['doctor', '--base-url', `https://localhost:${port}`],
  );
  expect(out).toMatch(new RegExp(`ok +upstream catalog .*TLS, through 127\\.0\\.0\\.1:${proxy.port}, \\d+ answers`));
  expect(new Set(proxy.tunnels)).toEqual(new Set([`localhost:${port}`]));
  expect(out).not.toContain('sesame');
});

test('names of the service neither control the terminal nor begin a line', () => {
  const name = '\u001b[2K\u001b[32mok\u009b1A\nok       everything';
  const all = [failed('catalog', `unknown members: ${name}`, `ask for ${name}`)];
  const text = diagnosesText(all);
  expect(text + diagnosesJson(all)).not.toMatch(/[\u001b\u009b]/);
  expect(text.split('\n').map((line) => line.slice(0, 6))).toEqual(['failed', '      ', '', '0 ok, ']);
  expect(JSON.parse(diagnosesJson(all))).toMatchObject({ checks: [{ advice: `ask for ${name}` }] });
});

import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { catalogService } from '../../src/graph/service/descriptor.ts';
import { ConfigError, readConfig } from '../../src/config/read.ts';
import { createLog } from '../../src/lib/log.ts';
import { followSecrets } from '../../src/server/secrets.ts';
import { createUpstream } from '../../src/upstream/client.ts';
import { json } from '../support/hostile.ts';
import { createAuthority, hasOpenssl } from '../support/certificates.ts';
import { freePort, hasRedis, until } from '../support/redis.ts';
import { redisWithClientTls, startRedis } from '../support/redis-process.ts';
import { startFacade } from '../support/start-facade.ts';

const EVERY_MS = 5;

function secretFile(content: string) {
  const folder = mkdtempSync(join(tmpdir(), 'secret-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'value');
  const replace = (next: string) => {
    writeFileSync(`${path}.new`, next);
    renameSync(`${path}.new`, path);
  };
  replace(content);
  return { path, replace };
}

function following(env: NodeJS.ProcessEnv) {
  const config = readConfig({ BASE_URL: 'http://127.0.0.1:9', EVENT_BASE_URL: 'http://127.0.0.1:9', ...env });
  const lines: string[] = [];
  const log = createLog('info', { write: (line: string) => void lines.push(line) });
  const follow = (upstream: Parameters<typeof followSecrets>[1]) => {
    const secrets = followSecrets(config, upstream, log, EVERY_MS);
    onTestFinished(secrets.close);
  };
  return { config, lines, follow };
}

/** Books for one token only. */
const accepting =
  (...tokens: string[]) =>
  (socket: Parameters<ReturnType<typeof json>>[0], request: Parameters<ReturnType<typeof json>>[1]) =>
    tokens.includes(request.headers.authorization?.slice('Bearer '.length) ?? '')
      ? json(JSON.stringify({ id: /\d+/.exec(request.path.slice(4))![0], title: 'x' }))(socket, request)
      : json('{"msg":"invalid_access_token","code":103,"request":"x"}', 401)(socket, request);

test('a token of a file that changes is used without a failed request', async () => {
  const { path, replace } = secretFile('first\n');
  const { follow, lines } = following({ ACCESS_TOKEN_FILE: path });
  const { books, execute, upstream } = await startFacade({}, { ACCESS_TOKEN_FILE: path });
  follow(upstream);
  books.behave(accepting('first'));
  const titles: unknown[] = [];
  const ask = async () => titles.push((await execute(`{book(id:"${titles.length + 1}"){title}}`)).data?.book);
  await ask();
  books.behave(accepting('first', 'second'));
  replace('second\n');
  await until(async () => (await ask(), books.requests.at(-1)?.headers.authorization === 'Bearer second'));
  books.behave(accepting('second'));
  await ask();
  expect(titles.every((each) => JSON.stringify(each) === '{"title":"x"}')).toBe(true);
  expect(lines.join('')).toContain('ACCESS_TOKEN_FILE has changed: its new value is in use');
  expect(lines.join('')).not.toMatch(/first|second/);
});

test('a file whose new content is no token is reported without its content, and the token before stays in use', async () => {
  const { path, replace } = secretFile('first');
  const { follow, lines } = following({ ACCESS_TOKEN_FILE: path });
  const used: string[] = [];
  follow({
    changeAccessToken: (token) => void used.push(token),
    changeRedisUrl: async () => undefined,
    changeKeysUrl: async () => undefined,
  });
  replace('sesame open\n');
  await until(() => lines.length === 1);
  rmSync(path);
  await until(() => lines.length === 2);
  replace('second');
  await until(() => lines.length === 3);
  expect(used).toEqual(['second']);
  expect(lines.map((line) => (JSON.parse(line) as { problem?: string }).problem)).toEqual([
    'it must contain a bearer token: visible ASCII characters, no spaces',
    'it cannot be read (ENOENT)',
    undefined,
  ]);
  expect(lines.join('')).not.toMatch(/sesame|first|second/);
});

test.skipIf(!hasRedis)(
  'a password of Redis that changes is used, and every record is shared meanwhile; one that Redis refuses is not',
  async () => {
    const { port } = await startRedis(['--requirepass', 'one']);
    const admin = new Redis({ port, password: 'one' });
    onTestFinished(() => admin.disconnect());
    const at = (password: string) => `redis://:${password}@127.0.0.1:${port}`;
    const { path, replace } = secretFile(at('one'));
    const { config, follow, lines } = following({ REDIS_URL_FILE: path });
    const outages: unknown[] = [];
    const address = { baseUrl: 'http://127.0.0.1:9', eventBaseUrl: 'http://127.0.0.1:9' };
    const upstream = createUpstream(
      catalogService,
      { ...config, ...address },
      { onOutage: (...outage) => void outages.push(outage) },
    );
    onTestFinished(upstream.close);
    expect(await upstream.checkRedis()).toBeUndefined();
    follow(upstream);
    const stored = async (name: string) => {
      upstream.documents!.store(name, `text of ${name}`);
      let text: string | undefined;
      await until(async () => (text = await upstream.documents!.find(name)) !== undefined);
      return text;
    };
    expect(await stored('a')).toBe('text of a');
    replace(at('wrong'));
    await until(() => lines.length === 1);
    expect(lines[0]).toContain('The Redis of REDIS_URL refuses the password of the default user.');
    expect(await stored('b')).toBe('text of b');
    await admin.call('ACL', 'SETUSER', 'default', '>two');
    replace(at('two'));
    await until(() => lines.length === 2);
    await admin.call('ACL', 'SETUSER', 'default', '<one');
    const names = (await admin.client('LIST')) as string;
    expect(await stored('c')).toBe('text of c');
    expect(names.trim().split('\n').length).toBe(2); // the admin, and one of the facade
    expect(outages).toEqual([]);
    expect(lines.join('')).not.toMatch(/:one|:two|wrong@/);
  },
);

test.skipIf(!hasRedis)(
  'an address of Redis at which nothing listens is in use only once Redis answers there',
  async () => {
    const first = await startRedis();
    const { path, replace } = secretFile(`redis://127.0.0.1:${first.port}`);
    const { config, follow, lines } = following({ REDIS_URL_FILE: path });
    const address = { baseUrl: 'http://127.0.0.1:9', eventBaseUrl: 'http://127.0.0.1:9' };
    const upstream = createUpstream(catalogService, { ...config, ...address });
    onTestFinished(upstream.close);
    follow(upstream);
    const stored = async (name: string) => {
      await until(async () => {
        upstream.documents!.store(name, 'text');
        return (await upstream.documents!.find(name)) === 'text';
      });
    };
    await stored('a');
    const port = await freePort();
    replace(`redis://127.0.0.1:${port}`);
    await until(() => lines.length === 1);
    expect(lines[0]).toContain('the value before stays in use');
    expect(lines[0]).toContain('Nothing answers at the new address of REDIS_URL');
    await stored('b');
    const second = await startRedis([], { port });
    await until(() => lines.length === 2);
    expect(lines[1]).toContain('REDIS_URL_FILE has changed: its new value is in use');
    first.kill();
    await stored('c');
    second.kill();
  },
);

test.skipIf(!hasRedis)(
  'an address of the Redis of idempotency keys in a file is used, and again if it changes',
  async () => {
    const [first, second] = [await startRedis(), await startRedis()];
    const { path, replace } = secretFile(`redis://127.0.0.1:${first.port}`);
    const { config, follow, lines } = following({ IDEMPOTENCY_REDIS_URL_FILE: path });
    const upstream = createUpstream(catalogService, {
      ...config,
      baseUrl: 'http://127.0.0.1:9',
      eventBaseUrl: 'http://127.0.0.1:9',
    });
    onTestFinished(upstream.close);
    follow(upstream);
    const connection = upstream.keyConnection!;
    const call = connection.channel({ what: 'a test', timeoutMs: 1_000 });
    const store = (name: string) => until(async () => (await call(() => connection.redis.set(name, 'x'))) === 'OK');
    await store('a');
    replace(`redis://127.0.0.1:${second.port}`);
    await until(() => lines.length === 1);
    expect(lines[0]).toContain('IDEMPOTENCY_REDIS_URL_FILE has changed: its new value is in use');
    await store('b');
    for (const [{ port }, name] of [
      [first, 'a'],
      [second, 'b'],
    ] as const) {
      const redis = new Redis(port);
      expect(await redis.keys('*')).toContain(name);
      redis.disconnect();
    }
  },
);

test.skipIf(!hasRedis || !hasOpenssl)(
  'a certificate of the client that Redis wants and does not get is the reason in the log',
  async () => {
    const authority = createAuthority();
    const { url } = await redisWithClientTls(authority, authority.issue('server'));
    const outages: unknown[] = [];
    const config = readConfig({
      BASE_URL: 'http://127.0.0.1:9',
      EVENT_BASE_URL: 'http://127.0.0.1:9',
      REDIS_CA: authority.ca,
      REDIS_URL: url,
    });
    const address = { baseUrl: 'http://127.0.0.1:9', eventBaseUrl: 'http://127.0.0.1:9' };
    const upstream = createUpstream(
      catalogService,
      { ...config, ...address },
      { onOutage: (_, reason) => void outages.push(reason) },
    );
    onTestFinished(upstream.close);
    await until(() => outages.some((reason) => /^ERR_SSL_.*CERTIFICATE_REQUIRED$/.test(String(reason))));
  },
);

test.each([
  [{ REDIS_CERT: 'FILE' }, 'REDIS_CERT must be a file of certificates in PEM'],
  [{ REDIS_KEY: 'FILE' }, 'REDIS_KEY must be a file with a private key in PEM'],
])('the start refuses %o of Redis', (env, problem) => {
  const { path } = secretFile('sesame open');
  const [[name]] = Object.entries(env) as [[string, string]];
  expect(() => readConfig({ [name]: path })).toThrow(problem);
});

test.each([
  [{ ACCESS_TOKEN: 'x', ACCESS_TOKEN_FILE: 'FILE' }, 'ACCESS_TOKEN_FILE must not be set, because ACCESS_TOKEN is'],
  [{ ACCESS_TOKEN_FILE: '/nowhere' }, 'ACCESS_TOKEN_FILE must be a file that can be read (ENOENT)'],
  [{ IDEMPOTENCY_REDIS_URL_FILE: 'FILE' }, 'IDEMPOTENCY_REDIS_URL_FILE must contain a redis:// or rediss:// address'],
  [{ REDIS_URL_FILE: 'FILE' }, 'REDIS_URL_FILE must contain a redis:// or rediss:// address'],
  [{ ACCESS_TOKEN_FILE: 'FILE', MAX_DEPTH: '0' }, 'ACCESS_TOKEN_FILE must contain a bearer token'],
])('the start refuses %o', (env: NodeJS.ProcessEnv, problem) => {
  const { path } = secretFile('sesame open');
  const read = () =>
    readConfig(Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value === 'FILE' ? path : value])));
  expect(read).toThrow(ConfigError);
  expect(read).toThrow(problem);
  expect(read).not.toThrow('sesame');
});

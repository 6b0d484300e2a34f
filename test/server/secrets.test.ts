import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { catalogService } from '../../src/graph/service/descriptor.ts';
import { ConfigError, readConfig } from '../../src/config/read.ts';
import { createLog } from '../../src/lib/log.ts';
import { followSecrets } from '../../src/server/secrets.ts';
import { createUpstream } from '../../src/upstream/client.ts';
import { json } from '../support/hostile.ts';
import { createAuthority, hasOpenssl } from '../support/certificates.ts';
import { hasRedis, until } from '../support/redis.ts';
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
  follow({ changeAccessToken: (token) => void used.push(token) });
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

test.skipIf(!hasRedis)('the addresses of both kinds of Redis are read from their files at the start', async () => {
  const [shared, ofKeys] = [await startRedis(), await startRedis()];
  const file = ({ port }: { port: number }) => secretFile(`redis://127.0.0.1:${port}\n`).path;
  const { config } = following({ REDIS_URL_FILE: file(shared), IDEMPOTENCY_REDIS_URL_FILE: file(ofKeys) });
  const address = { baseUrl: 'http://127.0.0.1:9', eventBaseUrl: 'http://127.0.0.1:9' };
  const upstream = createUpstream(catalogService, { ...config, ...address });
  onTestFinished(upstream.close);
  await until(() => upstream.redis!().isReachable && upstream.keyRedis!().isReachable);
  expect(upstream.keyConnection!.redis.options).toMatchObject({ port: ofKeys.port });
});

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

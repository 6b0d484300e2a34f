import { type EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect as connectTo, createServer } from 'node:net';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { readConfig } from '../../../src/config/read.ts';
import { type TlsFiles, readTlsFiles } from '../../../src/config/upstream-tls.ts';
import { openRedis } from '../../../src/upstream/redis/connection/connection.ts';
import { defineScript } from '../../../src/upstream/redis/scripts/script.ts';
import { patientEnv } from '../../support/patient.ts';
import { hasProgram } from '../../support/optional.ts';
import { runProgram } from '../../support/program.ts';
import { redisCluster, redisWithTls, startRedis } from '../../support/redis-process.ts';
import { hasRedis, redisServer, until } from '../../support/redis.ts';
const PASSWORD = 'p@ss:w/rd?#%';
const ENCODED = encodeURIComponent(PASSWORD);
/** What docs/redis.md says that a user needs. */
const RULES = /ACL SETUSER facade on >PASSWORD (.*)/.exec(readFileSync('docs/redis.md', 'utf8'))![1]!;

const REFUSES = 'refuses what it is asked';

/** A proxy that passes no script with a key that is not literal, as those of some providers do. */
async function literalKeysProxy(target: number): Promise<number> {
  const refusal =
    '-ERR bad lua script for redis cluster, all the keys that the script uses should be passed using the KEYS array\r\n';
  const server = createServer((client) => {
    const redis = connectTo(target, '127.0.0.1');
    client.on('data', (data) => {
      const isRefused = /\$4\r\neval\r\n/i.test(String(data)) && /KEYS\[[^\d]/.test(String(data));
      if (isRefused) client.write(refusal);
      else redis.write(data);
    });
    redis.pipe(client);
    for (const each of [client, redis])
      each.on('error', () => undefined).on('close', () => (client.destroy(), redis.destroy()));
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

describe.skipIf(!hasRedis)('a Redis', () => {
  let port = 0;
  let admin: Redis;
  beforeAll(async () => {
    ({ port } = await startRedis());
    admin = new Redis(port, '127.0.0.1');
    const setUser = (name: string, ...rules: string[]) =>
      admin.call('ACL', 'SETUSER', name, 'reset', 'on', `>${PASSWORD}`, ...rules);
    await setUser('facade', ...RULES.trim().split(' '));
    await setUser('reader', '~*', '+@read', '+@connection', '+info');
    await setUser('stranger', '~other:*', '+@all');
    await setUser('nodeletes', '~*', '+@all', '-set');
  });
  afterAll(() => admin.disconnect());

  const at = (user: string, path = '') => `redis://${user}127.0.0.1:${port}${path}`;

  /** What the check at the start says, and whether a script works afterwards. */
  async function connect(url: string, tls?: TlsFiles) {
    const connection = openRedis({ url, namespace: 'test', ...(tls && { tls }) });
    onTestFinished(connection.close);
    const echo = defineScript(
      connection,
      'echoKey',
      "redis.call('SET', KEYS[1], ARGV[1]) return redis.call('GET', KEYS[1])",
    );
    const problem = await connection.check();
    const works = async () => (await echo([connection.key('echo')], ['x']).catch(() => undefined)) === 'x';
    return { ...connection, problem, works };
  }

  test.each([
    ['a plain address', '', ''],
    ['a database', '', '/5'],
    ['a user with a percent-encoded password', `facade:${ENCODED}@`, ''],
  ])('is used by %s', async (_, user, path) => {
    const { problem, works } = await connect(at(user, path));
    expect([problem, await works()]).toEqual([undefined, true]);
    if (path) expect((await admin.info('keyspace')).includes('db5:')).toBe(true);
  });

  test.each([
    ['a wrong password', `facade:wrong@`, '', 'refuses the password of user facade.'],
    ['a database that is missing', '', '/99', REFUSES],
    ['a user without scripts', `reader:${ENCODED}@`, '', REFUSES],
    ['a user without a command of the scripts', `nodeletes:${ENCODED}@`, '', REFUSES],
    ['a user without the keys', `stranger:${ENCODED}@`, '', REFUSES],
  ])('%s is told at the start, without the password', async (_, user, path, sentence) => {
    const { problem } = await connect(at(user, path));
    expect(problem).toContain(`The Redis of REDIS_URL ${sentence}`);
    expect(problem).not.toContain(PASSWORD);
  });

  test('a server that does not know a command is told at the start', async () => {
    const { port: old } = await startRedis(['--rename-command', 'EVAL', '']);
    const { problem } = await connect(`redis://127.0.0.1:${old}`);
    expect(problem).toContain('The Redis of REDIS_URL refuses what it is asked (ERR)');
  });

  test('a proxy that refuses scripts with keys that are not literal is told at the start', async () => {
    const { port: target } = await startRedis();
    const { problem } = await connect(`redis://127.0.0.1:${await literalKeysProxy(target)}`);
    expect(problem).toContain('The Redis of REDIS_URL refuses what it is asked (ERR)');
  });

  test('the check leaves nothing behind', async () => {
    const { port: target } = await startRedis();
    expect((await connect(`redis://127.0.0.1:${target}`)).problem).toBeUndefined();
    const client = new Redis(target, '127.0.0.1');
    onTestFinished(() => client.disconnect());
    await until(async () => (await client.keys('*')).length === 0);
  });

  test('a server that wants a password, one without a cluster, and one that is no Sentinel are named in the log', async () => {
    const { port: locked } = await startRedis(['--requirepass', 'sesame']);
    expect((await connect(`redis://127.0.0.1:${locked}`)).problem).toContain('needs a password');
    expect((await connect(`redis://:sesame@127.0.0.1:${locked}`)).problem).toBeUndefined();
    expect((await connect(`redis+cluster://127.0.0.1:${port}`)).problem).toContain('leave out +cluster');
    const noSentinel = (await connect(`redis+sentinel://127.0.0.1:${port}/primary`)).problem;
    expect(noSentinel).toContain(REFUSES);
  });

  test('the command ends with the sentence, and prints no password', async () => {
    const service = { BASE_URL: 'http://127.0.0.1:1', EVENT_BASE_URL: 'http://127.0.0.1:1' };
    const env = { ...patientEnv, ...service, PORT: '0', REDIS_URL: at(`facade:wr%40ng@`) };
    expect(await runProgram(env)).toEqual({
      code: 1,
      out: '',
      err: 'The Redis of REDIS_URL refuses the password of user facade.\n',
    });
  });

  test.skipIf(!hasProgram('openssl'))(
    'with TLS it is used with the certificate of REDIS_CA, and not without',
    async () => {
      const { url, ca } = await redisWithTls();
      const tls = readTlsFiles('redis', readConfig({ REDIS_CA: ca, REDIS_URL: url }));
      const { problem, works } = await connect(url, tls);
      expect([problem, await works()]).toEqual([undefined, true]);
      expect(await (await connect(url)).works()).toBe(false);
      expect((await connect(url.replace('rediss:', 'redis:'))).problem).toBe(
        'The Redis of REDIS_URL speaks TLS: use rediss://.',
      );
      expect((await connect(at('').replace('redis:', 'rediss:'))).problem).toBe(
        'The Redis of REDIS_URL does not speak TLS: use redis://.',
      );
      expect(() => readConfig({ REDIS_CA: '/nothing' })).toThrow('REDIS_CA must be a file of certificates in PEM');
    },
  );

  test('one that answers nothing after it was connected holds the start up no longer than one that is away', async () => {
    const server = await redisServer();
    const connection = openRedis({ url: server.url, namespace: 'test' });
    onTestFinished(connection.close);
    expect(await connection.check()).toBeUndefined();
    server.freeze();
    onTestFinished(() => void server.thaw());
    onTestFinished(() => void vi.useRealTimers());
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const problem = connection.check();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await problem).toBeUndefined();
  });

  test('scripts that it has lost are sent again', async () => {
    const { works } = await connect(at(''));
    expect(await works()).toBe(true);
    await admin.call('SCRIPT', 'FLUSH');
    expect(await works()).toBe(true);
  });

  test('a cluster is used by the address of any node; a plain address is told the form', async () => {
    const { url, nodes } = await redisCluster();
    for (const each of [url, `redis+cluster://127.0.0.1:${nodes[1]!.port}`]) {
      const { problem, works } = await connect(each);
      expect([problem, await works()]).toEqual([undefined, true]);
    }
    const plain = await connect(`redis://127.0.0.1:${nodes[0]!.port}`);
    expect(plain.problem).toBe(
      `The Redis of REDIS_URL is in cluster mode: use redis+cluster://127.0.0.1:${nodes[0]!.port}.`,
    );
  });

  test('of a cluster is used again if its last node disconnected while the client looked up the names of the nodes', async () => {
    const { url } = await redisCluster();
    const { redis, works } = await connect(url);
    await until(works);
    // As when the node that disconnects last takes longer for it than the pause before the next attempt.
    redis.once('connecting', () => (Reflect.get(redis, 'connectionPool') as EventEmitter).emit('drain'));
    redis.disconnect(true);
    await new Promise((resolve) => redis.once('connecting', resolve));
    await until(works);
  });

  test('is used again after the client has given up, as it may do in a failover', async () => {
    const { redis, works } = await connect(at(''));
    const ended = new Promise((resolve) => redis.once('end', resolve));
    redis.disconnect();
    await ended;
    expect(await works()).toBe(false);
    await until(works);
  });
});

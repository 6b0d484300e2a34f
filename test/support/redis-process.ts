/** Starts programs of Redis on free ports of 127.0.0.1, without persistence. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEachFile } from './hooks.ts';
import type { Certificate } from './certificates.ts';
import { freePort, until } from './redis.ts';

export const hasSentinel = spawnSync('redis-sentinel', ['--version']).status === 0;

const running = new Map<ChildProcess, string>();
afterEachFile(() => {
  for (const [child, directory] of running) {
    child.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  }
  running.clear();
});

export interface RedisProcess {
  port: number;
  pid: number;
  directory: string;
  kill(): void;
}

const SERVER = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--repl-diskless-sync-delay', '0'];

/** Resolves when the server answers; rejects if it ends before. */
export async function startRedis(args: readonly string[] = [], given?: { port: number }): Promise<RedisProcess> {
  if (!given) return onFreePort((port) => startRedis(args, { port }));
  const { port } = given;
  const directory = mkdtempSync(join(tmpdir(), 'redis-'));
  const { child, kill } = run(
    'redis-server',
    ['--port', String(port), '--dir', directory, ...SERVER, ...args],
    directory,
  );
  await until(() => {
    if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`);
    return isUp(port);
  });
  return { kill, port, pid: child.pid!, directory };
}

function run(program: string, args: string[], directory: string) {
  const child = spawn(program, args, { stdio: 'ignore' });
  running.set(child, directory);
  return { child, kill: () => void child.kill('SIGKILL') };
}

/** Another program may take the port before the server does: then it starts on another one. */
async function onFreePort<T>(start: (port: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++)
    try {
      return await start(await freePort());
    } catch (error) {
      if (attempt === 5) throw error;
    }
}

/** It is up even if it wants a password. */
const isUp = (port: number) =>
  /PONG|NOAUTH/.test(spawnSync('redis-cli', ['-p', String(port), 'ping'], { encoding: 'utf8' }).stdout);

/** Three primaries, each with so many replicas. Nodes notice the end of another after half a second. */
export async function redisCluster(replicas: 0 | 1 = 0) {
  const nodes = await Promise.all(
    Array.from({ length: 3 * (1 + replicas) }, () =>
      onFreePort(async (port) => {
        const bus = String(await freePort());
        const settings = ['--cluster-enabled', 'yes', '--cluster-port', bus, '--cluster-node-timeout', '500'];
        return startRedis([...settings, '--cluster-replica-validity-factor', '0'], { port });
      }),
    ),
  );
  const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`);
  const create = ['--cluster', 'create', ...addresses, '--cluster-replicas', String(replicas), '--cluster-yes'];
  execFileSync('redis-cli', create, { stdio: 'ignore' });
  const ask = (port: number, ...words: string[]) =>
    spawnSync('redis-cli', ['-p', String(port), ...words], { encoding: 'utf8' }).stdout;
  await until(() => nodes.every(({ port }) => ask(port, 'cluster', 'info').includes('cluster_state:ok')));
  if (replicas > 0)
    await until(() =>
      nodes.every(({ port }) => /role:master|master_link_status:up/.test(ask(port, 'info', 'replication'))),
    );
  return { url: `redis+cluster://${addresses.join(',')}`, nodes };
}

/** A primary with a replica, and a Sentinel that makes the replica the primary when the primary ends. */
export async function redisSentinel() {
  const primary = await startRedis();
  const replica = await startRedis(['--replicaof', '127.0.0.1', String(primary.port)]);
  const directory = mkdtempSync(join(tmpdir(), 'redis-'));
  const port = await freePort();
  const config = join(directory, 'sentinel.conf');
  writeFileSync(
    config,
    [
      `port ${port}`,
      'bind 127.0.0.1',
      `dir ${directory}`,
      `sentinel monitor main 127.0.0.1 ${primary.port} 1`,
      'sentinel down-after-milliseconds main 1000',
      'sentinel failover-timeout main 3000',
    ].join('\n'),
  );
  run('redis-sentinel', [config], directory);
  await until(() => isUp(port));
  const sentinel = new Redis(port, '127.0.0.1');
  await until(async () => String(await sentinel.call('SENTINEL', 'REPLICAS', 'main')).includes(`${replica.port}`));
  sentinel.disconnect();
  return { url: `redis+sentinel://127.0.0.1:${port}/main`, primary, replica };
}

/** A server with TLS that wants a certificate of the client, with certificates of the authority. */
export async function redisWithClientTls(authority: { ca: string }, server: Certificate, given?: { port: number }) {
  const port = given?.port ?? (await freePort());
  const tls = ['--tls-port', String(port), '--tls-ca-cert-file', authority.ca];
  const started = await startRedis([...tls, '--tls-cert-file', server.cert, '--tls-key-file', server.key]);
  return { ...started, port, url: `rediss://127.0.0.1:${port}` };
}

/** A server with TLS, and the certificate that signs its own. */
export async function redisWithTls() {
  const directory = mkdtempSync(join(tmpdir(), 'redis-'));
  const file = (name: string) => join(directory, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'ignore', cwd: directory });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  openssl('req', '-x509', ...key, '-subj', '/CN=test ca', '-keyout', 'ca.key', '-out', 'ca.pem');
  openssl('req', ...key, '-subj', '/CN=127.0.0.1', '-keyout', 'server.key', '-out', 'server.csr');
  writeFileSync(file('names'), 'subjectAltName=IP:127.0.0.1');
  const sign = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'names'];
  openssl('x509', '-req', '-in', 'server.csr', ...sign, '-out', 'server.pem');
  const port = await freePort();
  const tls = ['--tls-port', String(port), '--tls-auth-clients', 'no', '--tls-ca-cert-file', file('ca.pem')];
  await startRedis([...tls, '--tls-cert-file', file('server.pem'), '--tls-key-file', file('server.key')]);
  return { url: `rediss://127.0.0.1:${port}`, ca: file('ca.pem') };
}

import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { entries } from '../src/config/settings.ts';
import { readConfig } from '../src/config/read.ts';
import { clientAddress } from '../src/server/http/request/client-address.ts';
import { hasProgram } from './support/optional.ts';
import { startProgram } from './support/program.ts';
import { temporaryDirectory } from './support/service.ts';

interface Service {
  image: string;
  build?: string;
  command?: string[];
  environment?: Record<string, string>;
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test: string[] };
  volumes?: string[];
  ports?: string[];
  stop_grace_period?: string;
  mem_limit?: string;
}
interface Compose {
  services: Record<string, Service>;
  volumes: Record<string, null>;
}

const compose = parse(readFileSync('compose.yaml', 'utf8'), { merge: true }) as Compose;
const { services } = compose;
const nginx = readFileSync('deploy/nginx.conf', 'utf8');
const dockerfile = readFileSync('Dockerfile', 'utf8').replaceAll(/\\\n/g, ' ');
const final = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));

const image = Object.fromEntries(
  [...final.matchAll(/^ENV (.*)$/gm)].flatMap(([, line]) => line!.split(' ').map((pair) => pair.split('=', 2))),
) as Record<string, string>;
const facades = Object.entries(services).filter(([, { build, command }]) => build && !command);

/** The environment of a container with the defaults of compose.yaml. */
const environmentOf = ({ environment = {} }: Service): NodeJS.ProcessEnv => ({
  ...image,
  ...Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [name, value.replace(/^\$\{\w+:-(.*)\}$/, '$1')]),
  ),
});

test('the environments of the containers are valid settings', () => {
  const known = new Set(['NODE_ENV', ...entries().map(([, { env }]) => env)]);
  expect(Object.keys(image).filter((name) => !known.has(name))).toEqual([]);
  for (const each of Object.values(services).filter(({ build }) => build)) {
    expect(Object.keys(each.environment ?? {}).filter((name) => !known.has(name))).toEqual([]);
    expect(readConfig(environmentOf(each))).toMatchObject({ production: true, host: '0.0.0.0' });
  }
});

test('the container starts the program with the flags of npm start', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
  const entrypoint = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(final)![1]!) as string[];
  expect(`exec ${entrypoint.join(' ')}`).toBe(scripts.start);
  expect(`exec ${entrypoint.join(' ')} origin`).toBe(scripts.origin);
});

test('two facades share a Redis and an origin that exist in compose.yaml, at the right ports', () => {
  expect(facades).toHaveLength(2);
  for (const [, facade] of facades) {
    const { baseUrl, eventBaseUrl, redisUrl, ownOrigin, accessToken } = readConfig(environmentOf(facade));
    expect({ ownOrigin, baseUrl, eventBaseUrl }).toEqual({ ownOrigin: false, baseUrl: eventBaseUrl, eventBaseUrl });
    const { hostname, port } = new URL(baseUrl!);
    expect(services[hostname]).toMatchObject({ command: ['origin'] });
    const beside = readConfig(environmentOf(services[hostname]!));
    expect(beside.originPort).toBe(Number(port));
    // This origin accepts the token of the facades.
    expect([accessToken, beside.demo]).toEqual(['demo-app', true]);
    expect(services[new URL(redisUrl!).hostname]!.image).toMatch(/^redis:/);
    expect(new URL(redisUrl!).port).toBe('6379');
  }
});

test('URLs in records begin with the published address of the origin', () => {
  const origin = Object.values(services).find(({ command }) => command?.includes('origin'))!;
  const { publicUrl, originPort } = readConfig(environmentOf(origin));
  const { hostname, port } = new URL(publicUrl!);
  expect(hostname).toBe('localhost');
  expect(origin.ports).toEqual([`127.0.0.1:${port}:${originPort}`]);
});

test('a service waits only for services that exist and have a health check', () => {
  for (const { depends_on: dependencies = {}, volumes = [] } of Object.values(services)) {
    for (const [name, { condition }] of Object.entries(dependencies)) {
      expect(condition).toBe('service_healthy');
      const dependency = services[name]!;
      expect(dependency.healthcheck ?? (dependency.build && /^HEALTHCHECK /m.exec(final))).toBeTruthy();
    }
    for (const volume of volumes) {
      const [source = '', target] = volume.split(':');
      if (source.startsWith('.')) expect(existsSync(source)).toBe(true);
      else {
        expect(compose.volumes).toHaveProperty(source);
        expect(target).toBe(image.DATA_DIR);
      }
    }
  }
});

test('the proxy balances all facades, and its limits are at least theirs', () => {
  const config = readConfig(image);
  const upstreams = [...nginx.matchAll(/^\s*server ([\w.-]+):(\d+) max_fails=0;/gm)].map(([, host, port]) => [
    host,
    Number(port),
  ]);
  expect(upstreams).toEqual(facades.map(([name]) => [name, config.port]));
  const { proxy } = services as { proxy: Service };
  expect(proxy.ports!.map((port) => port.split(':').at(-1))).toEqual([/listen (\d+);/.exec(nginx)![1]]);
  expect(proxy.volumes).toEqual(['./deploy/nginx.conf:/etc/nginx/nginx.conf:ro']);
  const number = (directive: string) => Number(new RegExp(`\\b${directive} (\\d+)[ms]?;`).exec(nginx)![1]);
  expect(number('client_max_body_size') * 2 ** 20).toBeGreaterThan(config.maxUploadBytes + config.maxBodyBytes);
  expect(number('proxy_read_timeout') * 1000).toBeGreaterThan(
    Math.max(config.operationTimeoutMs, config.uploadTimeoutMs),
  );
  expect(number('proxy_send_timeout') * 1000).toBeGreaterThan(config.uploadTimeoutMs);
  expect(number('keepalive_timeout')).toBeLessThan(65);
});

test('the proxy sends the address of the client, and the facades trust it', () => {
  expect(nginx).toContain('proxy_set_header X-Forwarded-For $remote_addr;');
  for (const [, facade] of facades) {
    const addressOf = clientAddress(readConfig(environmentOf(facade)).trustedProxies);
    for (const remoteAddress of ['172.18.0.5', '192.168.16.3', '::ffff:172.20.0.2']) {
      const headers = { 'x-forwarded-for': '203.0.113.7' };
      expect(addressOf({ socket: { remoteAddress }, headers } as unknown as IncomingMessage)).toBe('203.0.113.7');
    }
  }
});

test('a container has enough time to shut down', () => {
  for (const each of Object.values(services).filter(({ build }) => build)) {
    const seconds = Number(/^(\d+)s$/.exec(each.stop_grace_period ?? '')![1]);
    // Connections, pools and the database are closed after the operations.
    const { drainMs, shutdownMs } = readConfig(environmentOf(each));
    expect(seconds * 1000).toBeGreaterThanOrEqual(drainMs + shutdownMs + 5_000);
  }
});

test('every container has a memory limit, that of Redis above what it may store', () => {
  const megabytes = (text: string | undefined) => Number(/(\d+)mb?$/.exec(text ?? '')?.[1]);
  for (const [name, { mem_limit: limit }] of Object.entries(services))
    expect(megabytes(limit), name).toBeGreaterThan(0);
  const { command = [], mem_limit: limit } = services.redis!;
  expect(megabytes(limit)).toBeGreaterThan(megabytes(command[command.indexOf('--maxmemory') + 1]));
});

test('the image runs as an unprivileged user, contains no build tools, and copies only existing files', () => {
  expect(/^USER (.*)$/m.exec(final)![1]).toBe('node');
  expect(final.indexOf('\nUSER ')).toBeLessThan(final.indexOf('\nENTRYPOINT '));
  expect(final).not.toMatch(/apt-get|npm ci|npm install/);
  // Node contains a recent SQLite since 24.16.
  expect(dockerfile).toMatch(/^RUN npm ci --omit=dev --omit=optional --ignore-scripts$/m);
  expect(Number(/^ARG NODE=node:(\d+)-/m.exec(dockerfile)![1])).toBeGreaterThanOrEqual(24);
  // A release sets one digest for all stages.
  expect(new Set(dockerfile.match(/^FROM \S+/gm))).toEqual(new Set(['FROM ${NODE}']));
  const { port, originPort } = readConfig(image);
  expect(/^EXPOSE (.*)$/m.exec(final)![1]).toBe(`${port} ${originPort}`);
  const sent = readFileSync('.dockerignore', 'utf8').match(/(?<=^!).*$/gm)!;
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, files]) => files!.split(' '));
  expect([...new Set(copied)].sort()).toEqual([...sent].sort());
  for (const file of sent) expect(existsSync(file)).toBe(true);
});

/** The exit code of a health check. */
const exitOf = ([command, ...args]: string[], env: NodeJS.ProcessEnv): Promise<number> =>
  promisify(execFile)(command!, args, { env: { PATH: process.env.PATH, ...env } }).then(
    () => 0,
    ({ code }: { code: number }) => code,
  );

/** Nothing listens there; another test may take the port of a program that was stopped. */
const UNUSED_PORT = '1';

test.each<[command: string, where: string, args: string[], env: NodeJS.ProcessEnv]>([
  ['the facade', 'at PORT', [], { PORT: 'its own' }],
  ['the facade', 'at --port', ['--port', 'its own'], { PORT: UNUSED_PORT }],
  ['the facade', 'at another HOST', [], { PORT: 'its own', HOST: '127.0.0.2' }],
  ['the facade', 'at --host', ['--port=its own', '--host=127.0.0.2'], {}],
  ['the origin', 'at ORIGIN_PORT', ['origin'], { ORIGIN_PORT: 'its own', PORT: UNUSED_PORT }],
  ['the origin', 'at --origin-port', ['origin', '--origin-port', 'its own'], {}],
])('the health check of the image asks %s %s, and fails if nothing answers there', async (_, __, args, env) => {
  const isOrigin = args[0] === 'origin';
  const host = args.find((each) => each.startsWith('--host='))?.slice(7) ?? env.HOST ?? '127.0.0.1';
  const upstream = { BASE_URL: 'http://127.0.0.1:9', EVENT_BASE_URL: 'http://127.0.0.1:9' };
  const program = await startProgram(
    { PORT: '0', ORIGIN_PORT: '0', HOST: host, ...(isOrigin ? {} : upstream) },
    isOrigin ? ['origin'] : [],
  );
  const [, file] = JSON.parse(/^HEALTHCHECK .* CMD (\[.*\])$/m.exec(final)![1]!) as string[];
  const entry = JSON.parse(/^ENTRYPOINT (\[.*\])$/m.exec(final)![1]!) as string[];
  const commandLine = join(temporaryDirectory(), 'cmdline');
  const check = async (port: string) => {
    const at = (text: string) => text.replace('its own', port);
    // As an init passes it on.
    writeFileSync(commandLine, ['/sbin/docker-init', '--', ...entry, ...args.map(at), ''].join('\0'));
    const set = Object.fromEntries(Object.entries({ ...image, ...env }).map(([name, value]) => [name, at(value!)]));
    return exitOf([process.execPath, `deploy/${file}`, commandLine], set);
  };
  const { port } = new URL(isOrigin ? program.origin : program.url);
  expect(await check(port)).toBe(0);
  expect(await check(UNUSED_PORT)).toBe(1);
});

test('a user of any number in the group 0 may write to the data folder of the image', () => {
  expect(/mkdir -m (\d+) \/data && chown \w+:(\w+) \/data/.exec(final)?.slice(1)).toEqual(['775', 'root']);
});

const unit = readFileSync('deploy/systemd/catalog-graphql@.service', 'utf8');
/** The commands of a key of the unit, as systemd starts them for the instance 4001. */
const commandsOf = (key: string) =>
  [...unit.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, line]) =>
    line!.replaceAll('%i', '4001').replaceAll('$$', '$'),
  );

test('an instance of systemd starts only with a Redis and a service, and says which setting lacks', async () => {
  const needed = { REDIS_URL: 'redis://redis', BASE_URL: 'https://api.example' };
  const start = async (env: NodeJS.ProcessEnv) => {
    const runs = commandsOf('ExecStartPre').map((command) =>
      promisify(execFile)('/bin/sh', ['-c', command], { env }).then(
        () => '',
        ({ stderr }: { stderr: string }) => stderr,
      ),
    );
    return (await Promise.all(runs)).join('');
  };
  expect(await start(needed)).toBe('');
  expect(await start({ ...needed, REDIS_URL: '' })).toMatch(/REDIS_URL: must be set/);
  expect(await start({ ...needed, BASE_URL: undefined })).toMatch(/BASE_URL: must be set/);
});

test('an instance of systemd listens on its own port, and has the time that its end needs', () => {
  expect(commandsOf('ExecStart')).toEqual(['/usr/bin/env catalog-graphql --port 4001']);
  const [given] = commandsOf('Environment');
  const env = Object.fromEntries(given!.split(' ').map((pair) => pair.split('=', 2))) as NodeJS.ProcessEnv;
  const { production, drainMs, shutdownMs } = readConfig({ ...env, PORT: '1' }, { port: '4001' });
  expect(production).toBe(true);
  expect(Number(commandsOf('TimeoutStopSec')[0])).toBe((drainMs + shutdownMs) / 1_000 + 5);
});

test.skipIf(!hasProgram('systemd-analyze'))('systemd knows every line of the unit', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'catalog-unit-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'catalog-graphql@4001.service');
  writeFileSync(file, unit);
  const { stderr } = await promisify(execFile)('systemd-analyze', ['verify', '--man=no', file]).catch(
    (error: { stderr: string }) => error,
  );
  expect(stderr.split('\n').filter((line) => line.includes(file))).toEqual([]);
});

test.skipIf(!hasProgram('nginx'))(
  'the command of docs/operations.md makes a configuration that nginx accepts',
  async () => {
    const [command] = /^sed [^]*?\/nginx\.conf$/m.exec(readFileSync('docs/operations.md', 'utf8'))!;
    const file = join(temporaryDirectory(), 'nginx.conf');
    await promisify(execFile)('sh', ['-c', command.replace('/etc/nginx/nginx.conf', file)]);
    const text = readFileSync(file, 'utf8');
    expect(text.match(/^ +server \d\S+/gm)).toEqual(['    server 127.0.0.1:4001', '    server 127.0.0.1:4002']);
    const { stderr } = await promisify(execFile)('nginx', ['-t', '-c', file], {
      env: { PATH: `${process.env.PATH}:/usr/sbin` },
    });
    expect(stderr).toContain('syntax is ok');
  },
);

test.skipIf(!hasProgram('promtool'))('Prometheus accepts the scrape configuration with the rules', async () => {
  const { stdout } = await promisify(execFile)('promtool', ['check', 'config', 'deploy/prometheus/prometheus.yaml']);
  expect(stdout).toMatch(/\d+ rules found/);
});

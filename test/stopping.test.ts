import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { made } from './support/made.ts';
import { hasProgram } from './support/optional.ts';
import { freePort, hasRedis, until } from './support/redis.ts';
import { startRedis } from './support/redis-process.ts';
import { temporaryDirectory } from './support/service.ts';

const main = await made('program');
const anyPort = { PATH: process.env.PATH, PORT: '0', ORIGIN_PORT: '0', LOG_LEVEL: 'info' };

/** Starts a program in a process group of its own, which is killed after the test. */
function start(command: string, args: string[], env: NodeJS.ProcessEnv) {
  const child = spawn(command, args, { env: { ...anyPort, ...env }, detached: true });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const ended = once(child, 'exit').then(() => ({ code: child.exitCode, signal: child.signalCode }));
  onTestFinished(() => {
    try {
      process.kill(-child.pid!, 'SIGKILL');
    } catch {
      // All of the group have ended.
    }
  });
  return { child, ended, written: () => ({ out, err }) };
}

/** A service that accepts connections and never responds. */
async function silentService() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test.skipIf(process.platform === 'win32')(
  'SIGTERM to npm start ends the server after its running requests',
  async () => {
    const { server, url } = await silentService();
    // A response whose body is only sent after the signal.
    const requested = new Promise<() => void>((resolveRequest) => {
      server.on('connection', (socket) => {
        socket.once('data', () =>
          resolveRequest(() => {
            const body = '{"id":"1","title":"late"}';
            socket.write(
              `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
            );
          }),
        );
        socket.on('error', () => undefined);
      });
    });
    const program = start('npm', ['start', '--ignore-scripts'], {
      BASE_URL: url,
      EVENT_BASE_URL: 'http://127.0.0.1:1',
    });
    const graph = await linkIn(program, /"graph":"([^"]+)"/);
    const response = fetch(`${graph}?query={book(id:"1"){title}}`).then((each) => each.json());
    const respond = await requested;
    program.child.kill('SIGTERM');
    await until(() => program.written().err.includes('"stopping: '));
    respond();
    expect(await response).toMatchObject({ data: { book: { title: 'late' } } });
    await program.ended;
    expect(program.written().err).toContain('"msg":"stopped"');
    await expect(fetch(graph)).rejects.toThrow();
  },
);

test('each script that starts a server replaces the shell of npm, on Windows by a command file', () => {
  const folders = ['.', 'examples/react-relay', 'examples/offline-apollo'];
  for (const folder of folders) {
    const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    for (const [name, script] of Object.entries(scripts))
      if (name === 'start' || name === 'origin') expect(script, `${name} in ${folder}`).toMatch(/^exec node /);
    expect(existsSync(join(folder, 'exec.cmd')), folder).toBe(true);
  }
});

test('SIGTERM during the start closes what is open and ends with 0, without a banner', async () => {
  const { server, url } = await silentService();
  const called = once(server, 'connection');
  // The start waits for what the Redis says.
  const env = { BASE_URL: url, EVENT_BASE_URL: url, REDIS_URL: url.replace('http', 'redis') };
  const program = start(process.execPath, [main], env);
  await called;
  program.child.kill('SIGTERM');
  expect(await program.ended).toEqual({ code: 0, signal: null });
  expect(program.written().out).toBe('');
  expect(program.written().err).toContain('"msg":"stopped"');
});

test.each(['info', 'error'])(
  'with LOG_LEVEL=%s all that the program says is lines of that level on stderr',
  async (LOG_LEVEL) => {
    const dataDir = temporaryDirectory();
    cpSync(await made('demo'), dataDir, { recursive: true });
    const [PORT, ORIGIN_PORT] = [String(await freePort()), String(await freePort())];
    const program = start(process.execPath, [main], { PORT, ORIGIN_PORT, LOG_LEVEL, DATA_DIR: dataDir });
    await until(() => isUp(`http://127.0.0.1:${PORT}/health`));
    program.child.kill('SIGTERM');
    await program.ended;
    const { out, err } = program.written();
    const lines = err.split('\n').filter(Boolean);
    const messages = lines.map((line) => (JSON.parse(line) as { msg: string }).msg.split(/[ :]/)[0]);
    expect({ out, messages }).toEqual({
      out: '',
      messages: LOG_LEVEL === 'info' ? ['ready', 'stopping', 'stopped'] : [],
    });
  },
);

test.skipIf(!hasRedis)('what a library says plainly is a line of the log', async () => {
  const redis = await startRedis();
  const program = start(process.execPath, [main], {
    REDIS_URL: `redis://:secret@127.0.0.1:${redis.port}`,
    BASE_URL: 'http://127.0.0.1:1',
    EVENT_BASE_URL: 'http://127.0.0.1:1',
  });
  await linkIn(program, /"graph":"([^"]+)"/);
  await until(() => program.written().err.includes('password'));
  const lines = program.written().err.trim().split('\n');
  const levels = lines.map((line) => (JSON.parse(line) as { level: string }).level);
  expect(levels).toContain('warn');
  expect(program.written().err).not.toContain('secret');
});

const isUp = (url: string) =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );

const unshare = ['--user', '--map-root-user', '--pid', '--fork', '--kill-child'];
const canUnshare = hasProgram('unshare') && spawnSync('unshare', [...unshare, 'true']).status === 0;

/** Later releases load a program in one tick of the event loop: they hear the signal when it is loaded, and then end in order. */
const loadsInTurns = Number(process.versions.node.split('.')[0]) < 22;

test.skipIf(!canUnshare || !loadsInTurns)(
  'as the first process of a container it ends by a signal before it has loaded',
  async () => {
    const { url } = await silentService();
    // On a busy machine no signal may come between the first line of the program and the end of its loading. It ends otherwise then.
    let end: Awaited<ReturnType<typeof start>['ended']> | undefined;
    for (let attempt = 0; attempt < 10 && end?.code !== 128 + 15; attempt++) {
      const program = start('unshare', [...unshare, process.execPath, main], { BASE_URL: url, EVENT_BASE_URL: url });
      const first = await childOf(program.child);
      let hasEnded = false;
      void program.ended.then(() => (hasEnded = true));
      // Node itself takes some milliseconds before it runs anything. A signal that is heard after the start begins ends with another code.
      while (!hasEnded) {
        try {
          process.kill(first, 'SIGTERM');
        } catch {
          break;
        }
        await setTimeout(2);
      }
      end = await program.ended;
      expect(program.written().out).toBe('');
    }
    expect(end).toEqual({ code: 128 + 15, signal: null });
  },
);

async function childOf({ pid }: ChildProcess): Promise<number> {
  const children = () => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  await until(() => children() !== '');
  return Number(children());
}

async function linkIn(program: ReturnType<typeof start>, pattern: RegExp): Promise<string> {
  await until(() => pattern.test(program.written().out));
  return pattern.exec(program.written().out)![1]!;
}

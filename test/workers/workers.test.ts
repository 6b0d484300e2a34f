import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { patientEnv } from '../support/patient.ts';
import { runProgram, startProgram } from '../support/program.ts';
import { until } from '../support/redis.ts';

const env = { ...patientEnv, PORT: '0', ORIGIN_PORT: '0', WORKERS: '2', SHUTDOWN_MS: '60000' };

/** A service that holds each request until the test answers it. */
async function heldService() {
  const held: { request: IncomingMessage; response: ServerResponse }[] = [];
  const server = createServer((request, response) => void held.push({ request, response }));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => close(server));
  const url = `http://127.0.0.1:${portOf(server)}`;
  return {
    env: { ...env, BASE_URL: url, EVENT_BASE_URL: url },
    held,
    /** How many were abandoned by the process that had sent them. */
    abandoned: () => held.filter(({ request }) => request.socket.destroyed).length,
    answerAll(): void {
      for (const { request, response } of held) {
        const id = /book\/(\d+)/.exec(request.url!)![1];
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ id, title: `title ${id}` }));
      }
    },
  };
}

const portOf = (server: Server) => (server.address() as AddressInfo).port;

function close(server: Server): void {
  server.closeAllConnections();
  server.close();
}

/** A request on a connection of its own; undefined if the connection is lost. */
async function read(url: string, path: string): Promise<string | undefined> {
  try {
    const [response] = (await once(get(`${url}${path}`, { agent: false }), 'response')) as [IncomingMessage];
    return await text(response);
  } catch {
    return undefined;
  }
}

const bookPath = (id: number) => `/graphql?query={book(id:${id}){title}}`;
const ready = (url: string) => read(url, '/ready').then((body) => (JSON.parse(body!) as { status: string }).status);

async function metric(url: string, name: string): Promise<number> {
  const line = (await read(url, '/metrics'))!.split('\n').find((each) => each.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1));
}

/** The workers of a running program. */
const workersOf = (pid: number) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);

const linesOf = (err: string) =>
  err
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { pid: number; msg: string; pauseMs?: number });

test('workers share one port, one origin and one banner, and their metrics are a sum', async () => {
  const program = await startProgram({ ...env, LOG_LEVEL: 'debug' });
  expect(JSON.parse(program.banner)).toMatchObject({ graph: `${program.url}/graphql`, workers: 2 });
  const bodies = await Promise.all(Array.from({ length: 8 }, () => read(program.url, bookPath(6082808))));
  expect(bodies).toEqual(Array.from({ length: 8 }, () => expect.stringContaining('"title":"')));
  expect(await metric(program.url, 'catalog_requests_total{path="/graphql",status="200"}')).toBe(8);
  expect(await metric(program.url, 'catalog_workers')).toBe(2);
  const { code, err, out } = await program.stop();
  expect([code, out]).toEqual([0, program.banner]);
  const served = linesOf(err).filter(({ msg }) => msg === 'request');
  expect(new Set(served.map(({ pid }) => pid)).size).toBe(2);
});

test('only the requests of a killed worker are lost, it is replaced, and sums do not get smaller', async () => {
  const service = await heldService();
  const program = await startProgram(service.env);
  const [first] = workersOf(program.pid);
  const bodies = Array.from({ length: 12 }, (_, id) => read(program.url, bookPath(id + 1)));
  await until(() => service.held.length === 12);
  const requests = 'catalog_requests_total{path="/health",status="200"}';
  for (let n = 0; n < 6; n++) await read(program.url, '/health');
  expect(await metric(program.url, requests)).toBe(6);
  process.kill(first!, 'SIGKILL');
  await until(() => service.abandoned() > 0);
  await until(async () => (await metric(program.url, 'catalog_workers')) === 2);
  const abandoned = service.abandoned();
  service.answerAll();
  const answers = await Promise.all(bodies);
  expect(answers.filter((body) => body === undefined)).toHaveLength(abandoned);
  expect(answers.filter((body) => body?.includes('title '))).toHaveLength(12 - abandoned);
  expect(abandoned).toBeLessThan(12);
  expect(await metric(program.url, requests)).toBe(6);
  expect(await metric(program.url, 'catalog_worker_restarts_total')).toBe(1);
  expect(workersOf(program.pid)).not.toContain(first);
  expect(await program.stop()).toMatchObject({ code: 0, err: '' });
});

test('a connection that a worker has not accepted before it is killed is served by another', async () => {
  const program = await startProgram({ ...env, BASE_URL: 'http://127.0.0.1:1', EVENT_BASE_URL: 'http://127.0.0.1:1' });
  const [first] = workersOf(program.pid);
  process.kill(first!, 'SIGSTOP');
  await until(() => / T /.test(readFileSync(`/proc/${first}/stat`, 'utf8')));
  let served = 0;
  const bodies = Array.from({ length: 6 }, () => read(program.url, '/health').finally(() => served++));
  await until(() => served === 5);
  process.kill(first!, 'SIGKILL');
  expect(await Promise.all(bodies)).toEqual(Array.from({ length: 6 }, () => '{"status":"ok"}'));
  await program.stop();
});

test('on SIGTERM the running requests of all workers are answered', async () => {
  const service = await heldService();
  const program = await startProgram(service.env);
  const bodies = Array.from({ length: 8 }, (_, id) => read(program.url, bookPath(id + 1)));
  await until(() => service.held.length === 8);
  const ended = program.stop('SIGTERM');
  await until(async () => (await read(program.url, '/health')) === undefined);
  service.answerAll();
  for (const [index, body] of (await Promise.all(bodies)).entries()) expect(body).toContain(`title ${index + 1}`);
  expect(await ended).toMatchObject({ code: 0, err: '' });
});

test('a worker that ends at each start is started again after pauses that grow, while the others serve', async () => {
  // The first two workers run; those that replace them end at once.
  const endIfReplacement =
    "import cluster from 'node:cluster'; if (cluster.worker?.id > 2) process.kill(process.pid, 'SIGKILL');";
  const failing = `--import data:text/javascript,${encodeURIComponent(endIfReplacement)}`;
  const program = await startProgram({ ...env, LOG_LEVEL: 'warn', NODE_OPTIONS: failing });
  process.kill(workersOf(program.pid)[0]!, 'SIGKILL');
  await until(async () => (await metric(program.url, 'catalog_worker_restarts_total')) >= 4);
  expect(await read(program.url, '/health')).toBe('{"status":"ok"}');
  const { code, err } = await program.stop();
  const pauses = linesOf(err).flatMap(({ pauseMs }) => pauseMs ?? []);
  expect([code, pauses.slice(0, 4)]).toEqual([0, [0, 100, 200, 400]]);
});

test('/ready is that of the fleet: 503 once all workers stop, not while one does', async () => {
  const program = await startProgram({ ...env, DRAIN_MS: '60000' });
  const states = () => Promise.all(Array.from({ length: 6 }, () => ready(program.url)));
  process.kill(workersOf(program.pid)[0]!, 'SIGTERM');
  expect(new Set(await states())).toEqual(new Set(['ready']));
  void program.stop('SIGTERM');
  await until(async () => (await states()).every((state) => state === 'shutting down'));
  const { code } = await program.stop('SIGTERM'); // the second signal ends it at once
  expect(code).toBe(1);
});

test('workers end with the primary process', async () => {
  const program = await startProgram(env);
  const workers = workersOf(program.pid);
  expect(workers).toHaveLength(2);
  await program.stop('SIGKILL');
  const isRunning = (pid: number) => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };
  await until(() => !workers.some(isRunning));
});

test('a port in use is reported once, and nothing is left running', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  onTestFinished(() => close(taken));
  const { code, out, err } = await runProgram({ ...env, PORT: String(portOf(taken)) });
  expect({ code, out, err }).toEqual({
    code: 1,
    out: '',
    err: `Port ${portOf(taken)} is in use. Set PORT to another.\n`,
  });
});

test('without REDIS_URL the start says in one line what workers do not share', async () => {
  const service = await heldService();
  for (const [settings, lines] of [
    [{}, ['without REDIS_URL workers share neither cached records nor the rate limit']],
    [{ WORKERS: '1' }, []],
  ] as const) {
    const program = await startProgram({ ...service.env, LOG_LEVEL: 'warn', ...settings });
    const { err } = await program.stop();
    const told = err === '' ? [] : linesOf(err).map(({ msg }) => msg.split(':')[0]);
    expect(told).toEqual(lines);
  }
});

test('a worker that is stopped is replaced, and the metrics do not wait for it', async () => {
  const program = await startProgram(env);
  const [first] = workersOf(program.pid);
  process.kill(first!, 'SIGSTOP');
  await until(async () => workersOf(program.pid).length === 2 && !workersOf(program.pid).includes(first!));
  await until(async () => (await metric(program.url, 'catalog_worker_restarts_total')) === 1);
  for (let id = 1; id <= 4; id++) expect(await read(program.url, bookPath(6082808))).toContain('title');
  const { code, err } = await program.stop();
  expect(code).toBe(0);
  expect(linesOf(err).map(({ msg }) => msg)).toContain('a worker does not reply any more: it is killed');
});

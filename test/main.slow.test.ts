import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { openSqlite } from '../src/origin/store/database/sqlite.ts';
import { patientEnv } from './support/patient.ts';
import { killProgram, runProgram, startProgram } from './support/program.ts';

const anyPort = { PORT: '0', ORIGIN_PORT: '0', ...patientEnv, SHUTDOWN_MS: '60000' };

/** Filled by the first test that starts the origin, and reused by the others. */
const dataDir = mkdtempSync(join(tmpdir(), 'catalog-'));
const filled = { ...anyPort, DATA_DIR: dataDir };
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

test('the program starts the facade together with the origin, and stops both on SIGTERM', async () => {
  const program = await startProgram(filled);
  // Without a terminal the banner is one log line without a token.
  expect(program.banner.trim().split('\n')).toHaveLength(1);
  expect(JSON.parse(program.banner)).toMatchObject({ graph: `${program.url}/graphql`, origin: program.origin });
  expect(program.banner).not.toContain('demo-alice');
  expect(program.origin).toMatch(/^http:\/\/127\.0\.0\.1:/);
  const ready = await fetch(`${program.url}/ready`);
  expect([ready.status, await ready.json()]).toEqual([
    200,
    { status: 'ready', upstreams: { catalog: 'reachable', events: 'reachable' } },
  ]);
  const response = await fetch(`${program.url}/graphql?query={viewer{isLoggedIn}}`);
  expect(await response.json()).toEqual({ data: { viewer: { isLoggedIn: false } } });
  expect(await program.stop('SIGTERM')).toMatchObject({ code: 0, err: '' });
  await expect(fetch(program.origin)).rejects.toThrow();
});

test('the origin beside the facade listens on the loopback interface only, whatever HOST is', async () => {
  const program = await startProgram({ ...filled, HOST: '0.0.0.0' });
  expect(program.origin).toMatch(/^http:\/\/127\.0\.0\.1:/);
  expect(program.url).toMatch(/^http:\/\/localhost:/);
  expect((await program.stop()).code).toBe(0);
});

test('settings that an earlier release had are warned of, and the program starts', async () => {
  const env = { ...filled, LOG_LEVEL: 'warn', WORKERS: '4', MAX_ALIASES: '90' };
  const program = await startProgram(env, ['--max-busy-connections', '128']);
  expect((await fetch(`${program.url}/health`)).status).toBe(200);
  const { err } = await program.stop();
  for (const said of [
    'WORKERS has no effect: a command is one process, so the capacity of 3 of 4',
    'MAX_ALIASES has',
    'MAX_BUSY_CONNECTIONS has',
  ])
    expect(err.split(said)).toHaveLength(2);
});

test.each([
  ['check', ['operations/film.graphql'], 0],
  ['doctor', ['--base-url', 'http://127.0.0.1:9'], 1],
])('%s says of a flag that an earlier release had that it has no effect', async (command, args, code) => {
  const ended = await runProgram({}, [command, ...args, '--max-aliases', '90']);
  expect(ended.code).toBe(code);
  expect(ended.out + ended.err).toContain('MAX_ALIASES has no effect: it is 60 now');
});

test('the origin says of a flag that an earlier release had that it has no effect', async () => {
  const program = await startProgram({ ...filled, LOG_LEVEL: 'warn' }, ['origin', '--demo-tokens', 'off']);
  expect((await program.stop()).err).toContain('DEMO_TOKENS has no effect: DEMO decides it.');
});

test('the origin can run alone', async () => {
  const program = await startProgram(filled, ['origin']);
  expect(program.url).toBe('');
  expect((await fetch(`${program.origin}/v2/book/6082808`)).status).toBe(200);
  expect((await program.stop('SIGINT')).code).toBe(0);
});

test('URLs in records begin with PUBLIC_URL, set by a variable or a flag, with and without the facade', async () => {
  const publicUrl = 'https://catalog.test';
  for (const [env, args] of [
    [{ ...filled, PUBLIC_URL: publicUrl }, []],
    [{ ...filled, PUBLIC_URL: publicUrl }, ['origin']],
    [filled, ['origin', '--public-url', publicUrl]],
  ] as [NodeJS.ProcessEnv, string[]][]) {
    const program = await startProgram(env, args);
    const book = (await (await fetch(`${program.origin}/v2/book/6082808`)).json()) as { url: string; image: string };
    expect(book.url).toBe(`${publicUrl}/v2/book/6082808`);
    expect(book.image).toMatch(/^https:\/\/catalog\.test\/pictures\//);
    await program.stop();
  }
});

test('with other upstreams no origin is started and no demo token is printed', async () => {
  const program = await startProgram({
    PORT: '0',
    BASE_URL: 'http://127.0.0.1:1',
    EVENT_BASE_URL: 'http://127.0.0.1:1',
  });
  expect(program.origin).toBe('');
  expect(program.banner).not.toContain('demo-');
  expect((await program.stop()).code).toBe(0);
});

test('wrong settings are reported together, and nothing starts', async () => {
  const { code, out, err } = await runProgram({ PORT: 'x', FILM_TIER: 'gold', BASE_URL: 'http://a' }, [
    '--max-depth',
    '0',
  ]);
  expect([code, out]).toEqual([1, '']);
  for (const name of ['PORT', 'FILM_TIER', 'EVENT_BASE_URL', 'MAX_DEPTH']) expect(err).toContain(`  ${name} must be`);
});

test('in production nothing starts without a service, unless the demo is asked for by name', async () => {
  const production = { ...filled, NODE_ENV: 'production' };
  const err =
    'The settings cannot be used:\n  BASE_URL and EVENT_BASE_URL must name the service, or DEMO=on asks for the demo\n';
  for (const env of [production, { ...production, BASE_URL: '', EVENT_BASE_URL: '' }, { ...filled, DEMO: 'off' }])
    expect(await runProgram(env)).toEqual({ code: 1, out: '', err });
  const { code, out } = await runProgram(production, ['doctor']);
  expect(code).toBe(1);
  expect(out).toContain('BASE_URL and EVENT_BASE_URL must name the service');
  const demo = await startProgram({ ...production, DEMO: 'on' });
  const headers = { authorization: 'Bearer demo-alice' };
  const response = await fetch(`${demo.url}/graphql?query={book(id:"6082808"){viewerCollection{status}}}`, { headers });
  expect(await response.json()).toEqual({ data: { book: { viewerCollection: { status: 'READ' } } } });
  expect((await demo.stop()).code).toBe(0);
});

test('a wrong port, a wrong URL and a missing one are each reported in one line without a stack trace', async () => {
  const start = 'The settings cannot be used:\n';
  const cases: [NodeJS.ProcessEnv, string[]][] = [
    [{ PORT: 'abc' }, ['PORT must be a whole number from 0 to 65535, not "abc"']],
    [
      { BASE_URL: 'foo' },
      [
        'BASE_URL must be an http:// or https:// address without user, query or fragment, not "foo"',
        'EVENT_BASE_URL must be set too, because BASE_URL is',
      ],
    ],
    [{ BASE_URL: 'http://127.0.0.1:1' }, ['EVENT_BASE_URL must be set too, because BASE_URL is']],
  ];
  await Promise.all(
    cases.map(async ([env, lines]) => {
      const err = start + lines.map((line) => `  ${line}\n`).join('');
      expect(await runProgram(env)).toEqual({ code: 1, out: '', err });
    }),
  );
});

test('a port in use is reported with the name of its setting, and the process ends', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const port = portOf(taken);
  for (const [variable, other] of [
    ['PORT', 'ORIGIN_PORT'],
    ['ORIGIN_PORT', 'PORT'],
  ] as const) {
    const { code, out, err } = await runProgram({ [variable]: port, [other]: '0', DATA_DIR: dataDir });
    expect({ code, out, err }).toEqual({
      code: 1,
      out: '',
      err: `Port ${port} is in use. Set ${variable} to another.\n`,
    });
  }
  taken.close();
});

test('a data directory that is not writable is reported in one line', async () => {
  const cases = [
    ['/dev/null/data', 'ENOTDIR'],
    ['/dev/null', 'EEXIST'],
    ['/proc/data', 'E(NOENT|ACCES)'],
  ] as const;
  for (const [place, cause] of cases) {
    const { code, out, err } = await runProgram({ ...anyPort, DATA_DIR: place });
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(
      new RegExp(`^Cannot write to ${place} \\(${cause}\\)\\. Set DATA_DIR to a directory that can be written\\.\\n$`),
    );
  }
});

test('a database that cannot be read is reported in one line', async () => {
  const damaged = mkdtempSync(join(tmpdir(), 'catalog-'));
  writeFileSync(join(damaged, 'origin.db'), 'nothing that SQLite wrote '.repeat(100));
  const { code, out, err } = await runProgram({ ...anyPort, DATA_DIR: damaged });
  rmSync(damaged, { recursive: true });
  expect({ code, out, err }).toEqual({
    code: 1,
    out: '',
    err: 'The database in DATA_DIR cannot be used: file is not a database (SQLite 26).\n',
  });
});

test('a first start that is killed while it fills the database is repeated by the next one', async () => {
  let killedDir = '';
  /** Throws if the tables do not exist yet. */
  const isFilled = () => {
    const db = openSqlite(join(killedDir, 'origin.db'), { readOnly: true });
    try {
      return db.prepare("select value from meta where key = 'filled'").get() !== undefined;
    } finally {
      db.close();
    }
  };
  const hasTables = () => {
    try {
      isFilled();
      return true;
    } catch {
      return false;
    }
  };
  // The tables are committed before the data: once they exist, filling has begun.
  const begun = async () => {
    while (!existsSync(join(killedDir, 'origin.db-wal')) || !hasTables()) await setTimeout(1);
    await setTimeout(50);
  };
  let out = '';
  // On a stalled machine the database may be filled before the kill: try again.
  for (let attempt = 0; attempt < 5; attempt++) {
    const place = mkdtempSync(join(tmpdir(), 'catalog-'));
    onTestFinished(() => rmSync(place, { recursive: true }));
    killedDir = place;
    ({ out } = await killProgram({ ...anyPort, DATA_DIR: killedDir }, begun));
    if (!isFilled()) break;
  }
  expect([out, isFilled()]).toEqual(['', false]);

  const program = await startProgram({ ...anyPort, DATA_DIR: killedDir });
  expect(program.banner).toContain('filled with the demo catalog');
  expect((await fetch(`${program.origin}/v2/book/6082808`)).status).toBe(200);
  expect(await program.stop()).toMatchObject({ code: 0, err: '' });
  expect(isFilled()).toBe(true);
});

test('on SIGTERM running requests are answered, and new connections are refused', async () => {
  const held = createServer();
  const received = once(held, 'request') as Promise<[IncomingMessage, ServerResponse]>;
  await once(held.listen(0, '127.0.0.1'), 'listening');
  const upstream = `http://127.0.0.1:${portOf(held)}`;
  const program = await startProgram({ ...anyPort, BASE_URL: upstream, EVENT_BASE_URL: upstream });
  const response = fetch(`${program.url}/graphql?query={book(id:7){title}}`);
  const [, reply] = await received;
  const ended = program.stop('SIGTERM');
  await untilRefused(program.url);
  reply.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"7","title":"活着"}');
  expect(await (await response).json()).toEqual({ data: { book: { title: '活着' } } });
  expect(await ended).toMatchObject({ code: 0, err: '' });
  held.closeAllConnections();
  held.close();
});

/** Makes the running program fail when it receives SIGUSR2. */
const failOnSignal = (how: string) =>
  `--import data:text/javascript,${encodeURIComponent(`process.on('SIGUSR2', () => { ${how} })`)}`;

test('an uncaught exception is logged and ends the process', async () => {
  const program = await startProgram({ ...filled, NODE_OPTIONS: failOnSignal("throw new Error('odd corner')") });
  const { code, err } = await program.stop('SIGUSR2');
  expect(code).toBe(1);
  const [line, ...more] = err.trim().split('\n');
  expect(more).toEqual([]);
  expect(JSON.parse(line!)).toMatchObject({
    level: 'fatal',
    msg: 'uncaught exception: the process ends',
    err: { message: 'odd corner' },
  });
});

test('an unhandled rejection is logged, and the process continues', async () => {
  const program = await startProgram({
    ...filled,
    NODE_OPTIONS: failOnSignal("Promise.reject(new Error('odd corner'))"),
  });
  process.kill(program.pid, 'SIGUSR2');
  const response = await fetch(`${program.url}/graphql?query={viewer{isLoggedIn}}`);
  expect(response.status).toBe(200);
  const { code, err } = await program.stop();
  expect(code).toBe(0);
  expect(JSON.parse(err)).toMatchObject({ level: 'error', msg: 'unhandled promise rejection' });
});

test('the schema is printed without starting a server, and --help lists every setting', async () => {
  const schema = await runProgram({}, ['schema']);
  expect([schema.code, schema.err]).toEqual([0, '']);
  expect(schema.out).toContain('type Query');
  const help = await runProgram({}, ['--help']);
  expect(help.code).toBe(0);
  expect(help.out).toContain('MAX_UPSTREAM_CALLS');
  expect(help.out).toContain('origin');
  expect(await runProgram({}, ['help'])).toEqual(help);
  expect(await runProgram({}, ['help', 'backup'])).toMatchObject({
    code: 0,
    out: expect.stringContaining('--data-dir') as string,
  });
});

test('an unknown command or flag is reported with suggestions', async () => {
  const wrong = (...args: string[]) => runProgram({}, args).then(({ code, out, err }) => ({ code, out, err }));
  const unknown = (err: string) => ({ code: 1, out: '', err });
  const commands = '(The commands are origin, backup, schema, settings, manifest, check, doctor, usage, help.)';
  expect(await wrong('strat')).toEqual(unknown(`error: unknown command 'strat'\n${commands}\n`));
  expect(await wrong('--max-depht', '3')).toEqual(
    unknown("error: unknown option '--max-depht'\n(Did you mean --max-depth?)\n"),
  );
  expect(await wrong('--prot', '80')).toEqual(unknown("error: unknown option '--prot'\n(Did you mean --port?)\n"));
  expect((await wrong('doctor', 'https://api.example')).err).toContain("too many arguments for 'doctor'");
});

test('the help fits a terminal of 100 columns', async () => {
  for (const args of [
    ['--help'],
    ['origin', '--help'],
    ['backup', '--help'],
    ['manifest', '--help'],
    ['settings', '--help'],
    ['doctor', '--help'],
  ]) {
    const { code, out } = await runProgram({}, args);
    expect(code).toBe(0);
    expect(out.split('\n').filter((line) => line.length > 100)).toEqual([]);
  }
});

const portOf = (server: Server) => String((server.address() as AddressInfo).port);

/** Resolves once connections are refused. */
async function untilRefused(url: string): Promise<void> {
  for (;;) {
    try {
      await fetch(`${url}/health`, { headers: { connection: 'close' } });
    } catch {
      return;
    }
    await setTimeout(5);
  }
}

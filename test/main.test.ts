import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { runProgram, startProgram } from './support/program.ts';

const free = { PORT: '0', ORIGIN_PORT: '0' };

test('starts the facade with the origin beside it, and ends both on SIGTERM', async () => {
  const program = await startProgram(free);
  expect(program.banner).toContain('demo-alice');
  expect(program.origin).toMatch(/^http:\/\/127\.0\.0\.1:/);
  const ready = await fetch(`${program.url}/ready`);
  expect([ready.status, await ready.json()]).toEqual([
    200,
    { status: 'ready', upstreams: { v2: 'reachable', events: 'reachable' } },
  ]);
  const answer = await fetch(`${program.url}/graphql?query={viewer{isLoggedIn}}`);
  expect(await answer.json()).toEqual({ data: { viewer: { isLoggedIn: false } } });
  expect(await program.stop('SIGTERM')).toMatchObject({ code: 0, err: '' });
  await expect(fetch(program.origin)).rejects.toThrow();
});

test('the origin beside the facade is for this house alone, whatever HOST is', async () => {
  const program = await startProgram({ ...free, HOST: '0.0.0.0' });
  expect(program.origin).toMatch(/^http:\/\/127\.0\.0\.1:/);
  expect(program.url).toMatch(/^http:\/\/localhost:/);
  expect((await program.stop()).code).toBe(0);
});

test('the origin runs alone', async () => {
  const program = await startProgram(free, ['origin']);
  expect(program.url).toBe('');
  expect((await fetch(`${program.origin}/v2/book/6082808`)).status).toBe(200);
  expect((await program.stop('SIGINT')).code).toBe(0);
});

test('with other upstreams named, no origin is started and no demo token is told', async () => {
  const program = await startProgram({
    PORT: '0',
    BASE_URL: 'http://127.0.0.1:1',
    EVENT_BASE_URL: 'http://127.0.0.1:1',
  });
  expect(program.origin).toBe('');
  expect(program.banner).not.toContain('demo-');
  expect((await program.stop()).code).toBe(0);
});

test('wrong settings are told together, and nothing starts', async () => {
  const { code, out, err } = await runProgram({ PORT: 'x', FILM_TIER: 'gold', BASE_URL: 'http://a' }, [
    '--max-depth',
    '0',
  ]);
  expect([code, out]).toEqual([1, '']);
  for (const name of ['PORT', 'FILM_TIER', 'EVENT_BASE_URL', 'MAX_DEPTH']) expect(err).toContain(`  ${name} must be`);
});

test('a port in use is told by the name of its setting, and nothing is left running', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  const port = String((taken.address() as AddressInfo).port);
  for (const [variable, other] of [
    ['PORT', 'ORIGIN_PORT'],
    ['ORIGIN_PORT', 'PORT'],
  ] as const) {
    const { code, out, err } = await runProgram({ [variable]: port, [other]: '0' });
    expect({ code, out, err }).toEqual({
      code: 1,
      out: '',
      err: `Port ${port} is in use. Set ${variable} to another.\n`,
    });
  }
  taken.close();
});

test('a data directory that cannot be written is told in a line', async () => {
  const { code, err } = await runProgram({ ...free, DATA_DIR: '/dev/null/data' });
  expect(code).toBe(1);
  expect(err).toMatch(/^Cannot write to \/dev\/null\/data \(ENOTDIR\)\. Set DATA_DIR .*\n$/);
});

test('the schema is printed without starting anything; help shows every setting', async () => {
  const schema = await runProgram({}, ['schema']);
  expect([schema.code, schema.err]).toEqual([0, '']);
  expect(schema.out).toContain('type Query');
  const help = await runProgram({}, ['--help']);
  expect(help.code).toBe(0);
  expect(help.out).toContain('MAX_UPSTREAM_CALLS');
  expect(help.out).toContain('origin');
});

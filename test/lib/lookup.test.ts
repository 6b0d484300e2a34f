import { promises as dns } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { lookup, optionalLookup } from '../../src/lib/lookup.ts';

/** Look-ups that the system runs, by name, until the test ends them. */
const running: { name: string; end: (outcome: string | Error) => void }[] = [];
let nth = 0;
let host = '';

beforeEach(() => {
  host = `name-${++nth}.test`; // what is known of names lasts as long as the process
  running.length = 0;
  vi.spyOn(dns, 'lookup').mockImplementation(
    (name: string) =>
      new Promise<never>((resolve, reject) => {
        const end = (outcome: string | Error) =>
          outcome instanceof Error ? reject(outcome) : resolve([{ address: outcome, family: 4 }] as never);
        running.push({ name, end });
      }),
  );
});
afterEach(() => {
  for (const { end } of running) end('192.0.2.9');
  vi.restoreAllMocks();
});

/** The address that a connection gets, or the message of the error. */
const ask = (name: string, by: LookupFunction = lookup) =>
  new Promise<string>((resolve) =>
    by(name, {}, (error, address) => resolve(error ? error.message : (address as string))),
  );
const names = async () => (await setTimeout(5), running.map(({ name }) => name));

test('who asks for a name while it is looked up gets what that look-up finds', async () => {
  const asked = [ask(host), ask(host, optionalLookup), ask(host)];
  expect(await names()).toEqual([host]);
  running[0]!.end('192.0.2.1');
  expect(await Promise.all(asked)).toEqual(['192.0.2.1', '192.0.2.1', '192.0.2.1']);
  void ask(host);
  expect(await names()).toEqual([host, host]);
});

test('all addresses are passed on, or the first', async () => {
  const all = new Promise((resolve) => lookup(host, { all: true }, (_, found) => resolve(found)));
  await names();
  running[0]!.end('192.0.2.1');
  expect(await all).toEqual([{ address: '192.0.2.1', family: 4 }]);
});

test('the last address serves while a look-up fails, or takes long', async () => {
  const first = ask(host);
  await names();
  running[0]!.end('192.0.2.1');
  await first;
  const second = ask(host);
  await names();
  running[1]!.end(new Error('EAI_AGAIN'));
  expect(await second).toBe('192.0.2.1');
  expect(await ask(host)).toBe('192.0.2.1');
  running[2]!.end('192.0.2.2');
  await names();
  const last = ask(host);
  await names();
  running[3]!.end('192.0.2.3');
  expect(await last).toBe('192.0.2.3');
});

test('a name that was never found fails, for all who ask', async () => {
  const asked = [ask(host), ask(host)];
  await names();
  running[0]!.end(new Error('ENOTFOUND'));
  expect(await Promise.all(asked)).toEqual(['ENOTFOUND', 'ENOTFOUND']);
});

test('optional names are looked up one after another, and others beside them', async () => {
  for (const which of ['redis', 'keys', 'collector']) void ask(`${which}.${host}`, optionalLookup);
  expect(await names()).toEqual([`redis.${host}`]);
  const service = ask(host);
  expect(await names()).toEqual([`redis.${host}`, host]);
  running[1]!.end('192.0.2.1');
  expect(await service).toBe('192.0.2.1');
  running[0]!.end(new Error('EAI_AGAIN'));
  expect(await names()).toEqual([`redis.${host}`, host, `keys.${host}`]);
});

test('so are names whose last look-up took long', async () => {
  const [slow, other] = [`slow.${host}`, `other.${host}`];
  const failed = ask(slow);
  await setTimeout(1_050);
  running[0]!.end(new Error('EAI_AGAIN'));
  await failed;
  void ask(other, optionalLookup);
  expect(await names()).toEqual([slow, other]);
  void ask(slow);
  expect(await names()).toEqual([slow, other]);
  running[1]!.end('192.0.2.1');
  expect(await names()).toEqual([slow, other, slow]);
});

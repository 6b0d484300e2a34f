/** The least and the most of each setting that is a number or a text of a length, met and passed by one. */
import { expect, test } from 'vitest';
import { readConfig } from '../../src/config/read.ts';
import { type SettingName, entries } from '../../src/config/settings.ts';

const port = [0, 65_535] as const;
const milliseconds = [1, 600_000] as const;
const bytes = [1, 1_000_000_000] as const;
const amount = [1, 1_000_000] as const;
const numbers: { readonly [Name in SettingName]?: readonly [least: number, most: number] } = {
  port,
  drainMs: [0, 600_000],
  originPort: port,
  slowOperationMs: [0, 600_000],
  maxDocumentCharacters: amount,
  maxDepth: [1, 500],
  maxUpstreamCalls: amount,
  maxResponseBytes: bytes,
  operationTimeoutMs: milliseconds,
  maxUploadBytes: bytes,
  maxHeldUploadBytes: bytes,
  maxRunningOperations: amount,
  shutdownMs: milliseconds,
  recordTtlSeconds: [0, 31_536_000],
  callTimeoutMs: milliseconds,
  idempotencyTtlSeconds: [0, 2_678_400],
  upstreamSettleMs: milliseconds,
  maxConnections: [1, 10_000],
  retryAfterSeconds: [1, 60],
};
const texts: { readonly [Name in SettingName]?: readonly [least: number, most: number] } = {
  accessToken: [1, 2_000],
  serviceName: [1, 200],
  otelServiceName: [1, 100],
  usageToken: [16, 2_000],
};
const isTaken = (env: string, value: string): boolean => {
  try {
    readConfig({ [env]: value });
    return true;
  } catch {
    return false;
  }
};
const envOf = new Map(entries().map(([name, { env }]) => [name, env]));

test.each(Object.entries(numbers))('%s', (name, [least, most]) => {
  const env = envOf.get(name as SettingName)!;
  const tried = [least - 1, least, most, most + 1].map((value) => isTaken(env, String(value)));
  expect(tried).toEqual([false, true, true, false]);
  expect(readConfig({ [env]: String(most) })).toMatchObject({ [name]: most });
});

test.each(Object.entries(texts))('the length of %s', (name, [least, most]) => {
  const env = envOf.get(name as SettingName)!;
  const tried = [least - 1, least, most, most + 1].map((length) => isTaken(env, 'x'.repeat(length)));
  // What is empty is not set.
  expect(tried).toEqual([least < 2, true, true, false]);
});

test('the table has each setting with such a bound', () => {
  const bounded = entries().filter(([, { must }]) => must.startsWith('a whole number'));
  expect(bounded.map(([name]) => name)).toEqual(Object.keys(numbers));
});

import { expect, test } from 'vitest';
import { readConfig, withoutEffect } from '../../src/config/read.ts';
import { removedSettings } from '../../src/config/removed-settings.ts';
import { settings } from '../../src/config/settings.ts';
import { startWarnings } from '../../src/config/start-warnings.ts';

const upstream = { BASE_URL: 'http://a.example', EVENT_BASE_URL: 'http://a.example' };
const production = { NODE_ENV: 'production' };
const warned = (env: NodeJS.ProcessEnv, serves: 'facade' | 'origin' = 'facade') =>
  startWarnings(readConfig(env), serves).map((warning) => /^\w+/.exec(warning)![0]);

test.each([
  [{}, []],
  [production, []],
  [
    {
      ...production,
      ...upstream,
      ACCESS_TOKEN: 'x',
      FILM_TIER: 'basic',
      HOST: '0.0.0.0',
      TRUSTED_PROXIES: '10.0.0.0/8',
    },
    [],
  ],
  [{ HOST: '127.0.0.2' }, []],
  [{ HOST: 'localhost' }, []],
  [{ HOST: '::1' }, []],
  [{ HOST: '0.0.0.0' }, ['HOST']],
  [{ HOST: '::' }, ['HOST']],
  [{ HOST: '10.1.2.3' }, ['HOST']],
  [{ HOST: 'gateway.example' }, ['HOST']],
  [{ CORS_ORIGINS: 'http://localhost:*' }, []],
  [{ ...production, CORS_ORIGINS: 'https://a.example,http://localhost:3000' }, []],
  [{ ...production, CORS_ORIGINS: 'https://a.example,http://localhost:*' }, ['CORS_ORIGINS']],
  [{ ...production, DEMO: 'on' }, ['DEMO']],
  [{ ...production, ...upstream, DEMO: 'on' }, []],
  [{ ...production, ...upstream, ACCESS_TOKEN: 'demo-app', FILM_TIER: 'basic' }, ['ACCESS_TOKEN']],
  [{ ...upstream, ACCESS_TOKEN: 'demo-app', FILM_TIER: 'basic' }, []],
  [{ ...upstream, ACCESS_TOKEN: 'app' }, ['FILM_TIER']],
])('with %o the start warns of %o', (env, expected) => {
  expect(warned(env)).toEqual(expected);
});

test.each([
  [{ ...upstream, PUBLIC_URL: 'https://shop.example' }, ['PUBLIC_URL']],
  [{ PUBLIC_URL: 'https://shop.example' }, []],
  [{ USAGE_TOKEN: '0123456789abcdef', USAGE_CLIENTS: 'ios' }, ['USAGE_TOKEN', 'USAGE_CLIENTS']],
  [{ USAGE: 'on', USAGE_TOKEN: '0123456789abcdef', USAGE_CLIENTS: 'ios' }, []],
  [{ MCP_WRITES: 'on', MCP_OPERATIONS: 'tools' }, ['MCP_OPERATIONS', 'MCP_WRITES']],
  [{ MCP: 'on', MCP_WRITES: 'on' }, []],
  [{ OTEL_EXPORTER_OTLP_HEADERS: 'key=1' }, ['OTEL_EXPORTER_OTLP_HEADERS']],
  [{ OTEL_EXPORTER_OTLP_HEADERS: 'key=1', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a.example' }, []],
  [{ IDEMPOTENCY_REDIS_URL: 'redis://a', IDEMPOTENCY_TTL_SECONDS: '0' }, ['IDEMPOTENCY_REDIS_URL']],
  [{ REVALIDATE_SECONDS: '60', RECORD_TTL_SECONDS: '0' }, ['REVALIDATE_SECONDS']],
  [{ REQUEST_LOG: 'all', LOG_LEVEL: 'warn' }, ['REQUEST_LOG']],
  [{ REQUEST_LOG: 'all', LOG_LEVEL: 'debug' }, []],
  [{ SLOW_OPERATION_MS: '500', LOG_LEVEL: 'error' }, ['SLOW_OPERATION_MS']],
  [{ SLOW_OPERATION_MS: '0', LOG_LEVEL: 'silent' }, []],
  [{ CALL_TIMEOUT_MS: '3000', OPERATION_TIMEOUT_MS: '2000' }, ['CALL_TIMEOUT_MS']],
  [{ OPERATION_TIMEOUT_MS: '2000' }, []],
  [{ IDEMPOTENCY_TTL_SECONDS: '102' }, ['IDEMPOTENCY_TTL_SECONDS']],
  [{ IDEMPOTENCY_TTL_SECONDS: '103' }, []],
])('with %o the start says which settings do not do what they say: %o', (env, expected) => {
  expect(warned(env)).toEqual(expected);
  expect(warned(env, 'origin')).toEqual([]);
});

test('an origin that is started alone warns of its demo only', () => {
  expect(warned({ ...production, HOST: '0.0.0.0', DEMO: 'on' }, 'origin')).toEqual(['DEMO']);
  expect(warned({ HOST: '0.0.0.0' }, 'origin')).toEqual([]);
});

test('no warning has the token', () => {
  const config = readConfig({ ...production, ...upstream, ACCESS_TOKEN: 'demo-carol' });
  expect(startWarnings(config, 'facade').join('')).not.toContain('carol');
});

test.each([
  ['4', 'the capacity of 3 of 4 processes is gone'],
  ['auto', 'the capacity of all cores but one is gone'],
])('WORKERS=%s of an earlier release is warned of: %s', (WORKERS, lost) => {
  expect(() => readConfig({ WORKERS })).not.toThrow();
  for (const warnings of [withoutEffect({}, { WORKERS }), withoutEffect({ workers: WORKERS })])
    expect(warnings).toEqual([expect.stringMatching(new RegExp(`^WORKERS has no effect: .*${lost}. Run several`))]);
});

test.each(['', '1', '0', 'many'])('of WORKERS=%j nothing is lost, and nothing is said', (WORKERS) => {
  expect(withoutEffect({}, { WORKERS })).toEqual([]);
});

test.each(removedSettings)(
  '$name of an earlier release is told once, as a flag or a variable, and the start goes on',
  ({ name, env }) => {
    expect(settings).not.toHaveProperty(name);
    const value = '7';
    expect(() => readConfig({ [env]: value }, { [name]: value })).not.toThrow();
    for (const warnings of [withoutEffect({}, { [env]: value }), withoutEffect({ [name]: value }, {})])
      expect(warnings).toEqual([expect.stringMatching(new RegExp(`^${env} has no effect: .+\\. [A-Z].+\\.$`))]);
  },
);

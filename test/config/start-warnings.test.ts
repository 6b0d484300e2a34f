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
  [{ IDEMPOTENCY_TTL_SECONDS: '102' }, ['IDEMPOTENCY_TTL_SECONDS']],
  [{ IDEMPOTENCY_TTL_SECONDS: '103' }, []],
  [{ IDEMPOTENCY_TTL_SECONDS: '0' }, []],
])('with %o the start says whether a key may be forgotten before its write has ended: %o', (env, expected) => {
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

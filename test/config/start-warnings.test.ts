import { expect, test } from 'vitest';
import { readConfig } from '../../src/config/read.ts';
import { startWarnings } from '../../src/config/start-warnings.ts';

const upstream = { BASE_URL: 'http://a.example', EVENT_BASE_URL: 'http://a.example' };
const production = { NODE_ENV: 'production' };
const warned = (env: NodeJS.ProcessEnv, serves: 'facade' | 'origin' = 'facade') =>
  startWarnings(readConfig(env), serves).map((warning) => /^\w+/.exec(warning)![0]);

test.each([
  [{}, []],
  [production, []],
  [{ ...production, ...upstream, ACCESS_TOKEN: 'x', HOST: '0.0.0.0', TRUSTED_PROXIES: '10.0.0.0/8' }, []],
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
  [{ ...production, DEMO_TOKENS: 'on' }, ['DEMO_TOKENS']],
  [{ ...production, ...upstream, DEMO_TOKENS: 'on' }, []],
  [{ ...production, ...upstream, ACCESS_TOKEN: 'demo-app' }, ['ACCESS_TOKEN']],
  [{ ...upstream, ACCESS_TOKEN: 'demo-app' }, []],
])('with %o the start warns of %o', (env, expected) => {
  expect(warned(env)).toEqual(expected);
});

test('an origin that is started alone warns of its demo tokens only', () => {
  expect(warned({ ...production, HOST: '0.0.0.0', DEMO_TOKENS: 'on' }, 'origin')).toEqual(['DEMO_TOKENS']);
  expect(warned({ HOST: '0.0.0.0' }, 'origin')).toEqual([]);
});

test('no warning has the token', () => {
  const config = readConfig({ ...production, ...upstream, ACCESS_TOKEN: 'demo-carol' });
  expect(startWarnings(config, 'facade').join('')).not.toContain('carol');
});

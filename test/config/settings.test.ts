import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { entries, flagOf, settings } from '../../src/config/settings.ts';
import { settingsMarkdown } from '../../src/config/settings-page.ts';
import { ConfigError, readConfig, readOptions, withoutEffect } from '../../src/config/read.ts';
import { createAuthority, hasOpenssl } from '../support/certificates.ts';

function problems(env: NodeJS.ProcessEnv, flags = {}): readonly string[] {
  try {
    readConfig(env, flags);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

test('an empty environment results in the documented defaults, frozen', () => {
  const config = readConfig({});
  expect(config).toMatchObject({
    port: 4000,
    host: '127.0.0.1',
    originPort: 4001,
    dataDir: '.catalog',
    ownOrigin: true,
    accessToken: 'demo-app',
    filmTier: 'advance',
    maxUpstreamCalls: 250,
    maxDepth: 14,
    corsOrigins: ['http://localhost:*', 'http://127.0.0.1:*'],
    graphiql: true,
    introspection: true,
    recordTtlSeconds: undefined,
  });
  expect(Object.isFrozen(config)).toBe(true);
});

test('every wrong variable is reported at once, with its valid values and its own', () => {
  expect(
    problems({
      PORT: '70000',
      FILM_TIER: 'gold',
      BASE_URL: 'ftp://x',
      EVENT_BASE_URL: 'nonsense',
      MAX_DEPTH: '-1',
      HOST: '',
    }),
  ).toEqual([
    'PORT must be a whole number from 0 to 65535, not "70000"',
    'BASE_URL must be an http:// or https:// address without user, query or fragment, not "ftp://x"',
    'EVENT_BASE_URL must be an http:// or https:// address without user, query or fragment, not "nonsense"',
    'FILM_TIER must be one of basic, advance, premium, not "gold"',
    'MAX_DEPTH must be a whole number from 1 to 500, not "-1"',
  ]);
});

test.each([
  { ACCESS_TOKEN: 'sesame open' },
  { OTEL_EXPORTER_OTLP_HEADERS: 'api-key: sesame' },
  { REDIS_URL: 'http://:sesame@x' },
  { REDIS_URL: 'redis:/:sesame@x' },
  { REDIS_URL: 'redis:/x?password=sesame' },
  { MCP_URL: 'https://me:sesame@x' },
  { MCP_URL: 'https://me:at?sesame@x' },
  { MCP_URL: 'me:sesame@x' },
  { MCP_URL: 'https://x/#sesame' },
  { ACCESS_TOKEN: 'sesame', PORT: 'sesame' },
])('no message contains a secret: %j', (env) => {
  expect(problems(env)).toHaveLength(1);
  expect(problems(env).join()).not.toContain('sesame');
});

test('a refused value is shown in one short line', () => {
  expect(problems({ PORT: `1\n${'2'.repeat(1_000)}` })).toEqual([
    `PORT must be a whole number from 0 to 65535, not "1\\n${'2'.repeat(58)}…"`,
  ]);
  expect(() => readOptions({ baseUrl: 'http://a', eventBaseUrl: 'http://a', maxDepth: '14' })).toThrow(
    'maxDepth must be a whole number from 1 to 500, not "14"',
  );
});

test('numbers that are no settings follow those that are', () => {
  const given = { MAX_DOCUMENT_CHARACTERS: '1001', CALL_TIMEOUT_MS: '4000' };
  expect(readConfig(given)).toMatchObject({ maxTokens: 201, headersTimeoutMs: 2_000 });
  expect(readConfig({})).toMatchObject({ maxTokens: 4_000, headersTimeoutMs: 5_000 });
});

test.skipIf(!hasOpenssl)('certificates for Redis need an address of Redis with TLS', () => {
  const { ca: REDIS_CA } = createAuthority();
  const plain = { REDIS_CA, REDIS_URL: 'redis://a' };
  const problem = 'REDIS_URL must be an address with TLS (rediss), because REDIS_CA is set';
  expect(problems({ REDIS_CA })).toEqual([problem]);
  expect(problems(plain)).toEqual([problem]);
  expect(() => readConfig({ ...plain, IDEMPOTENCY_REDIS_URL: 'rediss+cluster://b' })).not.toThrow();
});

test.each(['redis:/x', 'redis:x', 'redis://', 'redis:///0', 'x:6379', 'http://x', 'redis://x:99999'])(
  'REDIS_URL must name a host: %s',
  (REDIS_URL) => {
    expect(problems({ REDIS_URL })).toEqual([
      expect.stringMatching(/^REDIS_URL must be a redis:\/\/ or rediss:\/\/ address, not /),
    ]);
  },
);

test.each([
  ['MAX_DEPHT', 'MAX_DEPTH'],
  ['MAXDEPTH', 'MAX_DEPTH'],
  ['max_depth', 'MAX_DEPTH'],
  ['EVENTS_BASE_URL', 'EVENT_BASE_URL'],
  ['REDIS_URI', 'REDIS_URL'],
  ['OPERATION_TIMEOUT', 'OPERATION_TIMEOUT_MS'],
  ['LOGLEVEL', 'LOG_LEVEL'],
  ['POTR', 'PORT'],
])('the variable %s is no setting; %s was meant', (given, meant) => {
  expect(withoutEffect({}, { [given]: '1', PORT: '0' })).toEqual([
    `${given} is not a setting and has no effect. Did you mean ${meant}?`,
  ]);
});

test.each(['Production', 'PRODUCTION', 'prod', 'production '])(
  'NODE_ENV=%j is not production, which was meant',
  (value) => {
    expect(withoutEffect({}, { NODE_ENV: value })).toEqual([
      `NODE_ENV=${value} is not a setting and has no effect. Did you mean NODE_ENV=production?`,
    ]);
    expect(readConfig({ NODE_ENV: value }).production).toBe(false);
  },
);

test.each(['production', 'development', 'test', '', undefined])('NODE_ENV=%j is no misspelling', (value) => {
  expect(withoutEffect({}, { NODE_ENV: value })).toEqual([]);
});

test('variables of the system and of other programs are not taken for misspelled settings', () => {
  const others =
    `PATH HOME HOSTNAME LANG USER LOGNAME SHELL TERM PWD TMPDIR NODE_ENV NODE_OPTIONS DATABASE_URL HTTP_PROXY
    http_proxy KUBERNETES_SERVICE_HOST KUBERNETES_PORT REDIS_PORT REDIS_SERVICE_HOST REDIS_HOST REDIS_DB OTEL_RESOURCE_ATTRIBUTES
    OTEL_EXPORTER_OTLP_PROTOCOL OTEL_EXPORTER_OTLP_TIMEOUT OTEL_SDK_DISABLED npm_config_cache DEBUG CI THOROUGH`.split(
      /\s+/,
    );
  const env = Object.fromEntries(
    [...others, ...entries().map(([, setting]) => setting.env)].map((name) => [name, '1']),
  );
  expect(withoutEffect({}, env)).toEqual([]);
});

test('an unknown option names the one that was meant', () => {
  const given = { baseUrl: 'http://a', eventBaseUrl: 'http://a', maxDephts: 3 };
  expect(() => readOptions(given)).toThrow('maxDephts is not an option. Did you mean maxDepth?');
});

test('one upstream URL without the other is reported', () => {
  expect(problems({ BASE_URL: 'http://a' })).toEqual(['EVENT_BASE_URL must be set too, because BASE_URL is']);
  expect(problems({ EVENT_BASE_URL: 'http://a' })).toEqual(['BASE_URL must be set too, because EVENT_BASE_URL is']);
  expect(problems({ EVENT_BASE_URL: 'http://a' }, { baseUrl: 'http://b' })).toEqual([]);
});

test('a BASE_URL that ends in /v2 is rejected, and the message has the right one', () => {
  const wrong = { BASE_URL: 'https://api.example/base/v2/', EVENT_BASE_URL: 'https://events.example/v2' };
  const right = 'must not end in /v2, which is appended to it: use https://api.example/base';
  expect(problems(wrong)).toEqual([`BASE_URL ${right}`]);
  const options = { baseUrl: wrong.BASE_URL, eventBaseUrl: wrong.EVENT_BASE_URL };
  expect(() => readOptions(options)).toThrow(`baseUrl ${right}`);
});

test('an upstream URL keeps its path and loses its trailing slash, and the demo credential is not sent to it', () => {
  const config = readConfig({ BASE_URL: 'https://api.example/base/', EVENT_BASE_URL: 'http://events.example' });
  expect(config).toMatchObject({
    baseUrl: 'https://api.example/base',
    eventBaseUrl: 'http://events.example',
    ownOrigin: false,
  });
  expect(config.accessToken).toBeUndefined();
  expect(config.filmTier).toBeUndefined();
});

test('upstream URLs with credentials or a query are rejected', () => {
  expect(problems({ BASE_URL: 'http://u:p@a', EVENT_BASE_URL: 'http://a/?x=1' })).toHaveLength(2);
});

test('production turns off GraphiQL, introspection, explain and the demo, and each can be turned on again', () => {
  const off = readConfig({ NODE_ENV: 'production' });
  expect(off).toMatchObject({
    graphiql: false,
    introspection: false,
    explain: false,
    demo: false,
  });
  expect(off.accessToken).toBeUndefined();
  const on = readConfig({ NODE_ENV: 'production', DEMO: '1', EXPLAIN: 'on' });
  expect(on).toMatchObject({ explain: true, demo: true, accessToken: 'demo-app', graphiql: false });
});

test('flags take precedence over the environment', () => {
  expect(readConfig({ PORT: '1' }, { port: '2' }).port).toBe(2);
  expect(problems({}, { port: 'x' })).toEqual(['PORT must be a whole number from 0 to 65535, not "x"']);
});

test.each([
  ...['capacitor://localhost', 'ionic://localhost', 'tauri://localhost', 'http://tauri.localhost', 'app://bundle'],
  ...['chrome-extension://mhjfbmdgcfjbbpaeojofohoefgiehjai', 'http://[::1]:3000', 'https://shop.example:*'],
])('CORS_ORIGINS may name %s', (origin) => {
  expect(readConfig({ CORS_ORIGINS: origin }).corsOrigins).toEqual([origin]);
});

test.each([
  ...['https://*.shop.example', 'https://shop.*', 'capacitor://*', 'https://*', 'http://*:3000'],
  ...['capacitor:', 'capacitor://', 'capacitor:localhost', 'capacitor://localhost/', 'capacitor://a@localhost'],
  ...['https://Shop.example', 'https://shop.example:443', 'wss://shop.example', 'file://', 'file://shop', '://a'],
])('CORS_ORIGINS may not name %s, which no page has', (origin) => {
  expect(problems({ CORS_ORIGINS: origin })).toHaveLength(1);
});

test('CORS origins are complete, without paths or wildcards', () => {
  expect(readConfig({ CORS_ORIGINS: 'https://a.example, http://localhost:3000' }).corsOrigins).toEqual([
    'https://a.example',
    'http://localhost:3000',
  ]);
  for (const wrong of ['*', 'https://a.example/', 'null', 'a.example'])
    expect(problems({ CORS_ORIGINS: wrong })).toHaveLength(1);
});

test('a setting has the same name as a variable, a flag and an option', () => {
  for (const [name] of entries()) {
    const camel = flagOf(name)
      .slice(2)
      .replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
    expect(camel).toBe(name);
  }
});

test('every setting is in docs under the heading of its group, the ten that matter first', () => {
  const groups = settingsMarkdown().split(/^## /m).slice(1);
  const names = groups.map((group) => [...group.matchAll(/^- `(\w+)`/gm)].map(([, name]) => name));
  expect(names[0]).toHaveLength(10);
  expect(groups[0]).toMatch(/^The ten that matter first\n/);
  expect(names.flat().toSorted()).toEqual(
    Object.values(settings)
      .map(({ env }) => env)
      .toSorted(),
  );
  // No group is torn apart, and none is without a heading.
  expect(groups).toHaveLength(new Set(Object.values(settings).map(({ group }) => group)).size);
});

test('an address in the page of settings is code without the bracket and the full stop that follow it', () => {
  const addresses = settingsMarkdown().match(/`https?:[^`]*`/g)!;
  expect(addresses).toContain('`https://apps.example/catalog`');
  expect(addresses.filter((each) => /[).]`$/.test(each))).toEqual([]);
});

test('each setting is read by the program, not only declared', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const code = files
    .filter((file) => file !== join('config', 'settings.ts'))
    .map((file) => readFileSync(join('src', file), 'utf8'))
    .join('\n');
  const unread = Object.keys(settings).filter((name) => !new RegExp(`\\b${name}\\b`).test(code));
  expect(Object.keys(settings).length).toBeGreaterThan(50);
  expect(unread).toEqual([]);
});

import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ConfigError, readConfig } from '../../src/config/read.ts';
import { settingsFormats } from '../../src/config/settings-formats.ts';
import { entries } from '../../src/config/settings.ts';

interface Validator {
  (value: unknown): boolean;
}
/** The validator that a development dependency brings. */
const require = createRequire(createRequire(import.meta.url).resolve('@modelcontextprotocol/sdk/types.js'));
const { default: Ajv } = require('ajv/dist/2020') as {
  default: new (options: object) => { compile: (schema: object) => Validator };
};
const schema = JSON.parse(settingsFormats['json-schema']()) as { properties: Record<string, Record<string, unknown>> };
const isValid = new Ajv({ strict: true, strictRequired: false, allowUnionTypes: true }).compile(schema);

test('the schema is valid, and has every setting with its description', () => {
  expect(Object.keys(schema.properties)).toEqual(entries().map(([, { env }]) => env));
  expect(isValid({})).toBe(true);
  expect(isValid({ PATH: '/bin' })).toBe(true);
  expect(schema.properties.MAX_DEPTH).toMatchObject({ default: '14', description: expect.stringContaining('nesting') });
  expect(schema.properties.ACCESS_TOKEN).toMatchObject({ writeOnly: true });
});

test.each([
  [{ PORT: 4000, MAX_DEPTH: '10', GRAPHIQL: 'Off', MCP: true, WORKERS: 'auto', REDIS_URL: 'rediss://h:1/2' }, true],
  [{ PORT: 70_000 }, false],
  [{ PORT: '4x' }, false],
  [{ GRAPHIQL: 'maybe' }, false],
  [{ LOG_LEVEL: 'loud' }, false],
  [{ BASE_URL: 'http://a', EVENT_BASE_URL: 'http://a' }, true],
  [{ BASE_URL: 'http://a' }, false],
  [{ ACCESS_TOKEN: 'a', ACCESS_TOKEN_FILE: 'b' }, false],
  [{ MAX_DEPTH: '' }, true],
])('the schema says of %o: %s', (env, expected) => {
  expect(isValid(env)).toBe(expected);
});

test('the schema refuses nothing that the start accepts', () => {
  const texts = fc.oneof(
    fc.string({ maxLength: 12 }),
    fc.integer({ min: 0, max: 1_000_000 }).map(String),
    fc.constantFrom(
      'on',
      'OFF',
      'Yes',
      '0',
      'auto',
      'info',
      'basic',
      'http://a',
      'HTTPS://b/c',
      'redis+cluster://a,b',
      'a=b',
    ),
  );
  const names = entries()
    .map(([, { env }]) => env)
    .filter((env) => !/_FILE$|_CA$|BASE_URL$/.test(env));
  let accepted = 0;
  fc.assert(
    fc.property(fc.constantFrom(...names), texts, (name, text) => {
      try {
        readConfig({ [name]: text });
      } catch (error) {
        if (error instanceof ConfigError) return;
        throw error;
      }
      accepted++;
      expect(isValid({ [name]: text })).toBe(true);
    }),
    { numRuns: 2_000 },
  );
  expect(accepted).toBeGreaterThan(200);
});

test('the file of variables has every setting as a comment; with all of them uncommented the start has its defaults', () => {
  const lines = settingsFormats.env().split('\n');
  const env = Object.fromEntries(
    lines.flatMap((line) => {
      const [, name, value] = /^# ([A-Z_]+)=(.*)$/.exec(line) ?? [];
      return name === undefined ? [] : [[name, value!]];
    }),
  );
  expect(Object.keys(env)).toEqual(entries().map(([, row]) => row.env));
  expect(lines.every((line) => line === '' || line.startsWith('#'))).toBe(true);
  expect(readConfig(env)).toEqual(readConfig({}));
  expect(env).toMatchObject({ PORT: '4000', COMPRESSION: 'on', MCP: 'off', REDIS_URL: '' });
});

test('the page of docs is printed from the same table', () => {
  const squeezed = (text: string) => text.replaceAll(/\s+/g, ' ');
  expect(squeezed(readFileSync('docs/settings.md', 'utf8'))).toContain(squeezed(settingsFormats.markdown()));
});

test('an address in the page of settings is code without the bracket and the full stop that follow it', () => {
  const addresses = settingsFormats.markdown().match(/`https?:[^`]*`/g)!;
  expect(addresses).toContain('`https://apps.example/catalog`');
  expect(addresses.filter((each) => /[).]`$/.test(each))).toEqual([]);
});

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { settings } from '../src/config/settings.ts';

const page = readFileSync(new URL('../SECURITY.md', import.meta.url), 'utf8');
const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');

test('every promise of SECURITY.md names an existing test and existing settings', () => {
  const promises = [...page.matchAll(/^\| .*\| `(test\/\S+)` "(.*)" *\|$/gm)];
  expect(promises.length).toBeGreaterThan(30);
  for (const [, path = '', name = ''] of promises) expect(read(path), path).toContain(name);
  const variables = new Set<string>(Object.values(settings).map(({ env }) => env));
  const named = [...page.matchAll(/\b[A-Z]+(?:_[A-Z]+)+\b/g)]
    .map(([name]) => name)
    .filter((name) => name !== 'NODE_ENV');
  expect(named.filter((name) => !variables.has(name))).toEqual([]);
});

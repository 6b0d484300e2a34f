import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { settings } from '../src/config/settings.ts';

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const page = read('SECURITY.md');
/** The tests of each promise: their titles by file. */
const promises = JSON.parse(read('test/promises.json')) as Record<string, Record<string, string[]>>;

test('every promise of SECURITY.md has tests, and each of these exists', () => {
  expect([...page.matchAll(/^- \*\*(.*)\.\*\*/gm)].map(([, lead]) => lead)).toEqual(Object.keys(promises));
  for (const files of Object.values(promises)) {
    expect(Object.values(files).flat().length).toBeGreaterThan(1);
    for (const [file, titles] of Object.entries(files))
      for (const title of titles) expect(read(file), file).toContain(title);
  }
});

test('SECURITY.md has at most 12 kB, twenty promises, and names only settings that exist', () => {
  expect(Buffer.byteLength(page)).toBeLessThanOrEqual(12_000);
  expect(Object.keys(promises).length).toBeLessThanOrEqual(20);
  const variables = new Set<string>(Object.values(settings).map(({ env }) => env));
  const named = [...page.matchAll(/\b[A-Z]+(?:_[A-Z]+)+\b/g)]
    .map(([name]) => name)
    .filter((name) => name !== 'NODE_ENV');
  expect(named.length).toBeGreaterThan(15);
  expect(named.filter((name) => !variables.has(name))).toEqual([]);
});

import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** A program of two files, with a copy of the build. */
const place = mkdtempSync(join(tmpdir(), 'catalog-'));
afterAll(() => rmSync(place, { recursive: true, force: true }));
const inPlace = (file: string) => join(place, file);
const made = inPlace('dist/tiny.js');

beforeAll(async () => {
  for (const file of ['build.mjs', 'package.json', 'tsconfig.json']) cpSync(file, inPlace(file));
  symlinkSync(resolve('node_modules'), inPlace('node_modules'));
  mkdirSync(inPlace('src'));
  writeFileSync(inPlace('src/tiny.ts'), `import { word } from './word.ts';\nconsole.log(word);\n`);
  writeFileSync(inPlace('src/word.ts'), `export const word: string = 'first';\n`);
});

/** Builds it as `npm start` does; tells what it says then, and whether it was made again. */
async function build() {
  await setTimeout(50); // what changes while it builds is not taken for built
  const before = statSync(made, { throwIfNoEntry: false })?.mtimeMs;
  await promisify(execFile)(process.execPath, ['build.mjs', 'src/tiny.ts'], { cwd: place });
  const { stdout } = await promisify(execFile)(process.execPath, [made]);
  return { says: stdout.trim(), isNew: statSync(made).mtimeMs !== before };
}

test('what is up to date is not made again', async () => {
  expect(await build()).toEqual({ says: 'first', isNew: true });
  expect(await build()).toEqual({ says: 'first', isNew: false });
});

test('a changed source is built, even when it is as old and as long as the one before', async () => {
  const word = inPlace('src/word.ts');
  const { atime, mtime } = statSync(word);
  writeFileSync(word, readFileSync(word, 'utf8').replace('first', 'other'));
  utimesSync(word, atime, mtime);
  expect(await build()).toEqual({ says: 'other', isNew: true });
  expect(await build()).toEqual({ says: 'other', isNew: false });
});

test('what was built and is gone, changed or cut off is made again', async () => {
  const record = inPlace('dist/tiny.built.json');
  const harms = [
    () => rmSync(made),
    () => writeFileSync(made, `console.log('odd')`),
    () => rmSync(record),
    () => writeFileSync(record, readFileSync(record, 'utf8').slice(0, -9)),
  ];
  for (const harm of harms) {
    harm();
    expect((await build()).says).toBe('other');
    expect((await build()).isNew).toBe(false);
  }
});

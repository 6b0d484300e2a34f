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
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

/** A program of two files, with a copy of the build script. */
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

/** One line on standard error; nothing where nothing is built. */
const BUILDING = /^building \(only after a change\): src\/tiny\.ts: \d+\.\d s\n$/;

/** Builds the program as `npm start` does; returns its output and whether it was rebuilt. */
async function build() {
  await setTimeout(50); // a change during a build must not count as built
  const before = statSync(made, { throwIfNoEntry: false })?.mtimeMs;
  const { stderr: told } = await promisify(execFile)(process.execPath, ['build.mjs', 'src/tiny.ts'], { cwd: place });
  const { stdout } = await promisify(execFile)(process.execPath, [made]);
  const isNew = statSync(made).mtimeMs !== before;
  expect(told).toMatch(isNew ? BUILDING : /^$/);
  return { says: stdout.trim(), isNew };
}

test('an up-to-date program is not rebuilt', async () => {
  expect(await build()).toEqual({ says: 'first', isNew: true });
  expect(await build()).toEqual({ says: 'first', isNew: false });
});

test('a program with a changed source is rebuilt, even if the size and mtime of the source are the same', async () => {
  const word = inPlace('src/word.ts');
  const { atime, mtime } = statSync(word);
  writeFileSync(word, readFileSync(word, 'utf8').replace('first', 'other'));
  utimesSync(word, atime, mtime);
  expect(await build()).toEqual({ says: 'other', isNew: true });
  expect(await build()).toEqual({ says: 'other', isNew: false });
});

test('a program is not rebuilt if a source was written again with the same content, as a checkout does', async () => {
  const word = inPlace('src/word.ts');
  writeFileSync(word, readFileSync(word));
  expect(await build()).toEqual({ says: 'other', isNew: false });
});

test('a program is rebuilt if its output or its record is missing, changed or truncated', async () => {
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

test('the package of front ends is not made again, unless a source has changed or a new one is there', async () => {
  const files = [
    'client',
    'generated',
    'src',
    'schema.graphql',
    'LICENSE',
    'build.mjs',
    'package.json',
    'tsconfig.json',
  ];
  const copy = mkdtempSync(join(tmpdir(), 'catalog-'));
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
  for (const file of files) cpSync(file, join(copy, file), { recursive: true });
  rmSync(join(copy, 'client/dist'), { recursive: true, force: true });
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'));
  mkdirSync(join(copy, 'dist'));
  const isMade = async () => {
    await setTimeout(50);
    const entry = join(copy, 'client/dist/errors.js');
    const before = statSync(entry, { throwIfNoEntry: false })?.ctimeMs;
    await promisify(execFile)(process.execPath, ['build.mjs', 'client'], { cwd: copy });
    return statSync(entry).ctimeMs !== before;
  };
  expect([await isMade(), await isMade()]).toEqual([true, false]);
  writeFileSync(join(copy, 'client/src/another.ts'), 'export const another = 1;\n');
  expect([await isMade(), await isMade()]).toEqual([true, false]);
  expect(statSync(join(copy, 'client/dist/another.cjs')).size).toBeGreaterThan(0);
  const changed = join(copy, 'client/src/errors.ts');
  writeFileSync(changed, `${readFileSync(changed, 'utf8')}\nexport const more = 1;\n`);
  expect([await isMade(), await isMade()]).toEqual([true, false]);
  rmSync(join(copy, 'client/dist/index.d.cts'));
  expect([await isMade(), await isMade()]).toEqual([true, false]);
});

test('the program starts with the flags of npm start', async () => {
  await build();
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { start: string } };
  const [first] = readFileSync(made, 'utf8').split('\n');
  expect(`${first} dist/main.js`).toBe(scripts.start.replace('exec ', '#!/usr/bin/env -S '));
});

/** What .ci/run says at its end, from the reports of its steps. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from './support/service.ts';

const steps = ['unit', 'browser', 'node24', 'processes24', 'package24', 'node26'];
const file = 'test/journey/pages.test.ts';
const entry = { file, test: 'a page', cause: 'a timer of the test', since: '2026-01-31' };

/** A report of vitest with ten tests, of which these fail. */
const report = (failed: readonly string[] = []) => ({
  numPassedTests: 10 - failed.length,
  testResults: failed.map((fullName) => ({
    name: join(process.cwd(), file),
    status: 'failed',
    assertionResults: [{ status: 'failed', fullName, failureMessages: ['expected 1 to be 2'] }],
  })),
});

/** The exit code and the lines of a run whose unit tests fail so, beside others and alone, if they were run again. */
function summary(
  failed: readonly string[],
  { alone, known = [] }: { alone?: readonly string[]; known?: object[] } = {},
) {
  const results = temporaryDirectory();
  const write = (name: string, content: object) => writeFileSync(join(results, name), JSON.stringify(content));
  for (const step of steps) write(`${step}.json`, report(step === 'unit' ? failed : []));
  if (failed.length > 0) write('unit.failed', {});
  if (alone) write('unit-alone.json', report(alone));
  if (alone?.length) write('unit-alone.failed', {});
  write('unstable', known);
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['.ci/summary.mjs', results, join(results, 'unstable')],
    {
      encoding: 'utf8',
    },
  );
  return { status, lines: stdout.trimEnd().split('\n'), stderr };
}

test('a run without failures says so in its only line', () => {
  expect(summary([])).toMatchObject({ status: 0, lines: ['60 passed, 0 failed'] });
});

test('a test that fails, and fails alone, fails the run', () => {
  const { status, lines } = summary(['a page'], { alone: ['a page'], known: [entry] });
  expect([status, lines.at(-1)]).toEqual([1, '59 passed, 1 failed']);
  expect(lines[0]).toBe(`== failed in unit: ${file}: a page: expected 1 to be 2`);
});

test('a known test that fails beside others and passes alone is counted apart, and the last line stays', () => {
  const { status, lines } = summary(['a page'], { alone: [], known: [entry] });
  expect([status, lines.at(-1)]).toEqual([0, '59 passed, 0 failed']);
  expect(lines.at(-2)).toMatch(/^== 1 unstable: /);
  expect(lines[0]).toBe(`== unstable in unit: ${file}: a page: expected 1 to be 2`);
});

test.each([
  ['not known', []],
  ['known of another file', [{ ...entry, file: 'test/journey/others.test.ts' }]],
  ['known by another name', [{ ...entry, test: 'another page' }]],
])('a test that passes alone and is %s fails the run', (_, known) => {
  const { status, lines } = summary(['a page'], { alone: [], known });
  expect([status, lines.at(-1)]).toEqual([1, '59 passed, 1 failed']);
});

test('of two that pass alone only the known one is counted apart', () => {
  const { status, lines } = summary(['a page', 'another page'], { alone: [], known: [entry] });
  expect([status, ...lines.slice(-2)]).toEqual([1, expect.stringMatching(/^== 1 unstable/), '58 passed, 1 failed']);
});

test.each([
  ['more than ten', Array.from({ length: 11 }, (_, at) => ({ ...entry, test: `page ${at}` })), 'at most 10'],
  ['one without a cause', [{ ...entry, cause: '' }], 'needs file, test, cause and since'],
  ['one without a date', [{ ...entry, since: 'yesterday' }], 'needs file, test, cause and since'],
])('%s in the file of unstable tests fails the run', (_, known, message) => {
  expect(summary([], { known })).toMatchObject({ status: 1, stderr: expect.stringContaining(message) as string });
});

test('the file of an unstable test is there', () => {
  const known = JSON.parse(readFileSync('.ci/unstable.json', 'utf8')) as (typeof entry)[];
  expect(known.filter((each) => !existsSync(each.file))).toEqual([]);
});

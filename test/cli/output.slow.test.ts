import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { made } from '../support/made.ts';
import { temporaryDirectory } from '../support/service.ts';

const program = `"${process.execPath}" ${await made('program')}`;

/** Runs a line of a shell. */
function shell(line: string) {
  const { status, stdout, stderr } = spawnSync('sh', ['-c', line], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, LOG_LEVEL: 'error' },
  });
  return { status, stdout, stderr };
}

const prices = join(temporaryDirectory(), 'prices.json');

test.skipIf(!existsSync('/dev/full')).each([
  ['manifest operations', 1],
  ['schema', 1],
  ['settings', 1],
  ['check operations', 2],
  [`check operations --prices ${prices} --update`, 2],
])('on a full disk %s fails with a sentence', (command, status) => {
  const lost = { status, stdout: '', stderr: 'The output cannot be written (ENOSPC).\n' };
  expect(shell(`${program} ${command} > /dev/full`)).toEqual(lost);
});

test('a reader that closes its pipe early is no failure', () => {
  expect(shell(`{ ${program} schema; echo $? >&2; } | head -n 1`)).toMatchObject({ status: 0, stderr: '0\n' });
});

test('- is the standard input', () => {
  const folder = temporaryDirectory();
  writeFileSync(join(folder, 'a.graphql'), 'query A { book(id: 1) { id } }');
  const { status, stdout } = shell(`${program} check - < ${folder}/a.graphql`);
  expect(status).toBe(0);
  expect(stdout).toMatch(/^ok +A {2}-:1$/m);
  expect(JSON.parse(shell(`cat ${folder}/a.graphql | ${program} manifest -`).stdout)).toEqual({
    [Object.keys(JSON.parse(shell(`${program} manifest ${folder}`).stdout) as object)[0]!]: expect.any(
      String,
    ) as string,
  });
});

test('names from files do not control the terminal', () => {
  const folder = temporaryDirectory();
  writeFileSync(join(folder, 'a.graphql'), '{ book(id: "\u001b[2K") { \u001b[32m } }');
  const { status, stdout } = shell(`${program} check ${folder}`);
  expect(status).toBe(1);
  expect(stdout).not.toContain('\u001b');
  writeFileSync(join(folder, 'old\u001b[31m.json'), '{}');
  const manifest = shell(`${program} check --manifest ${folder}/old*`);
  expect(manifest.stdout).toContain('\\u001b[31m');
  expect(manifest.stdout).not.toContain('\u001b');
});

/**
 * Tests the oracle: plants defects of one line, each in a copy of the sources. Each must be found within `--count` cases.
 *
 *     node test/oracle/planted.mjs [--only <word of a name>] [--count 10000] [--seed planted]
 *
 * A defect whose line has changed in the sources fails as well; update it here.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildOracle } from './build.mjs';
import { defects } from './defects.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

const given = new Map();
for (let at = 2; at < process.argv.length; at += 2)
  given.set(process.argv[at].replace(/^--/, ''), process.argv[at + 1]);
const count = given.get('count') ?? '10000';
/** A case over a Redis takes longer. */
const replicaCount = given.get('count') ?? '1000';
const seed = given.get('seed') ?? 'planted';

let missed = 0;
// Without a defect nothing may be found; otherwise every defect would seem to be found.
const clean = given.has('only') ? 'NOT FOUND' : await inCopy([], '1000');
if (!clean.startsWith('NOT FOUND')) {
  console.log(`Nothing planted: ${clean}`);
  process.exit(1);
}
for (const { name, edits, isOfReplicas } of defects.filter(({ name }) => name.includes(given.get('only') ?? ''))) {
  const verdict = await inCopy(edits, isOfReplicas ? replicaCount : count, isOfReplicas);
  if (!verdict.startsWith('found')) missed++;
  console.log(`${name}: ${verdict}`);
}
console.log(missed === 0 ? 'All were found.' : `${missed} were not found.`);
process.exit(missed === 0 ? 0 : 1);

async function inCopy(edits, count, isOfReplicas = false) {
  const place = mkdtempSync(join(tmpdir(), 'planted-'));
  try {
    return await found(place, edits, count, isOfReplicas);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

async function found(place, edits, count, isOfReplicas) {
  for (const name of [
    'src',
    'generated',
    'demo',
    'test/oracle',
    'test/support/one-value.ts',
    'test/support/open-server.ts',
    'schema.graphql',
    'package.json',
    'tsconfig.json',
    'facade.d.ts',
  ])
    cpSync(join(root, name), join(place, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(place, 'node_modules'));
  for (const [file, before, after] of edits) {
    const text = readFileSync(join(place, file), 'utf8');
    if (text.split(before).length !== 2) return `does not apply: ${file} has not one ${JSON.stringify(before)}`;
    writeFileSync(
      join(place, file),
      text.replace(before, () => after),
    );
  }
  await buildOracle(place);
  const shared = isOfReplicas ? ['--replicas', '3', '--redis', 'server'] : [];
  const command = ['dist/oracle.js', '--seed', seed, '--count', count, '--failures', '1', '--shrink', 'no', ...shared];
  try {
    execFileSync(process.execPath, command, { cwd: place, encoding: 'utf8', stdio: 'pipe' });
    return `NOT FOUND in ${count} cases`;
  } catch (error) {
    const [, kind = 'the run broke off', at = '?'] =
      /\n(.+)\n {2}--seed \S+ --case (\d+)/.exec(String(error.stdout)) ?? [];
    return at === '?' ? `the run broke off: ${error.stderr}` : `found in case ${at}, ${kind}`;
  }
}

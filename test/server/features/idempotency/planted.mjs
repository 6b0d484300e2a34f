/**
 * Tests the tests of keys: plants defects, each in a copy of the sources. The row of the campaign that is named, or the test file, must find
 * it. `node test/server/features/idempotency/planted.mjs [word]`
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defects } from './campaign/defects.mjs';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const skipped = new Set(['node_modules', '.git', 'dist', '.cache']);
let missed = 0;
for (const defect of defects.filter(({ name }) => name.includes(process.argv[2] ?? ''))) {
  const place = mkdtempSync(join(tmpdir(), 'planted-'));
  const verdict = verdictIn(place, defect);
  if (verdict !== 'found') missed++;
  console.log(`${defect.name}: ${verdict}`);
  rmSync(place, { recursive: true, force: true });
}
console.log(missed === 0 ? 'All were found.' : `${missed} were not found.`);
process.exit(missed === 0 ? 0 : 1);

function verdictIn(place, { row, group, file, writes = 120, edits }) {
  for (const each of readdirSync(root))
    if (!skipped.has(each))
      cpSync(join(root, each), join(place, each), {
        recursive: true,
        filter: (path) => !path.includes('node_modules'),
      });
  symlinkSync(join(root, 'node_modules'), join(place, 'node_modules'));
  for (const [path, before, after] of edits) {
    const text = readFileSync(join(place, path), 'utf8');
    if (text.split(before).length !== 2) return `does not apply: ${path} has not one ${JSON.stringify(before)}`;
    writeFileSync(
      join(place, path),
      text.replace(before, () => after),
    );
  }
  const { status, stdout, stderr } = spawnSync(
    'npx',
    ['vitest', 'run', `test/server/features/idempotency/${file ?? 'campaign'}.test.ts`],
    {
      cwd: place,
      encoding: 'utf8',
      timeout: 300_000,
      env: row ? { ...process.env, SETTLE_ROW: row, SETTLE_GROUP: group, SETTLE_WRITES: String(writes) } : process.env,
    },
  );
  // A row that does not run finds nothing.
  if (status === 0 && /Tests .*passed/.test(stdout)) return 'NOT FOUND';
  const isFound = /Tests .*failed/.test(stdout) && /AssertionError/.test(stdout + stderr);
  return isFound ? 'found' : `broke off: ${(stdout + stderr).slice(-1_000)}`;
}

/** Plants a defect of each kind in a copy of the sources: the tests of keys must find it. `node test/server/idempotency/planted.mjs [word]` */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const folder = 'src';
const keys = 'server/idempotency';
const defects = [
  ['a key is not scoped to its caller', `${keys}/key.ts`, '`key ${owner.length} ${owner}${key}`', '`key ${key}`'],
  ['a second request does not wait', `${keys}/store/memory-store.ts`, "if (isRunning) return { kind: 'busy' };", ''],
  [
    'a write is settled by what was there before',
    'engine/settle/new-items.ts',
    'items.filter((each) => !isKnown(each));',
    'items;',
  ],
  ['absence counts at once', `${keys}/keyed-write.ts`, 'if (leftMs > 0 || ', 'if ('],
  [
    'a write ends with its client',
    `${keys}/journal.ts`,
    'if (isOver || !keyed.isSent) return running;',
    'return running;',
  ],
  [
    'a changed record is written over',
    'engine/settle/record-rules.ts',
    'return isUnchanged ? absent : unknown;',
    'return absent;',
  ],
  [
    'a short page is the whole list',
    'engine/settle/new-items.ts',
    'total === undefined ? some.length === 0 :',
    'some.length < size ||',
  ],
];

const skipped = new Set(['node_modules', '.git', 'dist', '.cache']);
let missed = 0;
for (const [name, file, before, after] of defects.filter(([name]) => name.includes(process.argv[2] ?? ''))) {
  const place = mkdtempSync(join(tmpdir(), 'planted-'));
  for (const each of readdirSync(root))
    if (!skipped.has(each))
      cpSync(join(root, each), join(place, each), {
        recursive: true,
        filter: (path) => !path.includes('node_modules'),
      });
  if (existsSync(join(root, 'node_modules'))) symlinkSync(join(root, 'node_modules'), join(place, 'node_modules'));
  const path = join(place, folder, file);
  const text = readFileSync(path, 'utf8');
  const isPlanted = text.split(before).length === 2;
  writeFileSync(
    path,
    text.replace(before, () => after),
  );
  const { status, stdout } = spawnSync(
    'npx',
    ['vitest', 'run', ...['keys', 'settling', 'leaving'].map((name) => `test/server/idempotency/${name}.test.ts`)],
    { cwd: place, encoding: 'utf8' },
  );
  const isFound = isPlanted && status !== 0 && /Tests .*failed/.test(stdout);
  if (!isFound) missed++;
  console.log(`${name}: ${!isPlanted ? 'does not apply' : isFound ? 'found' : 'NOT FOUND'}`);
  rmSync(place, { recursive: true, force: true });
}
process.exit(missed === 0 ? 0 : 1);

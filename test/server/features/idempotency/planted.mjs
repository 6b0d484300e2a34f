/**
 * Tests the tests of keys: plants defects, each in a copy of the sources. The row of the campaign that is named, or the test file, must find
 * it. `node test/server/features/idempotency/planted.mjs [word]`
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const keys = 'src/server/features/idempotency';
const settling = 'src/engine/settle';
const shared = 'two facades';
const alone = 'in memory';
const absenceCounts = [`${keys}/keyed-write.ts`, 'leftMs > 0 || finding.kind', 'finding.kind'];

/** `row` and `group` are words of the campaign; without them `file` is run. */
const defects = [
  {
    name: 'what a lost write has created is not recognised',
    row: 'responses are lost',
    group: alone,
    writes: 100,
    edits: [
      [
        `${settling}/new-items.ts`,
        'if (found) return more.length === 0 ? there(found, String(found.id)) : unknown;',
        '',
      ],
    ],
  },
  {
    name: 'a write ends with its client, and what is absent then is sent again',
    row: 'lost patience',
    group: alone,
    edits: [
      absenceCounts,
      [
        'src/upstream/http/call-policy.ts',
        '{ ...this.context, cancellation: createCancellationToken(), mayBegin }',
        '{ ...this.context, mayBegin }',
      ],
    ],
  },
  { name: 'absence counts at once', row: 'after the end of the call', group: alone, edits: [absenceCounts] },
  {
    name: 'nothing is kept of a request whose client has left',
    row: 'leaves at a step',
    group: alone,
    edits: [
      [
        `${keys}/keyed-run.ts`,
        'await held.end(keptOf(journal, result));',
        "await held.end(cancellation.reason ? { kind: 'nothing' } : keptOf(journal, result));",
      ],
    ],
  },
  {
    name: 'writes of an operation are known by their order',
    row: 'several mutations',
    group: alone,
    edits: [
      [`${keys}/journal.ts`, 'counts.get(field)', "counts.get('')"],
      [`${keys}/journal.ts`, 'counts.set(field,', "counts.set('',"],
      [`${keys}/journal.ts`, 'const at = `${field} ${number}`;', 'const at = `${number}`;'],
      [`${keys}/journal.ts`, 'recorded.request !== request', 'false'],
    ],
  },
  {
    name: 'a short page is the whole list',
    row: 'hidden items',
    group: alone,
    edits: [[`${settling}/new-items.ts`, 'total === undefined ? some.length === 0 :', 'some.length < size ||']],
  },
  {
    name: 'a write is settled by what was there before',
    row: 'equal words',
    group: alone,
    edits: [[`${settling}/new-items.ts`, 'if (others.includes(String(item.id))) continue;', '']],
  },
  {
    name: 'a changed record is written over',
    row: 'changes the record',
    group: alone,
    edits: [
      [`${settling}/record-rules.ts`, 'return isUnchanged ? absent : unknown;', 'return absent;'],
      [
        `${settling}/record-rules.ts`,
        "if (stored === 'all' && isOurs(record, input)) return there(record);\n      return before?.state === stateOf(members(record)) ? absent : unknown;",
        "if (stored === 'all' && isOurs(record, input)) return there(record);\n      return absent;",
      ],
    ],
  },
  {
    name: 'an item that was deleted through the facade is made again',
    row: 'deletes the item through',
    group: alone,
    edits: [[`${keys}/keyed-write.ts`, 'since.some(({ id }) => id === undefined)', 'false']],
  },
  {
    name: 'a key belongs to a token',
    row: 'token is renewed',
    group: alone,
    edits: [[`${keys}/store/key-store.ts`, 'if (whose === undefined) return [own];', 'return [own];']],
  },
  {
    name: 'what a token claimed is lost when its person becomes known',
    row: 'becomes known',
    group: shared,
    edits: [
      [
        `${keys}/store/key-store.ts`,
        'return linked && [personOwner(whose), ...new Set([own, ...linked.map(credentialOwner)])];',
        'return linked && [personOwner(whose)];',
      ],
    ],
  },
  {
    name: 'the journal is kept at the end only, and its process may die before',
    row: 'responses are lost',
    group: shared,
    writes: 60,
    edits: [[`${keys}/store/key-run.ts`, "kind: 'journal', text: recorded, savedAt", "kind: 'journal', text, savedAt"]],
  },
  {
    name: 'the journal is kept at the end only, and its process may be paused before',
    row: 'after the end of the call',
    group: 'paused',
    edits: [[`${keys}/store/key-run.ts`, "kind: 'journal', text: recorded, savedAt", "kind: 'journal', text, savedAt"]],
  },
  {
    name: 'each worker has keys of its own',
    row: 'responses are lost',
    group: 'without Redis',
    edits: [
      [
        `${keys}/keyed-run.ts`,
        'return swapKeys ? createKeyStore(createRemoteEntries(ttlMs, swapKeys), ttlMs) : ',
        'return ',
      ],
    ],
  },
  {
    name: 'the times of writes are by the clock of each process',
    row: 'after the end of the call',
    group: 'clocks',
    edits: [
      [`${keys}/keyed-write.ts`, 'entry.endedAt = await this.parts.store.now();', 'entry.endedAt = Date.now();'],
      [`${keys}/keyed-write.ts`, 'const now = await store.now();', 'const now = Date.now();'],
    ],
  },
  {
    name: 'keys are in the cache that evicts',
    row: 'responses are lost',
    group: 'cache that evicts',
    writes: 60,
    edits: [
      [
        'src/upstream/redis/connection/key-redis.ts',
        'const { idempotencyRedisUrl: url } = settings;',
        'const { idempotencyRedisUrl: given } = settings;\n  const url = [given].find(() => false);',
      ],
    ],
  },
  {
    name: 'cached records fill a Redis that evicts nothing',
    row: 'responses are lost',
    group: 'filled by reads',
    edits: [['src/upstream/redis/connection/room.ts', 'if (left < characters) return false;', '']],
  },
  {
    name: 'a process does not answer for what it has written',
    row: 'asks again',
    group: 'one Redis that forgets',
    edits: [[`${keys}/store/remote-entries.ts`, 'if (own?.isOwn && (!found.entry || ', 'if (own?.isOwn && (']],
  },
  {
    name: 'the variables are hashed at each level of nesting',
    file: 'largest-bodies',
    edits: [[`${keys}/key.ts`, "waiting.push(']');", "hashOf(JSON.stringify(items));\n  waiting.push(']');"]],
  },
  {
    name: 'a key is not scoped to its caller',
    row: 'same key',
    group: alone,
    writes: 12,
    edits: [
      [`${keys}/store/names.ts`, 'nameOf(owner, `key ${owner.length} ${owner}${key}`)', "nameOf('', `key ${key}`)"],
    ],
  },
  {
    name: 'a second request does not wait',
    file: 'keys',
    edits: [
      [`${keys}/store/key-run.ts`, "if (key.ids.some((id) => running.has(id))) return { kind: 'busy' };", ''],
      [`${keys}/store/key-run.ts`, "if (placesIn(draft.get(id), now).length > 0) return { kind: 'busy' };", ''],
    ],
  },
];

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

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

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Each with its edits: file, text, replacement. */
const defects = [
  {
    name: 'plan: a page with an offset is served from the embedded first page',
    edits: [
      ['src/graph/engine/embedded.ts', 'return given.after == null && !given.offset;', 'return given.after == null;'],
    ],
  },
  {
    name: 'plan: more items than the embedded page holds are served from it',
    edits: [['src/graph/engine/embedded.ts', '(given.first ?? byDefault ?? 0) > hand.upTo', 'false']],
  },
  {
    name: 'plan: a selection under @skip is planned, and one without is not told from it',
    edits: [
      [
        'src/graph/engine/document.ts',
        'return skip?.if !== true && include?.if !== false;',
        'return include?.if !== false;',
      ],
    ],
  },
  {
    name: 'plan: a fragment on an interface is taken for one on another type',
    edits: [
      [
        'src/graph/engine/document.ts',
        'return isAbstractType(named) && schema.isSubType(named, type);',
        'return false;',
      ],
    ],
  },
  {
    name: 'loading: an absent record of a non-null item is null',
    edits: [['src/graph/engine/load-record.ts', '(loaded) => loaded ?? record)', '(loaded) => loaded)']],
  },
  {
    name: 'loading: a record that is absent is shown as if it were there',
    edits: [['src/upstream/loading/load.ts', 'state.isAbsent = true;', '']],
  },
  {
    name: 'loading: what was asked before a write answers for what is asked after it',
    edits: [['src/upstream/operation.ts', 'this.responses.clear();', '']],
  },
  {
    name: 'sharing: a write does not forget reads in flight',
    edits: [
      ['src/upstream/http/call.ts', "if (endpoint.method !== 'GET') this.parts.flights.forget(this.credential);", ''],
      ['src/upstream/client.ts', 'flights.forget();', ''],
    ],
  },
  {
    name: 'cache: a write clears nothing',
    edits: [
      ['src/upstream/operation.ts', 'await Promise.all(what.map(async (scope) => this.parts.invalidate(scope)));', ''],
    ],
  },
  {
    name: "cache: a person's own collection is kept with the book",
    edits: [['src/upstream/cache/record-cache.ts', '      redactViewerField(value);\n', '']],
  },
  {
    name: 'cache: what somebody with a token reads is kept for those without one',
    edits: [['src/upstream/cache/record-cache.ts', "(share === 'anonymous' && hasToken)", 'false']],
  },
  {
    name: 'executor: null in a place that may not be null brings down nothing above it',
    edits: [
      ['src/graph/engine/executor.ts', 'failed?.isNonNull; failed = failed.above', 'false; failed = failed?.above'],
    ],
  },
  {
    name: 'executor: a failed field of a list is put at the first item',
    edits: [
      [
        'src/graph/engine/executor.ts',
        '(holder as Source)[path.key] = complete(came, running, path);',
        '(holder as Source)[typeof path.key === "number" ? 0 : path.key] = complete(came, running, path);',
      ],
    ],
  },
  {
    name: 'fast path: an answer for everybody is shown to a person',
    edits: [
      [
        'src/server/graphql/fast-path.ts',
        'if (media === undefined || !isAnybody(who)) return false;',
        'if (media === undefined) return false;',
      ],
    ],
  },
  {
    name: 'fast path: kept answers outlive a write',
    edits: [['src/server/graphql/response-cache.ts', 'if (epoch() !== keptIn) {', 'if (false) {']],
  },
  {
    name: 'limits: an operation runs past what it may cost',
    edits: [['src/server/graphql/cost-limits.ts', 'if (calls.max > maxUpstreamCalls)', 'if (false)']],
  },
  {
    name: 'limits: a call that failed keeps its connection',
    edits: [
      [
        'src/upstream/http/attempts.ts',
        'settle(this.passage!, error, this.asker.ended !== undefined);\n    this.leave();',
        'settle(this.passage!, error, this.asker.ended !== undefined);',
      ],
    ],
  },
  {
    name: 'limits: the deadline of an operation stays when it has ended',
    edits: [['src/server/graphql/answer.ts', 'return () => clock.stop(ticking);', 'return () => undefined;']],
  },
  {
    name: 'sharing: a read in flight is kept when it has landed',
    edits: [
      [
        'src/upstream/http/in-flight.ts',
        'if (flights.get(this.key) === this && flights.delete(this.key)) count.flights--;',
        '',
      ],
    ],
  },
  {
    name: 'calls: a write is made again when its answer is lost',
    edits: [
      [
        'src/upstream/http/attempts.ts',
        "return this.request.method === 'GET' && this.attempts",
        'return this.attempts',
      ],
    ],
  },
  {
    name: 'pages: a feed begins one entry too early',
    edits: [['src/graph/types/connection.ts', "'start-index': start + 1", "'start-index': start"]],
  },
  {
    name: 'pages: the last page says that there is another',
    edits: [['src/graph/types/connection.ts', 'start + items.length < total', 'start + items.length <= total']],
  },
];

const given = new Map();
for (let at = 2; at < process.argv.length; at += 2)
  given.set(process.argv[at].replace(/^--/, ''), process.argv[at + 1]);
const count = given.get('count') ?? '10000';
const seed = given.get('seed') ?? 'planted';

let missed = 0;
// Without a defect nothing may be found; otherwise every defect would seem to be found.
const clean = await inCopy([], '1000');
if (!clean.startsWith('NOT FOUND')) {
  console.log(`Nothing planted: ${clean}`);
  process.exit(1);
}
for (const { name, edits } of defects.filter(({ name }) => name.includes(given.get('only') ?? ''))) {
  const verdict = await inCopy(edits, count);
  if (!verdict.startsWith('found')) missed++;
  console.log(`${name}: ${verdict}`);
}
console.log(missed === 0 ? 'All were found.' : `${missed} were not found.`);
process.exit(missed === 0 ? 0 : 1);

async function inCopy(edits, count) {
  const place = mkdtempSync(join(tmpdir(), 'planted-'));
  try {
    return await found(place, edits, count);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

async function found(place, edits, count) {
  for (const name of ['src', 'test/oracle', 'package.json', 'tsconfig.json', 'facade.d.ts'])
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
  const command = ['dist/oracle.js', '--seed', seed, '--count', count, '--failures', '1', '--shrink', 'no'];
  try {
    execFileSync(process.execPath, command, { cwd: place, encoding: 'utf8', stdio: 'pipe' });
    return `NOT FOUND in ${count} cases`;
  } catch (error) {
    const [, kind = 'the run broke off', at = '?'] =
      /\n(.+)\n {2}--seed \S+ --case (\d+)/.exec(String(error.stdout)) ?? [];
    return at === '?' ? `the run broke off: ${error.stderr}` : `found in case ${at}, ${kind}`;
  }
}

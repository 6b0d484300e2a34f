/**
 * Writes of all kinds under what happens in ordinary life: rows of campaign/rows.ts, in surroundings of campaign/surroundings.ts, from clients
 * that retry with their keys. `npm run settle` makes 2,000 writes and prints what came of them; SETTLE_ROW, SETTLE_GROUP: only rows and
 * surroundings with these words; SETTLE_SEED: other random choices.
 */
import { expect, test, vi } from 'vitest';
import { thorough } from '../../../support/optional.ts';
import { hasSentinel } from '../../../support/redis-process.ts';
import { hasRedis } from '../../../support/redis.ts';
import { service } from '../../../support/service.ts';
import { laneService } from './campaign/lanes.ts';
import { type Row, rows } from './campaign/rows.ts';
import { type Surroundings, runWrites } from './campaign/run-writes.ts';
import * as surroundings from './campaign/surroundings.ts';
import { type Outcome, isReview, tableOf } from './campaign/verdict.ts';

const given = process.env.SETTLE_WRITES;
const writes = Number(given ?? (thorough ? 120 : 26));
const { SETTLE_ROW: rowWord = '', SETTLE_GROUP: groupWord = '', SETTLE_SEED: seed = '' } = process.env;
const LANES = given === undefined ? 13 : 24;
if (given !== undefined) vi.setConfig({ testTimeout: 1_800_000 });

interface Group {
  name: string;
  open: (service: string) => Promise<Surroundings>;
  rows: readonly Row[];
  /** Of all writes. */
  share: number;
  /** The store of keys can always be reached. */
  isNeverRefused?: boolean;
  /** Rows of keys are removed: a retry may then write again, which docs/writes.md says. What must not happen is anything else. */
  forgets?: boolean;
  /** The Redis of keys is another one than before: what it has may be old. */
  restarts?: boolean;
  /** A process that is killed no longer knows whose tokens it has met. */
  forgetsPersons?: boolean;
}

const ofOne = rows.filter(({ needsTwo }) => !needsTwo);
const basic = rows.slice(0, 5);
const groups: readonly Group[] = [
  {
    name: 'two facades that are killed, over one Redis',
    open: surroundings.twoKilled,
    rows,
    share: 0.4,
    forgetsPersons: true,
  },
  { name: 'one facade, in memory', open: surroundings.oneInMemory, rows: ofOne, share: 0.2 },
  { name: 'a replica that is paused for longer than its lease', open: surroundings.paused, rows: basic, share: 0.07 },
  { name: 'clocks an hour apart', open: surroundings.clocksApart, rows: basic, share: 0.06 },
  {
    name: 'a cache that evicts beside a Redis of keys',
    open: surroundings.evictingCache,
    rows: basic,
    share: 0.08,
    restarts: true,
  },
  {
    name: 'one Redis that evicts nothing and is filled by reads',
    open: surroundings.filledByReads,
    rows: basic,
    share: 0.04,
    isNeverRefused: true,
  },
  {
    name: 'one Redis that is restored from a snapshot',
    open: surroundings.restored,
    rows: basic,
    share: 0.05,
    forgets: true,
  },
  ...(hasSentinel
    ? [
        {
          name: 'one Redis that is paused, and fails over',
          open: surroundings.failedOver,
          rows: basic,
          share: 0.05,
          restarts: true,
        },
      ]
    : []),
  { name: 'one Redis that forgets', open: surroundings.forgetfulRedis, rows: basic, share: 0.08, forgets: true },
];
/** Kinds that are found in a list of the person: items that the other lanes of the person make at this time may be the one. */
const LISTED = /createNote$|createAnnotation|createEvent/;

/** Why the outcome of a write may stay unknown, as docs/offline.md says; undefined if it is expected to be settled. */
function whyUnknown({ row, kind }: Outcome, { forgets, restarts, forgetsPersons }: Group): string | undefined {
  const { isApart, unknownAs } = rows.find(({ name }) => name === row)!;
  if (isReview({ kind })) return 'nothing reads reviews';
  if (isApart) return 'it cannot be told from another item, or from its absence';
  if (unknownAs !== undefined) return unknownAs;
  if (LISTED.test(kind)) return 'another new item of the person may be the one';
  if (forgetsPersons && kind.includes('createNoteComment'))
    return 'the process was killed, and does not know the person';
  return forgets || restarts ? 'Redis was emptied, restarted or replaced: the row may lack the write' : undefined;
}

/** A line for each reason. */
function unknownTable(outcomes: readonly Outcome[], group: Group): string {
  const counts: Record<string, number> = {};
  for (const each of outcomes)
    if (each.unknown > 0) {
      const why = whyUnknown(each, group) ?? `NOT NAMED: ${each.row}, ${each.kind}`;
      counts[why] = (counts[why] ?? 0) + each.unknown;
    }
  return Object.entries(counts)
    .map(([why, count]) => `unknown, because ${why}: ${count}`)
    .join('\n');
}

const isWhole = thorough || given !== undefined;
const selected = (isWhole ? groups : groups.slice(0, 1))
  .filter(({ name }) => name.includes(groupWord))
  .map((group) => ({ ...group, rows: group.rows.filter(({ name }) => name.includes(rowWord)) }))
  .filter(({ rows: left }) => left.length > 0);
const isPart = rowWord !== '' || groupWord !== '';
const all: Outcome[] = [];

/** A person may have so many writes of unknown outcome, so each batch has surroundings of its own. */
const BATCH = 240;
async function runBatch(group: Group, made: number): Promise<Outcome[]> {
  const origin = await service();
  const lanes = await laneService(origin.url);
  const around = await group.open(lanes.url);
  const outcomes = await runWrites(
    { name: group.name + seed, service: lanes, rows: group.rows, writes: made, lanes: LANES },
    around,
  );
  await around.close();
  return outcomes;
}

test.skipIf(!hasRedis).each(selected)(
  'with $name no write is doubled, lost or written over, and each response says what came of it',
  async (group) => {
    const many = !isPart ? Math.max(group.rows.length, Math.round(writes * group.share)) : writes;
    const outcomes: Outcome[] = [];
    for (let left = many; left > 0; left -= BATCH) outcomes.push(...(await runBatch(group, Math.min(BATCH, left))));
    all.push(...outcomes);
    if (given !== undefined) console.log(`${group.name}\n${tableOf(outcomes)}\n${unknownTable(outcomes, group)}`);
    const isApart = new Set(rows.filter((row) => row.isApart).map(({ name }) => name));
    const judged = outcomes.filter(({ row }) => !isApart.has(row));
    const again = ({ doubled, resent }: Outcome) => (group.forgets ? 0 : doubled + resent);
    expect(judged.filter((each) => again(each) + each.lost + each.overwritten + each.foreign > 0)).toEqual([]);
    const isToldOfEffect = ({ codes }: Outcome) => codes.every((code) => /_NOT_FOUND$|_EXISTS$/.test(code ?? ''));
    expect(judged.filter((each) => each.failed > 0 && !(group.forgets && isToldOfEffect(each)))).toEqual([]);
    const isStrange = (row: Row) => row.isStrange ?? (group.forgetsPersons && row.renews);
    const strange = new Set(rows.filter(isStrange).map(({ name }) => name));
    if (!group.forgets) expect(judged.filter(({ row, notKept }) => notKept > 0 && !strange.has(row))).toEqual([]);
    if (group.isNeverRefused) expect(judged.filter(({ refusals }) => refusals > 0)).toEqual([]);
    // On a machine that does other work, a read that must come before the write may fail.
    const isNamed = (each: Outcome) => given === undefined || whyUnknown(each, group) !== undefined;
    expect(judged.filter((each) => each.unknown > 0 && !isNamed(each))).toEqual([]);
    expect(outcomes).toHaveLength(many);
  },
);

test.skipIf(!hasRedis || given === undefined || isPart)(
  'nine of ten writes are settled by the first answer after the settle time',
  () => {
    console.log(tableOf(all));
    const unknown = new Set(
      rows.filter(({ isApart, unknownAs }) => isApart || unknownAs !== undefined).map(({ name }) => name),
    );
    const counted = all.filter((each) => !isReview(each) && !unknown.has(each.row));
    const sum = (of: (each: Outcome) => number) => counted.reduce((total, each) => total + of(each), 0);
    expect(sum(({ inTime }) => inTime) / sum(({ writes: made }) => made)).toBeGreaterThanOrEqual(0.9);
  },
);

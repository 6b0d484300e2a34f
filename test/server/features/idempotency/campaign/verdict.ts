/** What came of the writes of a row. */
import type { Pursued } from './client.ts';
import type { Intention } from './intentions.ts';

export interface Outcome {
  row: string;
  kind: string;
  writes: number;
  /** The codes that clients got at the end. */
  codes: (string | undefined)[];
  doubled: number;
  /** Sent after they were carried out, with the same key, whatever came of it. */
  resent: number;
  /** The service carried it out when nothing of it could come any more, so it may have been sent again. */
  overdue: number;
  lost: number;
  overwritten: number;
  /** Answered with another's. */
  foreign: number;
  /** By the first answer after the settle time. */
  inTime: number;
  unknown: number;
  /** Told that it is not known whose the key is, or what came of it. */
  notKept: number;
  /** Ended with another error. */
  failed: number;
  attempts: number;
  refusals: number;
}

const NOT_KEPT = 'IDEMPOTENCY_KEY_UNKNOWN';
/** Said where both persons are known, and right for a key that two of them use. */
const OF_ANOTHER = 'IDEMPOTENCY_KEY_REUSED';

const count = <T>(items: readonly T[], is: (item: T) => boolean): number => items.filter(is).length;

/** What the service has seen. */
interface Seen {
  reachedOf: () => number;
  times: Iterable<number>;
  isOfOneKey: boolean;
  isOverdue: boolean;
}

/** Of equal intentions, which are judged together, because their effects look the same. */
export async function judge(
  row: string,
  intentions: readonly Intention[],
  pursued: readonly Pursued[],
  { reachedOf, times, isOfOneKey, isOverdue }: Seen,
): Promise<Outcome> {
  const [first] = intentions;
  const seen = await first!.effects();
  const effects = Number.isNaN(seen) ? reachedOf() : seen;
  const settled = count(pursued, ({ code }) => code === undefined);
  const isNotKept = ({ code }: Pursued) => code === NOT_KEPT || (isOfOneKey && code === OF_ANOTHER);
  const notKept = count(pursued, isNotKept);
  const payloads = pursued.filter(({ code }) => code === undefined).map(({ data }) => JSON.stringify(data));
  const isShared = intentions.length > 1 && new Set(payloads).size < payloads.length;
  const isOverwritten = await first!.isOverwritten?.();
  return {
    row,
    kind: first!.kind,
    writes: intentions.length,
    codes: pursued.map(({ code }) => code),
    doubled: isOverdue ? 0 : Math.max(0, effects - intentions.length),
    resent: isOverdue ? 0 : [...times].reduce((sum, each) => sum + Math.max(0, each - intentions.length), 0),
    overdue: isOverdue ? 1 : 0,
    lost: Math.max(0, settled - effects),
    overwritten: isOverwritten ? 1 : 0,
    foreign: isShared ? 1 : count(pursued, ({ code, data }) => code === undefined && !first!.isOwn(data)),
    inTime: count(pursued, ({ isSettledInTime }) => isSettledInTime),
    unknown: count(pursued, ({ code }) => code === 'UPSTREAM_RESULT_UNKNOWN'),
    notKept,
    failed: count(
      pursued,
      (each) => each.code !== undefined && each.code !== 'UPSTREAM_RESULT_UNKNOWN' && !isNotKept(each),
    ),
    attempts: pursued.reduce((sum, { attempts }) => sum + attempts, 0),
    refusals: pursued.reduce((sum, { refusals }) => sum + refusals, 0),
  };
}

/** Nothing reads reviews, so they are counted apart. */
export const isReview = ({ kind }: Pick<Outcome, 'kind'>): boolean => kind.endsWith('Review');

const columns = [
  'writes',
  'doubled',
  'resent',
  'overdue',
  'lost',
  'overwritten',
  'foreign',
  'inTime',
  'unknown',
  'notKept',
  'failed',
] as const;

export function tableOf(outcomes: readonly Outcome[]): string {
  const groups = new Map<string, Outcome[]>();
  for (const outcome of outcomes) {
    const name = isReview(outcome) ? 'reviews, of all rows' : outcome.row;
    groups.set(name, [...(groups.get(name) ?? []), outcome]);
  }
  const lines = [...groups].map(([name, of]) => lineOf(name, of));
  return [
    ['row', ...columns].join(' | '),
    ...lines,
    lineOf(
      'all but reviews',
      outcomes.filter((each) => !isReview(each)),
    ),
  ].join('\n');
}

const lineOf = (name: string, outcomes: readonly Outcome[]): string =>
  [name, ...columns.map((column) => outcomes.reduce((sum, each) => sum + each[column], 0))].join(' | ');

/**
 * What has changed in a list that is ordered by time, page by page. The facade keeps nothing: `since` carries what the client has.
 *
 * A pass reads from the front to the items that were known before. If the length of the list then differs from what the client should have,
 * it goes on to the end, and what it has not met is gone. An item that is changed meanwhile moves to the front, behind the reader, so unless
 * the length of the list confirms what is gone, the front is read again before it is said. Where a change does not move an item, each pass
 * reads the whole list.
 */
import type { RecordSource } from '../../api/record-source.ts';
import { asText } from './decode.ts';
import { globalId } from './global-id.ts';
import { inZone } from './iso-time.ts';
import { changeTime, isNewestFirst } from './newest-first.ts';
import { FIRST_MAX, type Page, cursorOf, statedCount } from './paging.ts';

/** Changes of one second cannot be distinguished, and clocks differ: a time is settled when it is this old, by the clock of the facade. */
const SETTLED_MS = 60_000;

/** What the client has once it has applied the changes, and how far a pass has come. */
export interface Progress {
  /** The keys of its items; of a pass, those that it has met. */
  known: Set<string>;
  /** Those of its items that the pass has not met. */
  unmet: Set<string>;
  /** What changed before is known; '' at the beginning. */
  from: string;
  /** The `from` of the next pass: later than all that this one has met, and no later than `settled`. */
  next: string;
  /** What is later was not settled when the pass began. */
  settled: string;
  /** The cursor that the pass goes on from; '' at the front. */
  after: string;
  /** The length of the list when the pass began; null if the service does not tell it. */
  total: number | null;
  /** The pass has read the whole list, and reads the front once more. */
  isAgain: boolean;
  /** The list counts items that it does not show, so its length does not tell whether one is gone. */
  hasGaps: boolean;
}

/** What a field shows: the page that it is made of, without the items that the client has. */
export interface ListChanges<Item> extends Page<Item> {
  removedIds: readonly string[];
  progress: Progress;
  hasMore: boolean;
}

/** The changes in a page of records of this type. The given progress is used up. */
export function changesOf<Item extends object>(
  page: Page<Item>,
  given: Progress,
  type: string,
  { keyOf = (item: { id?: unknown }) => asText(item.id) || null }: Pick<RecordSource, 'keyOf'>,
): ListChanges<Item> {
  const { start, total, envelope } = page;
  const order = page.newestFirst!;
  const isFirst = given.after === '' && !given.isAgain;
  const pass = isFirst ? begun(given, total) : given;
  const { known, unmet, isAgain } = pass;
  const length = page.items.length;
  pass.hasGaps ||= length < Math.min(statedCount(envelope, FIRST_MAX), FIRST_MAX, (total ?? 0) - start);
  const items: Item[] = [];
  const from = isAgain ? pass.next : pass.from;
  let isAtKnown = false;
  for (const item of page.items) {
    const key = item && keyOf(item as never);
    if (item === null || key === null) continue;
    const time = changeTime(item, order);
    // A time to come is that of a wrong clock, and hides no change.
    if (time !== undefined && time >= pass.next) pass.next = time < pass.settled ? secondAfter(time) : pass.settled;
    const isOlder = time !== undefined && time < from;
    isAtKnown ||= isOlder && order.changed === undefined && isNewestFirst(page.items, order);
    const isKnown = unmet.delete(key) || known.has(key);
    known.add(key);
    if (!isOlder || !isKnown) items.push(item);
  }
  const goOn = (next: Partial<Progress>) => ({
    ...page,
    items,
    removedIds: [],
    progress: { ...pass, ...next },
    hasMore: true,
  });
  // Of a page that shows nothing, all items may be hidden.
  const end = length > 0 ? page.end : Math.max(page.end, start + FIRST_MAX);
  const isLast = !page.hasNext && (length > 0 || end >= (total ?? 0));
  const isWhole = isLast && !isAgain;
  const isFront = isAtKnown && !isWhole && !isAgain && !pass.hasGaps && known.size + unmet.size === total;
  if (!isLast && !isFront && !(isAgain && isAtKnown)) return goOn({ after: cursorOf({ ...page, end }, length - 1) });
  const isSure = isFirst || order.changed !== undefined || (known.size === total && pass.total === total);
  if (isWhole && !isSure && unmet.size > 0) return goOn({ after: '', isAgain: true });
  const removedIds = isFront ? [] : [...unmet].map((key) => globalId(type, key));
  if (isFront) for (const key of unmet) known.add(key);
  const progress = { ...nothingKnown(), known, from: pass.next, hasGaps: known.size !== total };
  return { ...page, items, removedIds, progress, hasMore: false };
}

export const nothingKnown = (): Progress => ({
  known: new Set(),
  unmet: new Set(),
  from: '',
  next: '',
  settled: '',
  after: '',
  total: null,
  isAgain: false,
  hasGaps: false,
});

const begun = ({ known, from, hasGaps }: Progress, total: number | null): Progress => {
  const settled = inZone(new Date(Date.now() - SETTLED_MS).toISOString());
  return { ...nothingKnown(), unmet: known, from, settled, total, hasGaps };
};

/** The next second after a time without a zone. */
const secondAfter = (time: string): string => new Date(Date.parse(`${time}Z`) + 1_000).toISOString().slice(0, 19);

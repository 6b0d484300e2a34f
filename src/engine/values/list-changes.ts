/**
 * What has changed in a list that is ordered by time, page by page. The facade keeps nothing: `since` carries what the client has.
 *
 * A pass reads from the front to the items that were known before. If the length of the list then differs from what the client should have,
 * it goes on to the end, and what it has not met is gone. An item that is changed meanwhile moves to the front, behind the reader, so unless
 * the length of the list confirms what is gone, the front is read again before it is said. Where a change does not move an item, each pass
 * reads the whole list.
 */
import { inZone } from './iso-time.ts';
import { type Anchor, type NewestFirst, anchorAt, changeTime, itemKey, passedItems } from './newest-first.ts';
import { FIRST_MAX, type Page } from './paging.ts';

/** Changes of one second cannot be told apart, and clocks differ: a time is settled when it is this old, by the clock of the facade. */
const SETTLED_MS = 60_000;

/** A pass that paused for longer is of a sync that was cut, so another one follows. A slow client or service pauses for less. */
const PAUSE_MS = 60_000;

/** A pass that has not ended. */
export interface Pass {
  /** `front`: up to what was known. `whole`: to the end of the list. `again`: the front once more, before items are said to be gone. */
  part: 'front' | 'whole' | 'again';
  /** Items from this time on are told; all if it is null. */
  from: string | null;
  /** The `from` of the next pass. */
  next: string | null;
  /** The length of the list changed between two of its pages. */
  isDisturbed: boolean;
  /** When its first and its last page were read, in milliseconds; `readAt` is 0 once it has paused. */
  begunAt: number;
  readAt: number;
  /** Known items that it has not met. */
  unmet: Set<string>;
  /** The last item that was read, if one has a time. */
  behind: Anchor | null;
  /** The last position that was read; -1 at the front. */
  position: number;
}

/** What the client has once it has applied the changes. */
export interface Progress {
  known: Set<string>;
  /** What changed before is known; null at the beginning. */
  from: string | null;
  /** The list counts items that it does not show, so its length does not tell whether one is gone. */
  hasGaps: boolean;
  pass: Pass | null;
}

/** A page of the list as it was read. */
export interface ReadPage {
  items: readonly unknown[];
  /** The position of the next page. */
  end: number;
  total: number | null;
  isLast: boolean;
  /** It shows less than there is in its places. */
  hasGap: boolean;
  /** What it was read after. */
  behind: Anchor | undefined;
}

export interface ListChanges<Item> {
  changed: readonly Item[];
  /** The keys of items that are gone. */
  removed: readonly string[];
  progress: Progress;
  /** Whether there may be more now. */
  hasMore: boolean;
}

/** What a field shows: the page that it is made of, without the items that the client has. */
export interface ToldChanges<Item> extends Page<Item> {
  removedIds: readonly string[];
  since: string;
  hasMore: boolean;
}

/** The order of the list, and the key of an item, null if it cannot be shown. */
export interface ReadList<Item> {
  order: NewestFirst;
  keyOf: (item: Item) => string | null;
}

/** The changes in a page. The given progress is used up. */
export function changesIn<Item>(page: ReadPage, given: Progress, list: ReadList<Item>): ListChanges<Item> {
  const { known, from } = given;
  const hasGaps = given.hasGaps || page.hasGap;
  const pass = given.pass ?? { ...newPass, from, unmet: new Set(known) };
  const isPaused = pass.position >= 0 && Math.abs(Date.now() - pass.readAt) > PAUSE_MS;
  pass.next = nextFrom(pass, page.items, list.order);
  const { changed, isAtKnown } = met(page, pass, known, list);
  const isAgain = pass.part === 'again';
  const isWhole = page.isLast && !isAgain;
  const isFront = !isWhole && !hasGaps && known.size === page.total && pass.part === 'front' && isAtKnown;
  const isEnd = isWhole || isFront || (isAgain && (isAtKnown || page.isLast));
  const isSure = pass.position < 0 || (!pass.isDisturbed && known.size - pass.unmet.size === page.total);
  if (isWhole && !isSure && pass.unmet.size > 0 && !list.order.changed) {
    const again: Pass = { ...newPass, part: 'again', from: pass.next, unmet: pass.unmet };
    return { changed, removed: [], progress: { known, from, hasGaps, pass: again }, hasMore: true };
  }
  if (isEnd) {
    const removed = isFront ? [] : [...pass.unmet];
    for (const key of removed) known.delete(key);
    // What was removed after it had been met is found by the next pass.
    const isLong = isAgain && known.size > (page.total ?? Infinity);
    const progress = { known, from: pass.next, hasGaps: known.size !== page.total, pass: null };
    return { changed, removed, progress, hasMore: isPaused || isLong };
  }
  const last = page.items.findLastIndex((item) => itemKey(item, list.order));
  const next: Pass = {
    ...pass,
    part: pass.part === 'front' && isAtKnown ? 'whole' : pass.part,
    readAt: isPaused ? 0 : Date.now(),
    behind:
      anchorAt(page.items, last, list.order, page.total) ?? (pass.behind && { ...pass.behind, total: page.total }),
    position: page.end - 1,
  };
  return { changed, removed: [], progress: { known, from, hasGaps, pass: next }, hasMore: true };
}

/** The page that goes on from there. */
export const windowAfter = ({ pass }: Progress) => ({
  first: FIRST_MAX,
  start: (pass?.position ?? -1) + 1,
  behind: pass?.behind ?? undefined,
});

const newPass: Omit<Pass, 'from' | 'unmet'> = {
  ...{ part: 'front', next: null, isDisturbed: false, begunAt: 0, readAt: 0, behind: null, position: -1 },
};

/** Takes note of the items of a page: which are to be told, and whether it has reached what was known. */
function met<Item>(page: ReadPage, pass: Pass, known: Set<string>, { order, keyOf }: ReadList<Item>) {
  const { items, total, behind } = page;
  const passed = behind ? passedItems(items, order, behind) : 0;
  pass.isDisturbed ||= pass.behind !== null && total !== pass.behind.total;
  const changed: Item[] = [];
  let isAtKnown = false;
  for (const item of items.slice(passed) as readonly Item[]) {
    const time = changeTime(item, order);
    const isOlder = time !== undefined && pass.from !== null && time < pass.from;
    isAtKnown ||= isOlder && !order.changed;
    const key = keyOf(item);
    if (key === null) continue;
    pass.unmet.delete(key);
    if (isOlder && known.has(key)) continue;
    changed.push(item);
    known.add(key);
  }
  return { changed, isAtKnown };
}

/**
 * Items from this time on are told by the next pass: what is later than all that this one shows, and what was not settled when it began.
 * A time to come is that of a wrong clock, and hides no change.
 */
function nextFrom(pass: Pass, items: readonly unknown[], order: NewestFirst): string | null {
  if (pass.position < 0) pass.begunAt = Date.now();
  const settled = inZone(new Date(pass.begunAt - SETTLED_MS).toISOString());
  let { next } = pass;
  for (const item of items) {
    const time = changeTime(item, order);
    if (time !== undefined && (next === null || time >= next)) next = time < settled ? secondAfter(time) : settled;
  }
  return next;
}

/** The next second after a time without a zone. */
const secondAfter = (time: string): string => new Date(Date.parse(`${time}Z`) + 1_000).toISOString().slice(0, 19);

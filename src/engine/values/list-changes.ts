/**
 * What has changed in a list that is ordered by time, page by page. The facade keeps nothing: `since` carries what the client has.
 *
 * A pass reads from the front to the items that were known before. If the length of the list then differs from what the client should have,
 * it goes on to the end, and what it has not met is gone. An item that is changed meanwhile moves to the front, behind the reader, so a pass
 * that was disturbed is followed by another of the front, before anything is said to be gone. Where a change does not move an item, each
 * pass reads the whole list.
 */
import { LOCAL_ZONE } from './iso-time.ts';
import { type Anchor, type ItemKey, type NewestFirst, changeTime, itemKey, passedItems } from './newest-first.ts';
import { FIRST_MAX, type Page } from './paging.ts';

/** Changes of one second cannot be told apart, so a second is read again until it is this old, by the clock of the facade. */
const SETTLED_MS = 60_000;

/** A pass that paused for longer may have missed changes behind it, so the front is read once more. */
const PAUSE_MS = 2_000;

/** A pass that has not ended. */
export interface Pass {
  /** `front`: up to what was known. `whole`: to the end of the list. `again`: the front once more, before items are said to be gone. */
  part: 'front' | 'whole' | 'again';
  /** Items from this time on are told; all if it is null. */
  from: string | null;
  /** The `from` of the next pass. */
  next: string | null;
  /** The list changed, or may have, between two of its pages. */
  isDisturbed: boolean;
  /** When its first and its last page were read, in milliseconds. */
  begunAt: number;
  readAt: number;
  /** Known items that it has not met. */
  unmet: Set<string>;
  /** The last item that was read, and its position; null at the front. */
  behind: Anchor | null;
  position: number;
}

/** What the client has once it has applied the changes. */
export interface Progress {
  known: Set<string>;
  /** What changed before is known; null at the beginning. */
  from: string | null;
  pass: Pass | null;
}

/** A page of the list as it was read. */
export interface ReadPage {
  items: readonly unknown[];
  start: number;
  total: number | null;
  isLast: boolean;
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
  const pass = given.pass ?? { ...newPass, from, unmet: new Set(known) };
  pass.next = nextFrom(pass, page.items, list.order);
  const { changed, isAtKnown } = met(page, pass, known, list);
  const isWhole = page.isLast && pass.part !== 'again';
  const isFront = !isWhole && known.size === page.total && pass.part === 'front' && isAtKnown;
  const isEnd = isWhole || isFront || (pass.part === 'again' && (isAtKnown || page.isLast));
  if (isEnd && !isFront && pass.isDisturbed && pass.unmet.size > 0 && !list.order.changed) {
    const again: Pass = { ...newPass, part: 'again', from: pass.next, unmet: pass.unmet };
    return { changed, removed: [], progress: { known, from, pass: again }, hasMore: true };
  }
  if (isEnd) {
    const removed = isFront ? [] : [...pass.unmet];
    for (const key of removed) known.delete(key);
    // What was removed after it had been met is found by the next pass.
    const isShort = pass.part === 'again' && known.size !== page.total;
    return { changed, removed, progress: { known, from: pass.next, pass: null }, hasMore: pass.isDisturbed || isShort };
  }
  const behind = lastKey(page.items, list.order) ?? pass.behind;
  // Items without a time cannot be read on from.
  if (!behind) return { changed, removed: [], progress: { known, from, pass: null }, hasMore: false };
  const next: Pass = {
    ...pass,
    part: pass.part === 'front' && isAtKnown ? 'whole' : pass.part,
    readAt: Date.now(),
    behind: { time: behind.time, id: behind.id, total: page.total },
    position: page.start + page.items.length - 1,
  };
  return { changed, removed: [], progress: { known, from, pass: next }, hasMore: true };
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
  const { items, total, start, behind } = page;
  const passed = behind ? passedItems(items, order, behind) : 0;
  if (pass.behind)
    pass.isDisturbed ||=
      passed > 0 ||
      total !== pass.behind.total ||
      start !== pass.position + 1 ||
      Math.abs(Date.now() - pass.readAt) > PAUSE_MS;
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
 * Items from this time on are told by the next pass. What is changed during this one, after its page was read, has a later time than all
 * that its first page shows, and than all that was over when it began.
 */
function nextFrom(pass: Pass, items: readonly unknown[], order: NewestFirst): string | null {
  if (!pass.behind) pass.begunAt = Date.now();
  let next = pass.next ?? pass.from;
  for (const item of items) {
    const time = changeTime(item, order);
    if (time === undefined) continue;
    const isSettled = pass.begunAt - Date.parse(time + LOCAL_ZONE) > SETTLED_MS;
    const from = isSettled ? secondAfter(time) : time;
    if ((isSettled || !pass.behind) && (next === null || from > next)) next = from;
  }
  return next;
}

/** The next second after a time without a zone. */
const secondAfter = (time: string): string => new Date(Date.parse(`${time}Z`) + 1_000).toISOString().slice(0, 19);

function lastKey(items: readonly unknown[], order: NewestFirst): ItemKey | undefined {
  for (let at = items.length - 1; at >= 0; at--) {
    const key = itemKey(items[at], order);
    if (key) return key;
  }
  return undefined;
}

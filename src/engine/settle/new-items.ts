/** Finds what a write added to a list: what was not in it before. */
import { setImmediate } from 'node:timers/promises';
import type { ReadBack, LostWrite, ReadRecord, Reading, Snapshot, WriteRule } from '../../upstream/write-guard.ts';
import { absent, there, unknown } from './record-rules.ts';

/** The list that shows what a write creates. */
export interface ListOf<In, Item> {
  /** The page at a position; null if there is no such list. */
  readonly load: (read: ReadRecord, input: In, person: string, start: number) => Promise<PageOf<Item> | null>;
  /** Items that a page asks for. */
  readonly size: number;
  /** The most pages that are read. */
  readonly pages: number;
  /** `timeOf`: new items come first, as far as the times show, perhaps with old ones that were changed; `oldest`: they come last. */
  readonly order: { timeOf: (item: Item) => string | undefined } | 'oldest' | 'other';
  /** The item is as the input asks for. */
  readonly isOurs: (item: Item, input: In, person: string) => boolean;
  /** The item is certainly another person's. */
  readonly isOthers?: (item: Item, person: string) => boolean;
}

interface PageOf<Item> {
  items: readonly Item[];
  /** How many the list has, those that are left out included. */
  total: number | undefined;
  /** Where it begins, as the service says. */
  start?: number | undefined;
}

interface Identified {
  id: string | number;
}

/** The rule of a write that creates what this list shows. */
export const creationRule = <In, Item extends Identified>(
  list: ListOf<In, Item>,
  rule: Pick<WriteRule<In>, 'lookAt' | 'reads'>,
): WriteRule<In> => ({
  ...rule,
  creates: true,
  before: (input, reading) => readBefore(list, input, reading),
  find: (input, write) => findNew(list, input, write),
});

/** How many items at the end of a long list are read before a write, if new items come last. */
const LAST_ITEMS = 20;

async function readBefore<In, Item extends Identified>(
  list: ListOf<In, Item>,
  input: In,
  { read, person }: Reading,
): Promise<Snapshot | undefined> {
  if (person === undefined) return undefined;
  let pages = await readPages(list, input, { read, person, start: 0 });
  let start = 0;
  if (pages && !pages.isWhole && list.order === 'oldest' && pages.total !== undefined) {
    start = Math.max(0, pages.total - LAST_ITEMS);
    pages = await readPages(list, input, { read, person, start });
  }
  return pages && { ids: pages.items.map(({ id }) => String(id)), isWhole: pages.isWhole, start, person };
}

/**
 * The pages from a position on. They are all of the list only if they have reached its total, or an empty page at its end: a page shorter
 * than asked for shows nothing, because the service leaves out what is hidden, and has limits of its own.
 */
async function readPages<In, Item extends Identified>(
  { load, size, pages, order }: ListOf<In, Item>,
  input: In,
  { read, person, start }: Pick<Reading, 'read'> & { person: string; start: number },
) {
  const found = new Map<string, Item>();
  let at = start;
  let total: number | undefined;
  // New items that come first need one page alone.
  for (let left = typeof order === 'object' ? 1 : pages; left > 0; left--) {
    const page = await load(read, input, person, at);
    // An item that cannot be read may be the new one.
    if (!page?.items.every((item) => ['string', 'number'].includes(typeof (item as Item | null)?.id))) return undefined;
    const { items: some } = page;
    total = page.total;
    for (const item of some) found.set(String(item.id), item);
    at += some.length;
    // Of a service that says an earlier position, a page without items is not the requested one.
    const isEmpty = some.length === 0 && (page.start ?? at) >= at;
    const isEnd = total === undefined ? isEmpty : at >= total || (isEmpty && at + size >= total);
    if (isEnd) return { items: [...found.values()], isWhole: true, total };
    if (some.length === 0) break;
  }
  return { items: [...found.values()], isWhole: false, total };
}

/**
 * There if exactly one new item is as the input asks for; absent only if the caller has added none, because the service may write the content
 * in other words.
 */
async function findNew<In, Item extends Identified>(
  list: ListOf<In, Item>,
  input: In,
  { read, before }: LostWrite,
): Promise<ReadBack> {
  if (before?.person === undefined) return unknown;
  const { person, start = 0 } = before;
  const now = await readPages(list, input, { read, person, start });
  const added = now && newOf(list, now, before);
  if (!added) return unknown;
  const ours: Item[] = [];
  for (const item of added) {
    await setImmediate(); // texts are long
    if (list.isOurs(item, input, person)) ours.push(item);
  }
  const [found, ...more] = ours;
  if (found) return more.length === 0 ? there(found, String(found.id)) : unknown;
  return added.every((item) => list.isOthers?.(item, person)) ? absent : unknown;
}

/** What is in the list now and was not before; undefined if that is not known. */
function newOf<Item extends Identified>(
  { order, size }: Pick<ListOf<never, Item>, 'order' | 'size'>,
  { items, isWhole }: { items: readonly Item[]; isWhole: boolean },
  { ids = [], isWhole: wasWhole = false, start = 0 }: Snapshot,
): readonly Item[] | undefined {
  const known = new Set(ids);
  const isNew = ({ id }: Item) => !known.has(String(id));
  const last = items.findLastIndex((item) => !isNew(item));
  if (typeof order === 'object') {
    const times = items.flatMap((item) => order.timeOf(item) ?? []);
    if (!wasWhole && times.some((time, at) => at > 0 && time > times[at - 1]!)) return undefined;
    // A full page of new ones may have moved this one to the next page.
    if (last < 0 && (!wasWhole || (!isWhole && items.length >= size))) return undefined;
    // Known items that were changed since may come before a new one. What follows the last of them in a list with more pages was cut off
    // before, or has moved there.
    return (wasWhole ? items : items.slice(0, last)).filter(isNew);
  }
  if (!wasWhole || !isWhole) return undefined;
  // Deletions move later items to positions before the first that is read: without a known one, new ones may be among them.
  return start > 0 && last < 0 ? undefined : items.filter(isNew);
}

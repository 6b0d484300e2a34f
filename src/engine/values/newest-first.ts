/**
 * Cursors of lists that are ordered by time, newest first: they name an entry by time and id, and where it was.
 *
 * What is new or changed comes in front, so a list that lost `lost` entries lost at most that many of those before a cursor: the next entry
 * stands no further to the left than `lost` positions, and what has been passed already is known by time and id.
 */
import { asInt, asLocalDateTime, asText, localDateTime } from './decode.ts';

/** The members of an item that order such a list. Not specified: the order of items of one second; ids are taken to descend unless a page or its cursor shows otherwise. */
export interface NewestFirst<Item = Record<string, unknown>> {
  time: keyof Item & string;
  /** Ids grow with time. */
  id: keyof Item & string;
  /** The time of the last change, if the list is ordered by another one: a change does not move an item. */
  changed?: keyof Item & string;
}

/** The item of a cursor. */
interface ItemKey {
  /** `YYYY-MM-DDTHH:MM:SS` */
  time: string;
  id: string;
}

/** The item that a page starts after, and the length of the list then; null if the service does not tell it. */
export interface Anchor extends ItemKey {
  total: number | null;
  /** The item before it is of the same second, and has a lower id. */
  ascends: boolean;
}

/** Undefined if the item has no readable time or id. */
function itemKey(item: unknown, { time, id }: NewestFirst): ItemKey | undefined {
  const [at, name] = [localDateTime.decode(memberOf(item, time)), asText(memberOf(item, id))];
  return at !== null && /^\d+$/.test(name) ? { time: at, id: name } : undefined;
}

const memberOf = (item: unknown, name: string): unknown => ((item ?? {}) as Record<string, unknown>)[name];

/** False if the service orders the list otherwise: only positions count then. A time that cannot be read shows no order. */
export function isNewestFirst(items: readonly unknown[], { time }: NewestFirst): boolean {
  const times = items.map((item) => asText(memberOf(item, time)));
  return times.every((own, at) => own <= (times[at - 1] ?? own) || !times.slice(at - 1, at + 1).every(asLocalDateTime));
}

/** The anchor at the item at that position, if it has a key. */
export function anchorAt(items: readonly unknown[], at: number, order: NewestFirst, total: number | null) {
  const keys = [itemKey(items[at - 1], order), itemKey(items[at], order)];
  return keys[1] && isNewestFirst(items, order) ? { ...keys[1], total, ascends: ascends(keys, 1) } : undefined;
}

/** When an item was changed last; undefined if it has no readable time. */
export function changeTime(item: unknown, order: NewestFirst): string | undefined {
  return (order.changed && localDateTime.decode(memberOf(item, order.changed))) || itemKey(item, order)?.time;
}

/** The number of leading items that are not behind the anchor: the client has had them. */
export function passedItems(items: readonly unknown[], order: NewestFirst, anchor: Anchor): number {
  const keys = items.map((item) => itemKey(item, order));
  const found = keys.findIndex((key) => key?.id === anchor.id && key.time === anchor.time);
  if (found >= 0 || !isNewestFirst(items, order)) return found + 1;
  const ties = tiesOf(keys, anchor);
  const isBehind = ({ time, id }: ItemKey) => {
    if (time !== anchor.time) return time < anchor.time;
    return ties === 'ascending' ? BigInt(anchor.id) < BigInt(id) : ties === 'mixed' || BigInt(id) < BigInt(anchor.id);
  };
  return [...keys, undefined].findIndex((key) => key === undefined || isBehind(key));
}

/**
 * Where to read once more, because the page may have skipped items or shows none that are behind the anchor; null if it is right. `behind`:
 * undefined if the item of the anchor has been found, right before that position.
 */
export function windowToReadAgain(
  items: readonly unknown[],
  order: NewestFirst,
  anchor: Anchor,
  { start, total }: { start: number; total: number | null },
): { start: number; behind: Anchor | undefined } | null {
  const passed = passedItems(items, order, anchor);
  const lost = total === null || anchor.total === null ? 0 : anchor.total - total;
  if (passed === 0 && lost > 0 && start > 0) return { start: Math.max(0, start - lost), behind: anchor };
  if (passed === 0 || passed < items.length) return null;
  return { start: start + passed, behind: itemKey(items.at(-1), order)?.id === anchor.id ? undefined : anchor };
}

/** How the ids of items of one second are ordered: descending, as far as the anchor and these items show. */
function tiesOf(keys: readonly (ItemKey | undefined)[], anchor: Anchor): 'ascending' | 'descending' | 'mixed' {
  const ties = keys.flatMap((key, at) => (key && keys[at - 1]?.time === key.time ? [ascends(keys, at)] : []));
  if (!anchor.ascends && !ties.includes(true)) return 'descending';
  return ties.includes(false) ? 'mixed' : 'ascending';
}

/** Whether an item has the second of the one before it, and a higher id. */
function ascends(keys: readonly (ItemKey | undefined)[], at: number): boolean {
  const [before, key] = [keys[at - 1], keys[at]];
  return before !== undefined && before.time === key?.time && BigInt(before.id) < BigInt(key.id);
}

/** As a part of a cursor: the length of the list, the time in base 36, the id. */
export const encodeAnchor = ({ time, id, total, ascends }: Anchor): string =>
  `${total ?? ''}:${Number(time.replace(/\D/g, '')).toString(36)}:${id}${ascends ? '+' : ''}`;

/** Undefined if the text is not such a part. */
export function decodeAnchor(text: string): Anchor | undefined {
  const [, total, stamp, id, sign] = /^(\d{0,9}):([0-9a-z]{1,10}):(\d{1,20})(\+?)$/.exec(text) ?? [];
  if (stamp === undefined) return undefined;
  const digits = String(parseInt(stamp, 36)).padStart(14, '0');
  const time = localDateTime.decode(digits.replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/, '$1-$2-$3 $4:$5:$6'));
  return time === null ? undefined : { time, id: id!, total: asInt(total), ascends: sign === '+' };
}

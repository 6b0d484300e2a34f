/** Finds what a write added to a list: what was not in it before. */
import type { AnswerOf, Endpoint, InputOf } from '../../../api/endpoint.ts';
import { type Attempt, type Before, type ReadBack, absent, done, unknown } from './rule.ts';

/** The list that shows what a write creates. */
export interface ListOf<In, E extends Endpoint> {
  readonly endpoint: E;
  /** The request of the page at this position. */
  readonly page: (input: In, person: string, start: number) => InputOf<E>;
  readonly items: (answer: AnswerOf<E>) => readonly { id: string | number }[];
  /** Items of a full page. */
  readonly size: number;
  /** The most pages that are read; 1 is enough if new items come first. */
  readonly pages: number;
  /** New items come first, perhaps with old ones that were changed; otherwise in any order. */
  readonly isNewestFirst: boolean;
  /** The item is what the input asks for. */
  readonly matches: (item: never, input: In, person: string) => boolean;
  /** The item is certainly another write's: the service could not have made it of the input. */
  readonly isOther: (item: never, input: In, person: string) => boolean;
}

export async function readBefore<In, E extends Endpoint>(
  list: ListOf<In, E>,
  input: In,
  { read, person }: Pick<Attempt, 'read' | 'person'>,
): Promise<Before | undefined> {
  if (person === undefined) return undefined;
  const { items, isWhole } = await readPages(list, input, { read, person, start: 0 });
  return { ids: items.map(({ id }) => String(id)), isWhole, person };
}

/** All pages up to the last, or to the most. */
async function readPages<In, E extends Endpoint>(
  { endpoint, page, items, size, pages }: ListOf<In, E>,
  input: In,
  { read, person, start }: Pick<Attempt, 'read'> & { person: string; start: number },
) {
  const found: { id: string | number }[] = [];
  for (let at = 0; at < pages; at++) {
    const answer = await read(endpoint, page(input, person, start + at * size));
    const some = answer === null ? [] : items(answer);
    found.push(...some);
    if (some.length < size) return { items: found, isWhole: true };
  }
  return { items: found, isWhole: false };
}

/**
 * Done if exactly one new item matches; absent only if no new item can be this one, because the service may write the content in other
 * words. Items that other writes with keys created are not new.
 */
export async function findNew<In, E extends Endpoint>(
  list: ListOf<In, E>,
  input: In,
  { read, before, others }: Attempt,
): Promise<ReadBack> {
  if (before?.person === undefined) return unknown;
  const now = await readPages(list, input, { read, person: before.person, start: before.start ?? 0 });
  const added = newOf(list, now, before)?.filter(
    (item) => !others.includes(String(item.id)) && !list.isOther(item as never, input, before.person!),
  );
  if (!added) return unknown;
  if (added.length === 0) return absent;
  const [found, ...more] = added.filter((item) => list.matches(item as never, input, before.person!));
  return found && more.length === 0 ? done(found, String(found.id)) : unknown;
}

function newOf<Item extends { id: string | number }>(
  { isNewestFirst }: Pick<ListOf<never, Endpoint>, 'isNewestFirst'>,
  { items, isWhole }: { items: readonly Item[]; isWhole: boolean },
  { ids, isWhole: wasWhole }: Before,
): readonly Item[] | undefined {
  const isKnown = ({ id }: Item) => ids.includes(String(id));
  // All items were known: what is not among them is new, unless the last page cuts it off now.
  if (wasWhole) return isWhole || isNewestFirst ? items.filter((item) => !isKnown(item)) : undefined;
  if (!isNewestFirst) return undefined;
  // Known items that were changed since may come before a new one. What follows the last known one was cut off before.
  const last = items.findLastIndex(isKnown);
  return last < 0 ? undefined : items.slice(0, last).filter((item) => !isKnown(item));
}

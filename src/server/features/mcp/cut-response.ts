/**
 * Cuts the data of a response to a number of characters, at items of lists. A list that `withCursors` has prepared names the cursor of
 * the next items.
 */
import { type DocumentNode, type FieldNode, Kind, type SelectionNode, getOperationAST, parse, visit } from 'graphql';
import { isPlainObject } from '../../../lib/objects.ts';

/** A list, or the texts, that did not fit. */
export interface Cut {
  path: string;
  shown: number;
  of: number;
  /** Arguments that go on where the list was cut. */
  next?: Record<string, string>;
}

/** Characters for the list of cuts. */
export const CUTS_ROOM = 800;

/** Members of this name are the cursors of a list; what follows it is the variable that takes one. */
const CURSORS = '__cursors_';

/** Selects the cursors of each list that can be gone on with, so that it can be cut anywhere. They cost no call. */
export function withCursors(document: DocumentNode): DocumentNode {
  return visit(document, {
    Field(node): FieldNode | undefined {
      const after = node.arguments?.find(({ name }) => name.value === 'after')?.value;
      const variable = after?.kind === Kind.VARIABLE ? after.name.value : undefined;
      const { selectionSet } = node;
      const isPaged = selectionSet?.selections.some(
        (each) => each.kind === Kind.FIELD && each.name.value === 'pageInfo',
      );
      if (!selectionSet || (variable === undefined && !isPaged)) return undefined;
      const selections = [...selectionSet.selections, ...cursors(variable ?? '')];
      return { ...node, selectionSet: { ...selectionSet, selections } };
    },
  });
}

const cursors = (variable: string): readonly SelectionNode[] =>
  getOperationAST(parse(`{ ${CURSORS}${variable}: edges { cursor } }`))!.selectionSet.selections;

/** The largest version within the room: first all lists are cut to the same length, then, at one item each, texts. Undefined if none fits. */
export function cutToFit(data: unknown, room: number): { value: unknown; cuts: Cut[] } | undefined {
  const cutTo = (limits: Limits) => {
    const cuts = new Map<string, Cut>();
    return { value: cut(data, '', limits, cuts), cuts: firstOf([...cuts.values()]) };
  };
  const fits = (limits: Limits) => measure(data, limits, room) >= 0;
  if (measure(data, whole, room + CUTS_ROOM) >= 0) return cutTo(whole);
  const items = largest(1, longest(data, Array.isArray), (most) => fits({ ...whole, items: most }));
  if (items > 0) return cutTo({ ...whole, items });
  const characters = largest(20, longest(data, isText), (most) => fits({ items: 1, characters: most }));
  return characters > 0 ? cutTo({ items: 1, characters }) : undefined;
}

interface Limits {
  items: number;
  characters: number;
}
const whole: Limits = { items: Infinity, characters: Infinity };

/** The largest number from `least` to `most` that passes, or 0. */
function largest(least: number, most: number, passes: (number: number) => boolean): number {
  let [low, high] = [least - 1, most];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (passes(middle)) low = middle;
    else high = middle - 1;
  }
  return low < least ? 0 : low;
}

/** What is left of the room after the value, as JSON with these limits; stops as soon as that is negative. */
function measure(value: unknown, limits: Limits, room: number): number {
  if (typeof value === 'string') {
    const length = Math.min(value.length, limits.characters);
    return length > room ? -1 : room - JSON.stringify(value.slice(0, length)).length - 1;
  }
  let left = room - 2;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && at < limits.items && left >= 0; at++)
      left = measure(value[at], limits, left - 1);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      if (left < 0) break;
      if (!key.startsWith(CURSORS)) left = measure(member, limits, left - key.length - 4);
    }
  } else left -= String(value).length;
  return left;
}

/** The length of the longest list or text. */
function longest(value: unknown, is: (value: unknown) => boolean): number {
  const own = is(value) ? (value as { length: number }).length : 0;
  if (typeof value !== 'object' || value === null) return own;
  return Object.values(value).reduce((most: number, member) => Math.max(most, longest(member, is)), own);
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** A copy within the limits and without cursors of ours. The page info of a list that is cut says where it was cut. */
function cut(value: unknown, path: string, limits: Limits, cuts: Map<string, Cut>, next?: Cut['next']): unknown {
  if (isText(value)) {
    if (value.length > limits.characters) note(cuts, { path, shown: limits.characters, of: value.length });
    return shortenText(value, limits.characters);
  }
  if (Array.isArray(value)) {
    if (value.length > limits.items) note(cuts, { path, shown: limits.items, of: value.length, ...(next && { next }) });
    return value.slice(0, limits.items).map((item) => cut(item, path, limits, cuts));
  }
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value as Record<string, unknown>);
  const [name, ours] = members.find(([key]) => key.startsWith(CURSORS)) ?? [];
  // A document of the agent may have selected cursors itself.
  const cursors =
    ours ?? (members.some(([, each]) => isPageInfo(each)) ? Object.values(value).find(Array.isArray) : undefined);
  const count = (cursors as unknown[] | undefined)?.length ?? 0;
  const isCut = count > limits.items;
  const last = isCut ? (cursors as ({ cursor?: string } | null)[])[limits.items - 1]?.cursor : undefined;
  const variable = name?.slice(CURSORS.length);
  const goOn = last !== undefined && variable ? { [variable]: last } : undefined;
  const own = members.filter(([key]) => !key.startsWith(CURSORS));
  const shown = own.map(([key, member]): [string, unknown] => {
    if (isCut && isPageInfo(member)) return [key, pageInfoAt(member, last)];
    return [key, cut(member, path ? `${path}.${key}` : key, limits, cuts, goOn)];
  });
  return Object.fromEntries(shown);
}

/** It may have another name in the document. */
const isPageInfo = (value: unknown): value is object =>
  isPlainObject(value) && ('hasNextPage' in value || 'endCursor' in value);

function pageInfoAt(info: object, last: string | undefined): object {
  return {
    ...info,
    ...('hasNextPage' in info && { hasNextPage: true }),
    ...('endCursor' in info && { endCursor: last ?? null }),
  };
}

/** One entry for all lists at the same place of the document. */
function note(cuts: Map<string, Cut>, each: Cut): void {
  const known = cuts.get(each.path);
  if (!known) cuts.set(each.path, each);
  else if (known.of < each.of) known.of = each.of;
}

/** What is shown of a list beside the data: its first entries. */
export const SHOWN_MAX = 10;

const firstOf = (cuts: readonly Cut[]): Cut[] => [...cuts.slice(0, SHOWN_MAX), ...cutOf('cut', cuts.length)];

/** Names a list beside the data of which not all is shown. */
export const cutOf = (path: string, of: number, shown = Math.min(of, SHOWN_MAX)): Cut[] =>
  shown < of ? [{ path, shown, of }] : [];

/** Does not cut a character of two units in half. */
export function shortenText(text: string, most: number): string {
  if (text.length <= most) return text;
  const kept = text.slice(0, Math.max(0, most - 1));
  return `${/[\uD800-\uDBFF]$/.test(kept) ? kept.slice(0, -1) : kept}…`;
}

/** A shelf of the service, or another list of a person, that a test changes between the requests of a client. */
import { facade } from './facade.ts';

export interface ShelfEntry {
  id: number;
  /** A second of the clock: that of the last change. */
  second: number;
  /** That of the beginning, if it is another. */
  made?: number;
}

interface Kind {
  path: RegExp;
  /** The member with the items. */
  list: string;
  /** A global id begins with it. */
  prefix: string;
  record: (id: number, changed: string, made: string) => object;
  /** What orders the list. */
  orderOf: (entry: ShelfEntry) => number;
}
const changed = ({ second }: ShelfEntry) => second;
const begun = ({ second, made = second }: ShelfEntry) => made;

export const kinds = {
  shelfChanges: {
    ...{ path: /^\/v2\/book\/user\/3\/collections/, list: 'collections', prefix: 'Collection:3:', orderOf: changed },
    record: (id, updated) => ({ id, book_id: `${id}`, user_id: '3', status: 'read', updated }),
  },
  annotationChanges: {
    ...{ path: /^\/v2\/book\/user\/3\/annotations/, list: 'annotations', prefix: 'Annotation:', orderOf: changed },
    record: (id, time) => ({ id, book_id: '1', author_id: '3', time }),
  },
  noteChanges: {
    ...{ path: /^\/v2\/note\/user_created\/3/, list: 'notes', prefix: 'Note:', orderOf: begun },
    record: (id, update_time, publish_time) => ({ id, publish_time, update_time }),
  },
} satisfies Record<string, Kind>;

/** What services do that is not specified. */
export interface Oddities {
  /** How entries of one second are ordered. */
  ties?: 'descending' | 'ascending';
  /** Entries that count, and leave a gap in their page. */
  isHidden?: (id: number) => boolean;
  /** The length of the list, as it is told. */
  told?: (length: number) => number | null;
  /** Without times. */
  isTimeless?: boolean;
}

const ZONE_MS = 8 * 3_600_000;

/** `clock`: the second that it is now. */
export function changingShelf(
  entries: readonly ShelfEntry[],
  clock: () => number,
  { path: listPath, list, prefix, record, orderOf }: Kind = kinds.shelfChanges,
  { ties = 'descending', isHidden = () => false, told = (length) => length, isTimeless = false }: Oddities = {},
) {
  const shelf = [...entries];
  let newest = Math.max(0, ...entries.map(({ id }) => id));
  const calls: string[] = [];
  const made = facade({ recordTtlSeconds: 0 });
  const stamp = (second: number) =>
    isTimeless ? '' : new Date(second * 1_000 + ZONE_MS).toISOString().slice(0, 19).replace('T', ' ');
  const byTime = (a: ShelfEntry, b: ShelfEntry) =>
    orderOf(b) - orderOf(a) || (ties === 'descending' ? b.id - a.id : a.id - b.id);
  made.service
    .intercept({ path: listPath })
    .reply(({ path }) => {
      calls.push(path);
      const query = new URL(path, 'http://x').searchParams;
      const [start, count] = [Number(query.get('start')), Number(query.get('count'))];
      const page = shelf.sort(byTime).slice(start, start + count);
      const shown = page.filter(({ id }) => !isHidden(id));
      const items = shown.map((entry) => record(entry.id, stamp(entry.second), stamp(begun(entry))));
      const data = { start, count, total: told(shelf.length), [list]: items };
      return { statusCode: 200, data, responseOptions: { headers: { 'content-type': 'application/json' } } };
    })
    .persist();
  const place = (at: number) => (shelf.length === 0 ? 0 : at % shelf.length);
  return {
    /** The paths of all requests. */
    calls,
    execute: made.execute,
    prefix,
    /** Ids and seconds of the entries. */
    entries: () => new Map(shelf.filter(({ id }) => !isHidden(id)).map(({ id, second }) => [id, second])),
    add: () => void shelf.push({ id: ++newest, second: clock(), made: clock() }),
    remove: (at: number) => shelf.splice(place(at), 1)[0]?.id,
    edit: (at: number) => {
      const entry = shelf[place(at)];
      if (entry) Object.assign(entry, { second: clock(), made: begun(entry) });
      return entry?.id;
    },
  };
}

/** A shelf of the service that a test changes between the requests of a client. */
import { facade } from './facade.ts';

export interface ShelfEntry {
  id: number;
  /** A second of the clock. */
  second: number;
}

/** How a service orders entries of one second. */
export type Ties = 'descending' | 'ascending';

const ZONE_MS = 8 * 3_600_000;

/** `clock`: the second that it is now. */
export function changingShelf(entries: readonly ShelfEntry[], clock: () => number, ties: Ties = 'descending') {
  const shelf = [...entries];
  let newest = Math.max(0, ...entries.map(({ id }) => id));
  const calls: string[] = [];
  const made = facade({ recordTtlSeconds: 0 });
  const stamp = (second: number) => new Date(second * 1_000 + ZONE_MS).toISOString().slice(0, 19).replace('T', ' ');
  const byTime = (a: ShelfEntry, b: ShelfEntry) =>
    b.second - a.second || (ties === 'descending' ? b.id - a.id : a.id - b.id);
  made.service
    .intercept({ path: /^\/v2\/book\/user\/3\/collections/ })
    .reply(({ path }) => {
      calls.push(path);
      const query = new URL(path, 'http://x').searchParams;
      const [start, count] = [Number(query.get('start')), Number(query.get('count'))];
      const collections = shelf
        .sort(byTime)
        .slice(start, start + count)
        .map(({ id, second }) => ({ id, book_id: `${id}`, user_id: '3', status: 'read', updated: stamp(second) }));
      const data = { start, count, total: shelf.length, collections };
      return { statusCode: 200, data, responseOptions: { headers: { 'content-type': 'application/json' } } };
    })
    .persist();
  const place = (at: number) => (shelf.length === 0 ? 0 : at % shelf.length);
  return {
    /** The paths of all requests. */
    calls,
    execute: made.execute,
    /** Ids and seconds of the entries. */
    entries: () => new Map(shelf.map(({ id, second }) => [id, second])),
    add: () => void shelf.push({ id: ++newest, second: clock() }),
    remove: (at: number) => shelf.splice(place(at), 1)[0]?.id,
    edit: (at: number) => {
      const entry = shelf[place(at)];
      if (entry) entry.second = clock();
      return entry?.id;
    },
  };
}

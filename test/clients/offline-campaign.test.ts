/**
 * Two devices with the shelf of examples/offline-apollo, while it changes at the service, also between two pages of a sync, and connections
 * are cut. `OFFLINE_CHANGES=500` runs so many changes on shelves of 97, 350 and 1,300 entries.
 */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openOrigin } from '../../src/origin/server.ts';
import { type Fault, losingProxy } from '../support/losing-proxy.ts';
import { offlineDevice } from './offline-device.ts';
import { replica } from '../support/replica.ts';
import { demoDir, temporaryDirectory } from '../support/service.ts';
import { afterUse } from '../support/hooks.ts';

const CHANGES = Number(process.env.OFFLINE_CHANGES ?? 30);
const SIZES = process.env.OFFLINE_CHANGES ? [97, 350, 1_300] : [120];
/** After so many changes the devices are compared with the service. */
const CHECKED_EVERY = 25;

/** The demo data with as many more books as the shelf needs. Alice has the first `size` of them. */
function dataWith(size: number): string {
  const folder = temporaryDirectory();
  cpSync(demoDir, folder, { recursive: true });
  const tables = JSON.parse(readFileSync(join(folder, 'books.json'), 'utf8')) as Record<string, unknown[][]>;
  const columnsOf = (table: string) => tables[table]![0] as string[];
  const bookColumns = columnsOf('books');
  const at = (column: string) => bookColumns.indexOf(column);
  const model = tables.books![1]!;
  const books = Array.from({ length: size + 200 }, (_, index) => {
    const row = [...model];
    row[at('no')] = 90_000 + index;
    row[at('id')] = `${9_000_000 + index}`;
    row[at('title')] = `Book ${index}`;
    for (const column of ['isbn10', 'isbn13']) row[at(column)] = '';
    row[at('series_id')] = null;
    return row;
  });
  tables.books!.push(...books);
  writeFileSync(join(folder, 'books.json'), JSON.stringify(tables));
  return folder;
}

interface Stored {
  book_id: string;
  status: string;
  rating?: { value: string };
}

async function world(size: number) {
  const origin = await openOrigin({
    ...{ dataDir: temporaryDirectory(), demoDir: dataWith(size), port: 0, host: '127.0.0.1', demoTokens: true },
  });
  afterUse(() => origin.close());
  const persistedOperations = 'client/manifest.json';
  const facade = await replica(origin.url, { persistedOperations, persistedOnly: 'on' });
  const faults: (Fault | undefined)[] = [];
  const proxy = await losingProxy(facade.url, () => faults.shift());
  async function rest(method: string, path: string, body?: object) {
    const headers = { authorization: 'Bearer demo-alice', 'content-type': 'application/json' };
    const response = await fetch(origin.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    return (await response.json().catch(() => ({}))) as { collections: Stored[] };
  }
  async function shelf(): Promise<string[]> {
    const found: Stored[] = [];
    for (let start = 0; start === 0 || found.length === start; start += 100)
      found.push(...(await rest('GET', `/v2/book/user/alice/collections?start=${start}&count=100`)).collections);
    return found.map(({ book_id, status, rating }) => `Book:${book_id} ${status} ${rating?.value ?? '-'}`).sort();
  }
  for (const each of await shelf()) await rest('DELETE', `/v2/book/${/:(\S+)/.exec(each)![1]}/collection`);
  const own = new Set<number>();
  const add = async (book: number) => {
    own.add(book);
    await rest('POST', `/v2/book/${9_000_000 + book}/collection`, { status: 'wish' });
  };
  for (let book = 0; book < size; book++) await add(book);
  return {
    proxy,
    faults,
    shelf,
    /** A change by somebody else, at a place that `at` says. */
    change: async (kind: 'add' | 'remove' | 'edit', at: number) => {
      const book = [...own][at % Math.max(1, own.size)];
      const spare = Array.from({ length: size + 200 }, (_, each) => each).filter((each) => !own.has(each));
      if (kind === 'add') return add(spare[at % spare.length]!);
      if (book === undefined) return undefined;
      if (kind === 'remove') own.delete(book);
      const path = `/v2/book/${9_000_000 + book}/collection`;
      const body = { status: ['wish', 'reading', 'read'][at % 3], rating: String((at % 5) + 1) };
      return kind === 'remove' ? rest('DELETE', path) : rest('PUT', path, body);
    },
    /** A book that is on the shelf, for a write of a device. */
    bookAt: (at: number) => String(9_000_000 + ([...own][at % own.size] ?? 0)),
  };
}

const steps = fc.array(
  fc.record({
    kind: fc.constantFrom('add', 'remove', 'remove', 'edit', 'edit', 'write', 'run', 'run', 'cut', 'restart'),
    at: fc.nat(100_000),
    during: fc.constantFrom(null, null, 'add' as const, 'remove' as const, 'edit' as const),
  }),
  { minLength: CHANGES * 4, maxLength: CHANGES * 4 },
);

test.for(SIZES)(
  'a shelf of %d entries is the same on two devices, after changes, cuts and restarts',
  { timeout: 1_800_000 },
  async (size) => {
    const { proxy, faults, shelf, change, bookAt } = await world(size);
    let during: (() => Promise<unknown>) | undefined;
    let changes = 0;
    const via: typeof fetch = async (...request) => {
      const response = await fetch(...request);
      const act = during;
      during = undefined;
      if (act) await act();
      return response;
    };
    const devices = [offlineDevice(proxy.url, { via }), offlineDevice(proxy.url, { via })];
    const found = { missing: 0, doubled: 0, shown: 0, runs: 0, cuts: 0 };
    const compare = async () => {
      // What one device writes in its first run is read by the other in its second.
      for (const device of [...devices, ...devices]) await device.settle();
      const there = await shelf();
      for (const device of devices) {
        const here = device
          .shown()
          .map((entry) => `${entry.book!.id} ${entry.status!.toLowerCase()} ${entry.rating?.value ?? '-'}`);
        found.doubled += here.length - new Set(here.map((each) => each.split(' ')[0])).size;
        found.missing += there.filter((each) => !here.includes(each)).length;
        found.shown += here.filter((each) => !there.includes(each)).length;
      }
    };
    for (const { kind, at, during: inside } of fc.sample(steps, { numRuns: 1, seed: 57 + size })[0]!) {
      if (changes >= CHANGES) break;
      const device = devices[at % 2]!;
      if (kind === 'add' || kind === 'remove' || kind === 'edit') {
        await change(kind, at);
        if (++changes % CHECKED_EVERY === 0) await compare();
      } else if (kind === 'write') {
        await device.write(bookAt(at), { status: 'READ', rating: (at % 5) + 1 });
        changes++;
      } else if (kind === 'restart') await device.restart();
      else {
        found.runs++;
        if (inside) during = () => (changes++, change(inside, at >> 3));
        if (kind === 'cut') {
          found.cuts++;
          faults.push(...Array<undefined>(at % 3), { kind: 'cut', at: (at * 37) % 40_000 });
        }
        await device.run();
        faults.length = 0;
      }
    }
    await compare();
    console.log(`${size} entries, ${changes} changes: ${JSON.stringify(found)}`);
    expect(found).toMatchObject({ missing: 0, doubled: 0, shown: 0 });
  },
);

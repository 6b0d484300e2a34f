/** What docs/mobile.md prints is so, and its sync is run over the service: through deletions, two devices and a network that is cut. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type GraphQLObjectType, isScalarType, isSpecifiedScalarType, print } from 'graphql';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { UpdateCollectionDocument } from '../../generated/operations.ts';
import { schema } from '../../src/graph/schema.ts';
import { pictureSizes } from '../../src/origin/store/drawn-pictures.ts';
import { frontEnd } from '../frontend/front-end.ts';
import { compileProblems, tsExamplesOf } from '../support/examples.ts';
import { journey } from '../support/journey.ts';
import { type Outbox, type Write, decide, sendAll } from './queue.ts';

const [code] = tsExamplesOf('docs/mobile.md');
const file = join(frontEnd('apollo', 'catalog-graphql-client'), 'src/mobile.ts');
writeFileSync(file, code!);

interface Entry {
  id: string;
  status: string;
}
interface Changes {
  nodes: Entry[];
  removedIds: string[];
  since: string;
  hasMore: boolean;
}
interface ShelfTable {
  since: () => Promise<string | null>;
  apply: (changes: Changes) => Promise<unknown>;
}
const { syncShelf } = (await import(pathToFileURL(file).href)) as {
  syncShelf: (table: ShelfTable, ask: (since: string | null) => Promise<Changes>) => Promise<void>;
};
const { execute, cost, origin, facade } = await journey();
const token = 'demo-alice';

/** A phone: `cut` says that a response is lost, or that the app ends before it has stored it. */
function phone() {
  const entries = new Map<string, string>();
  let since: string | null = null;
  let cut: 'response' | 'app' | undefined;
  const query =
    'query ($since: String) { user(id: "alice") { shelfChanges(since: $since) { nodes { id status } removedIds since hasMore } } }';
  const table: ShelfTable = {
    since: async () => since,
    apply: async (changes) => {
      if (cut === 'app') throw new Error('cut');
      for (const { id, status } of changes.nodes) entries.set(id, status);
      for (const id of changes.removedIds) entries.delete(id);
      ({ since } = changes);
    },
  };
  return {
    entries,
    sync: async (how?: typeof cut) => {
      cut = how;
      await syncShelf(table, async (given) => {
        const { data } = await execute(query, { token, variables: { since: given } });
        if (cut === 'response') throw new Error('cut');
        return data.user.shelfChanges as Changes;
      });
    },
    query,
    since: () => since,
  };
}

async function shelf(): Promise<Map<string, string>> {
  const { data } = await execute('{ user(id: "alice") { bookCollections(first: 100) { nodes { id status } } } }', {
    token,
  });
  return new Map((data.user.bookCollections.nodes as Entry[]).map(({ id, status }) => [id, status]));
}

const page = readFileSync('docs/mobile.md', 'utf8');

test('the page has at most 6 kB, each scalar of the schema for Kotlin and for Swift, and all of them in the plugin', () => {
  expect(Buffer.byteLength(page)).toBeLessThanOrEqual(6_000);
  const scalars = Object.values(schema.getTypeMap()).filter(
    (type) => isScalarType(type) && !isSpecifiedScalarType(type),
  );
  const rows = [...page.matchAll(/^- `(\w+)`.*: `([\w.]+)` in Kotlin, `(\w+)` in Swift/gm)];
  expect(rows.map(([, name]) => name).sort()).toEqual(scalars.map(({ name }) => name).sort());
  for (const [, name] of rows) expect(page).toMatch(new RegExp(`mapScalar\\w*\\("${name}"`));
});

test('the widths of pictures are those that descriptions and demo have', async () => {
  const widths = (place: string) =>
    (new RegExp(`\`${place}\`(?: \`\\*\`)? ([\\d, ]+\\d)`).exec(page)?.[1] ?? '').split(', ');
  const specified = (type: string, field: string) =>
    [...(schema.getType(type) as GraphQLObjectType).getFields()[field]!.description!.matchAll(/(\d+)x\d+/g)].map(
      ([, width]) => width,
    );
  expect(widths('Subject.poster')).toEqual(specified('Subject', 'poster'));
  expect(widths('Celebrity.portrait')).toEqual(specified('Celebrity', 'portrait'));
  const { book, photo, event, person } = pictureSizes;
  const drawn = (sizes: readonly (readonly [number, number])[]) => sizes.map(([width]) => String(width));
  expect(widths('Book.cover')).toEqual(drawn([book.small, book.medium, book.large]));
  expect(widths('Photo')).toEqual(drawn([photo.icon, photo.thumb, photo.cover, photo.large]));
  expect(widths('Event.imageUrl')).toEqual(drawn([event.large]));
  expect(widths('User.avatarUrl')).toEqual(drawn([person.small]));
});

test('QUERY takes a long since in its body, and has an ETag for 304', async () => {
  const query =
    'query ($since: String) { user(id: "alice") { shelfChanges(since: $since) { removedIds since hasMore } } }';
  const ask = (variables: object, more: object = {}) =>
    fetch(`${facade.url}/graphql`, {
      method: 'QUERY',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...more },
      body: JSON.stringify({ query, variables }),
    });
  const first = (await (await ask({})).json()) as { data: { user: { shelfChanges: Changes } } };
  const { since } = first.data.user.shelfChanges;
  const response = await ask({ since });
  expect(response.status).toBe(200);
  const again = await ask({ since }, { 'if-none-match': response.headers.get('etag')! });
  expect(again.status).toBe(304);
});

test('two phones have the shelf after changes, deletions and cuts', async () => {
  expect(compileProblems('.', [code!])).toEqual([]);
  const [one, other] = [phone(), phone()];
  await one.sync();
  expect(one.entries).toEqual(await shelf());
  const books = [...one.entries.keys()].slice(-3).map((id) => id.split(':')[2]!);
  await origin.delete(`/v2/book/${books[0]}/collection`, 'alice');
  await origin.put(`/v2/book/${books[1]}/collection`, 'alice', { status: 'wish', rating: '5' });
  await expect(one.sync('response')).rejects.toThrow('cut');
  await expect(other.sync('app')).rejects.toThrow('cut');
  await origin.delete(`/v2/book/${books[2]}/collection`, 'alice');
  await origin.post(`/v2/book/${books[2]}/collection`, 'alice', { status: 'reading' });
  for (const each of [one, other]) {
    await each.sync();
    expect([...each.entries].sort()).toEqual([...(await shelf())].sort());
  }
  const { calls } = await cost(one.query, { token, variables: { since: one.since() } });
  expect(calls).toBe(1);
});

afterEach(() => void vi.useRealTimers());

describe('what another device changed, after a write whose response the app did not see', () => {
  const book = '1003078';
  const entryOf = async () => {
    const { data } = await execute(`{ book(id: "${book}") { viewerCollection { id revision status } } }`, { token });
    return data.book.viewerCollection as Entry & { revision: string };
  };
  /** The app has sent its first change, and ended; then another device made its own. */
  async function ended(...statuses: string[]) {
    await origin.delete(`/v2/book/${book}/collection`, 'alice');
    await origin.post(`/v2/book/${book}/collection`, 'alice', { status: 'wish' });
    const { revision } = await entryOf();
    const rows: Write[] = statuses.map((status) => ({
      ...{ key: crypto.randomUUID(), record: book },
      body: JSON.stringify({
        query: print(UpdateCollectionDocument),
        variables: { book, status, unchangedSince: revision },
      }),
    }));
    const placeOf = (key: string) => rows.findIndex((row) => row.key === key);
    const outbox: Outbox = {
      all: async () => [...rows],
      replace: async (key, write) => rows.splice(placeOf(key), 1, write),
      remove: async (key) => rows.splice(placeOf(key), 1),
    };
    const send = ({ headers, ...init }: RequestInit) =>
      fetch(`${facade.url}/graphql`, {
        ...init,
        headers: { ...(headers as object), authorization: `Bearer ${token}` },
      });
    const device = phone();
    await device.sync();
    await send({
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': rows[0]!.key },
      body: rows[0]!.body,
    });
    await origin.put(`/v2/book/${book}/collection`, 'alice', { status: 'read' });
    /** A start of the app, in the order that the page has. */
    const start = async () => {
      // What changed in the minute before a sync comes again in the next: the app starts later.
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 600_000 });
      const [, order] = /^- When the app starts or the network is back: (.*)$/m.exec(page)!;
      for (const [step] of order!.matchAll(/\bsync\b|sendAll/g))
        if (step === 'sync') await device.sync();
        else
          await sendAll(
            outbox,
            send,
            async () => undefined,
            async (_, answer) => {
              const { updateCollection } = answer.data as {
                updateCollection: { book: { viewerCollection: Entry & { revision: string } } };
              };
              const { id, status, revision } = updateCollection.book.viewerCollection;
              device.entries.set(id, status);
              return revision;
            },
          );
    };
    return { rows, outbox, device, start };
  }

  test('is on the phone after the next start', async () => {
    const { rows, device, start } = await ended('READING');
    await start();
    expect(rows).toEqual([]);
    expect([...device.entries].sort()).toEqual([...(await shelf())].sort());
  });

  test('is on the phone if the user takes it', async () => {
    const { rows, outbox, device, start } = await ended('READING', 'WISH');
    await start();
    expect(rows.map(({ errors }) => errors?.[0]?.extensions.code)).toEqual(['CONFLICT']);
    await decide(outbox, rows[0]!);
    await device.sync();
    expect((await entryOf()).status).toBe('READ');
    expect([...device.entries].sort()).toEqual([...(await shelf())].sort());
  });
});

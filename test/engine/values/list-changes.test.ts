/** Copies of a shelf, of annotations and of notes on several devices, while these change and the network is cut. */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { progressOf } from '../../../src/engine/values/since.ts';
import { type Oddities, changingShelf, kinds } from '../../support/changing-shelf.ts';
import { thorough } from '../../support/optional.ts';

const START = Date.parse('2026-11-27T00:00:00Z') / 1_000;
let second = START;
/** Sets the clock of the service and of the facade. */
function setClock(to: number): void {
  second = to;
  vi.setSystemTime(second * 1_000);
}
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
  setClock(START);
});
afterEach(() => void vi.useRealTimers());

type Field = keyof typeof kinds;
const timeOf = (field: Field) => (field === 'annotationChanges' ? 'time' : 'updatedAt');
const queryOf = (field: Field) => `query ($since: String) { user(id: 3) { changes: ${field}(since: $since) {
  nodes { id updatedAt: ${timeOf(field)} } removedIds since hasMore } } }`;
interface Changes {
  nodes: { id: string; updatedAt: string }[];
  removedIds: string[];
  since: string;
  hasMore: boolean;
}
type Shelf = ReturnType<typeof shelfOf>;

async function ask({ execute, field }: Shelf, since: string | null): Promise<Changes> {
  const { data, errors } = await execute(queryOf(field), { variables: { since }, token: 'of-the-reader' });
  expect(errors).toBeUndefined();
  return data.user.changes as Changes;
}

/** A device: what it has stored is all that it knows. */
function device(shelf: Shelf) {
  const stored = new Map<string, string>();
  let since: string | null = null;
  let most = 0;
  return {
    since: () => since,
    /** Asks once; `isLost`: the response does not arrive. */
    async step(isLost = false): Promise<boolean> {
      const changes = await ask(shelf, since);
      most = Math.max(most, changes.since.length);
      for (const id of changes.removedIds) expect(truth(shelf).has(id)).toBe(false);
      if (isLost) return true;
      for (const { id, updatedAt } of changes.nodes) stored.set(id, updatedAt);
      for (const id of changes.removedIds) stored.delete(id);
      ({ since } = changes);
      return changes.hasMore;
    },
    async sync(): Promise<void> {
      let calls = 0;
      while (await this.step()) expect(++calls).toBeLessThan(100);
    },
    stored,
    sinceLength: () => most,
  };
}

const ZONE_MS = 8 * 3_600_000;
/** What a device should have. */
const truth = (shelf: Shelf) =>
  new Map(
    [...shelf.entries()].map(([id, at]) => [
      `${shelf.prefix}${id}`,
      new Date(at * 1_000 + ZONE_MS).toISOString().slice(0, 19),
    ]),
  );
const sorted = (entries: ReadonlyMap<string, string>) => [...entries].sort();

function shelfOf(size: number, inOneSecond: boolean, field: Field = 'shelfChanges', odd: Oddities = {}) {
  const entries = Array.from({ length: size }, (_, at) => ({
    id: at + 1,
    second: START - (inOneSecond ? 90 : 90 + size - at),
  }));
  return { ...changingShelf(entries, () => second, kinds[field], odd), field };
}

test('an edit is a change too where the service has the oldest entries in front, and leaves them in place', async () => {
  const entries = Array.from({ length: 150 }, (_, at) => ({ id: at + 1, second: START - 240 + at }));
  const kind = { ...kinds.shelfChanges, orderOf: ({ id }: { id: number }) => -id };
  const shelf = { ...changingShelf(entries, () => second, kind), field: 'shelfChanges' as const };
  const phone = device(shelf);
  await phone.sync();
  setClock(START + 600);
  shelf.edit(120);
  await phone.sync();
  expect(sorted(phone.stored)).toEqual(sorted(truth(shelf)));
});

type Step = { kind: 'add' | 'remove' | 'edit' | 'tick' | 'ask' | 'lose'; at: number };
const steps = (maxLength: number) =>
  fc.array<Step>(
    fc.record({
      kind: fc.constantFrom('add', 'remove', 'remove', 'edit', 'edit', 'tick', 'ask', 'ask', 'ask', 'lose'),
      at: fc.nat(5_000),
    }),
    { minLength: maxLength / 4, maxLength },
  );

const oddities = fc.record({
  ties: fc.constantFrom('ascending' as const, 'descending' as const),
  isHidden: fc.constantFrom(
    () => false,
    (id: number) => id % 17 === 0,
  ),
});

async function run(shelf: Shelf, actions: readonly Step[]) {
  const devices = [device(shelf), device(shelf)];
  for (const { kind, at } of actions) {
    const either = devices[at % 2]!;
    if (kind === 'add') shelf.add();
    else if (kind === 'remove') shelf.remove(at);
    else if (kind === 'edit') shelf.edit(at);
    else if (kind === 'tick') setClock(second + (at % 3 === 0 ? 61 : at % 2));
    else await either.step(kind === 'lose');
  }
  setClock(second + 3);
  for (const each of devices) {
    await each.sync(); // it goes on where it was, and may leave to the next one what changed meanwhile
    await each.sync();
    expect(sorted(each.stored)).toEqual(sorted(truth(shelf)));
  }
  return devices;
}

const fields = Object.keys(kinds) as Field[];

describe('a copy that is kept by changes', () => {
  test.for(fields)('of %s has what the list has, through changes and lost responses on two devices', async (field) => {
    const sizes = fc.constantFrom(0, 97, 350);
    await fc.assert(
      fc.asyncProperty(sizes, fc.boolean(), oddities, steps(60), async (size, inOneSecond, odd, actions) => {
        setClock(START);
        await run(shelfOf(size, inOneSecond, field, odd), actions);
      }),
      { numRuns: Number(process.env.CHANGES_RUNS ?? (thorough ? 12 : 3)), endOnFailure: true },
    );
  });

  test.for([
    ['shelfChanges', 97, 1, 1, 1, 1],
    ['shelfChanges', 350, 4, 1, 1, 4],
    ['shelfChanges', 1_300, 13, 1, 1, 13],
    ['annotationChanges', 350, 4, 1, 1, 4],
    ['noteChanges', 97, 1, 1, 1, 1],
    ['noteChanges', 350, 4, 4, 4, 4],
  ] as const)(
    'of %s, %d items, costs %d calls at first, %d if nothing changed, %d for three changes, %d after a deletion',
    async ([field, size, first, nothing, three, removed]) => {
      const shelf = shelfOf(size, true, field);
      const phone = device(shelf);
      const callsOf = async () => {
        const before = shelf.calls.length;
        await phone.sync();
        expect(sorted(phone.stored)).toEqual(sorted(truth(shelf)));
        return shelf.calls.length - before;
      };
      expect(await callsOf()).toBe(first);
      expect(await callsOf()).toBe(nothing);
      setClock(second + 3_600);
      for (const at of [1, 50, 96]) shelf.edit(at);
      expect(await callsOf()).toBe(three);
      setClock(second + 3_600);
      shelf.add();
      shelf.remove(40);
      expect(await callsOf()).toBe(removed);
      expect(phone.sinceLength()).toBeLessThan(400 + 3 * size);
    },
  );

  test('of notes tells an edit once, also one of an old note behind the first page', async () => {
    const shelf = shelfOf(350, false, 'noteChanges');
    const phone = device(shelf);
    await phone.sync();
    setClock(second + 3_600);
    shelf.edit(340);
    const told: string[] = [];
    for (let round = 0; round < 2; round++) {
      for (let hasMore = true; hasMore;) {
        const changes = await ask(shelf, phone.since());
        told.push(...changes.nodes.map(({ id }) => id));
        await phone.step();
        ({ hasMore } = changes);
      }
      setClock(second + 120);
    }
    await phone.sync();
    expect(sorted(phone.stored)).toEqual(sorted(truth(shelf)));
    // In its first minute an edit is told again: what else is changed in its second cannot be told apart.
    expect(told.length).toBeLessThanOrEqual(2);
    expect((await ask(shelf, phone.since())).nodes).toEqual([]);
  });

  test.for(fields)('of %s costs a slow client no more calls', async (field) => {
    const shelf = shelfOf(350, false, field);
    const phone = device(shelf);
    for (let calls = 1; await phone.step(); calls++) {
      expect(calls).toBeLessThan(4);
      setClock(second + 40);
    }
    expect(sorted(phone.stored)).toEqual(sorted(truth(shelf)));
  });

  test.for(fields)('of %s has all that is behind what is hidden, or has no time', async (field) => {
    const oddities: Oddities[] = [
      { isHidden: (id) => id % 17 === 0 },
      { isHidden: (id) => id > 120 && id < 250 },
      { isHidden: (id) => id > 200 },
      { isTimeless: true },
      { told: (length) => length - 3 },
      { told: () => null },
    ];
    for (const odd of oddities) {
      const shelf = shelfOf(350, false, field, odd);
      const phone = device(shelf);
      const expectWhole = () => expect([...phone.stored.keys()].sort()).toEqual([...truth(shelf).keys()].sort());
      await phone.sync();
      expectWhole();
      shelf.remove(60);
      shelf.remove(260);
      await phone.sync();
      expectWhole();
      const before = shelf.calls.length;
      await phone.sync();
      expect(shelf.calls.length - before).toBeLessThan(10);
    }
  });

  test.for(fields)('of %s tells a change that has an earlier time than one before it', async (field) => {
    for (const [wrong, right] of [
      [3_600, 0],
      [0, -20],
    ] as const) {
      const start = second;
      const shelf = shelfOf(50, false, field);
      const phone = device(shelf);
      setClock(start + wrong);
      shelf.edit(3);
      setClock(start);
      await phone.sync();
      setClock(start + right);
      shelf.edit(7);
      setClock(start);
      await phone.sync();
      expect(sorted(phone.stored)).toEqual(sorted(truth(shelf)));
    }
  });

  test('rejects a since of another list, and one that nobody has returned', async () => {
    const shelf = shelfOf(3, false);
    const { since } = await ask(shelf, null);
    for (const [user, given] of [
      ['4', since],
      ['3', 'bm90aGluZw'],
      ['3', `${since.slice(0, 40)}`],
    ] as const) {
      const { errors } = await shelf.execute(`{ user(id: ${user}) { shelfChanges(since: "${given}") { since } } }`);
      expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', argument: 'since' } }]);
    }
  });

  test('reads eight million characters of keys in an operation, and rejects a since that aliases repeat more often', async () => {
    const shelf = shelfOf(3, false);
    const { since } = await ask(shelf, null);
    const known = Array.from({ length: 100_000 }, (_, at) => `3:${at}`);
    const variables = { since: changed(since, (text) => JSON.stringify({ ...(JSON.parse(text) as object), known })) };
    for (const [places, isRead] of [
      [3, true],
      [10, false],
    ] as const) {
      const aliases = Array.from({ length: places }, (_, at) => `a${at}: shelfChanges(since: $since) { hasMore }`);
      const document = `query ($since: String) { user(id: 3) { ${aliases.join(' ')} } }`;
      const { errors } = await shelf.execute(document, { variables, token: 'of-the-reader' });
      expect(errors?.[0]?.message).toBe(isRead ? undefined : 'The `since` of the operation have too many keys.');
    }
  });

  test('reads eight million characters exactly, and not one more', () => {
    const operation = {};
    const read = (length: number) =>
      progressOf({ since: Buffer.from('{"v":1}'.padStart(length)).toString('base64url') }, () => '', operation);
    expect(read(8_000_000).known.size).toBe(0);
    expect(() => read(7)).toThrow('too many keys');
  });

  test('rejects a since with members of another kind', async () => {
    const shelf = shelfOf(150, false);
    const { since } = await ask(shelf, null);
    for (const members of [
      { known: null },
      { unmet: [7] },
      { from: 7 },
      { after: { position: 100 } },
      { after: '!' },
    ]) {
      const given = changed(since, (text) => JSON.stringify({ ...(JSON.parse(text) as object), ...members }));
      const { errors } = await shelf.execute(`{ user(id: 3) { shelfChanges(since: "${given}") { since } } }`);
      expect(errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
    }
  });

  test('tells the whole list to a since of a former release', async () => {
    const shelf = shelfOf(3, false);
    for (const former of [Buffer.from('{"v":2,"list":"…"}\n'), deflateRawSync('{"v":3,"list":"…","known":{}}')]) {
      const { nodes, removedIds, hasMore } = await ask(shelf, former.toString('base64url'));
      expect([nodes.length, removedIds, hasMore]).toEqual([3, [], false]);
    }
  });

  test('rejects a since that becomes longer than a million characters', async () => {
    const shelf = shelfOf(3, false);
    const long = deflateRawSync('0'.repeat(5_000_000)).toString('base64url');
    const { errors } = await shelf.execute(
      'query ($since: String) { user(id: 3) { shelfChanges(since: $since) { since } } }',
      {
        variables: { since: long },
      },
    );
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', argument: 'since' } }]);
  });
});

/** A since that somebody has opened. */
const changed = (since: string, change: (text: string) => string): string =>
  deflateRawSync(change(inflateRawSync(Buffer.from(since, 'base64url')).toString())).toString('base64url');

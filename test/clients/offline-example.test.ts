/** What examples/offline-apollo keeps on a device: through cuts, restarts, expired tokens, and clocks that are wrong. */
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Fault, losingProxy } from '../support/losing-proxy.ts';
import { KEPT_MS, MOST_WRITES, offlineDevice, outboxIn, rowsInMemory, shelfCopy } from './offline-device.ts';
import { startProgram } from '../support/program.ts';

// A process of its own, so that the clock of the devices can be another one.
const program = await startProgram({
  PORT: '0',
  ORIGIN_PORT: '0',
  PERSISTED_OPERATIONS: 'client/manifest.json',
  PERSISTED_ONLY: 'on',
});
const faults: (Fault | undefined)[] = [];
const proxy = await losingProxy(program.url, () => faults.shift());

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  faults.length = 0;
});

interface Stored {
  book_id: string;
  status: string;
  rating?: { value: string };
  comment?: string;
}
async function rest(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
  const response = await fetch(program.origin + path, {
    method,
    headers: { authorization: 'Bearer demo-alice', 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return (await response.json().catch(() => ({}))) as Record<string, unknown>;
}
/** The shelf at the service: statuses by book. */
async function shelf(): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (let start = 0; start < 400; start += 100) {
    const { collections } = await rest('GET', `/v2/book/user/alice/collections?start=${start}&count=100`);
    for (const { book_id, status } of collections as Stored[]) found.set(`Book:${book_id}`, status.toUpperCase());
  }
  return found;
}
const entryOf = async (book: string) => (await rest('GET', `/v2/book/${book}/collection`)) as unknown as Stored;

const seen = (device: ReturnType<typeof offlineDevice>) => device.shown().map(({ book, status }) => [book!.id, status]);
const sorted = (entries: Iterable<readonly unknown[]>) => [...entries].map(String).sort();

/** Books that are not on the shelf. */
let spare: string[] = [];
beforeAll(async () => {
  const own = await shelf();
  for (let start = 0; start < 200; start += 100) {
    const { books } = await rest('GET', `/v2/book/search?q=&tag=小说&start=${start}&count=100`);
    for (const { id } of books as { id: string }[]) if (!own.has(`Book:${id}`)) spare.push(id);
  }
  spare = [...new Set(spare)];
  expect(spare.length).toBeGreaterThan(12);
});

describe('a shelf on a device', () => {
  test('a sync that is cut goes on where it was', async () => {
    for (const book of spare) await rest('POST', `/v2/book/${book}/collection`, { status: 'wish' });
    const pages = Math.ceil((await shelf()).size / 100);
    expect(pages).toBe(2);
    const device = offlineDevice(proxy.url);
    faults.push(undefined, { kind: 'lost' });
    expect(await device.run()).toMatchObject({ problem: 'offline' });
    expect(device.shown()).toHaveLength(100);
    expect(device.app().shelf.state().isWhole).toBe(false);
    await device.restart();
    const before = proxy.lines.length;
    await device.settle();
    expect(proxy.lines.length - before).toBe(1);
    expect(sorted(seen(device))).toEqual(sorted(await shelf()));
    expect(device.app().shelf.state().isWhole).toBe(true);
  });

  test('keeps the entries that changed last, within its bounds', async () => {
    const [few, small] = [
      { entries: 20, bytes: 1e9 },
      { entries: 1e9, bytes: 6_000 },
    ].map((bounds) => offlineDevice(proxy.url, { bounds }));
    const newest = [...(await shelf()).keys()];
    for (const device of [few!, small!]) {
      await device.settle();
      const { entries, isCut } = device.app().shelf.state();
      expect(isCut).toBe(true);
      expect(entries.map(({ book }) => book!.id)).toEqual(newest.slice(0, entries.length));
      const kept = (await device.stored.shelf.all()).filter(([key]) => key !== 'progress').map(([, entry]) => entry);
      expect(kept).toHaveLength(entries.length);
      const bytes = kept.map((entry) => Buffer.byteLength(JSON.stringify(entry))).reduce((sum, each) => sum + each, 0);
      expect(bytes).toBeLessThanOrEqual(device === few ? 1e9 : 6_000);
    }
    expect(few!.shown()).toHaveLength(20);
    expect(small!.shown().length).toBeGreaterThan(5);
    // An entry that is not kept is told again once it has changed, in a second in which no other one changed.
    const second = Math.floor(Date.now() / 1000);
    await expect.poll(() => Math.floor(Date.now() / 1000)).toBeGreaterThan(second);
    const old = newest.at(-1)!.replace('Book:', '');
    await rest('PUT', `/v2/book/${old}/collection`, { status: 'reading' });
    await few!.settle();
    const book = expect.objectContaining({ id: `Book:${old}` }) as unknown;
    expect(few!.shown()).toContainEqual(expect.objectContaining({ book, status: 'READING' }));
    expect(few!.shown()).toHaveLength(20);
  });

  test('begins anew with a since that the facade does not read', async () => {
    const device = offlineDevice(proxy.url);
    await device.settle();
    await device.stored.shelf.write([['progress', { since: 'bm8', isWhole: true, isCut: false }]]);
    await device.restart();
    await device.settle();
    expect(sorted(seen(device))).toEqual(sorted(await shelf()));
  });
});

test('a copy that cannot be stored is not taken for stored', async () => {
  const rows = rowsInMemory();
  const copy = shelfCopy({ ...rows, write: () => Promise.reject(new Error('no space')) }, () => undefined);
  const changes = { nodes: [], removedIds: [], since: 'next', hasMore: false };
  await expect(copy.apply(changes, null)).rejects.toThrow('no space');
  expect(copy.since()).toBeNull();
});

const HOUR_MS = 3_600_000;

/** A network whose responses the test sees, and changes. `later`: the clock of the service is so much later. */
function network() {
  const seen: { key: string; isReplayed: boolean }[] = [];
  const state = { later: 0, instead: undefined as object | undefined, isOff: false };
  const via: typeof fetch = async (url, init) => {
    if (state.isOff) throw new TypeError('no network');
    const key = (init?.headers as Record<string, string>)['idempotency-key'];
    const response = await fetch(url, init);
    if (key) seen.push({ key, isReplayed: response.headers.get('idempotency-replayed') === 'true' });
    const headers = new Headers(response.headers);
    const time = Date.parse(headers.get('date')!);
    headers.set('date', new Date(time + state.later).toUTCString());
    const answer = await response.text();
    return key && state.instead ? Response.json(state.instead, { headers }) : new Response(answer, { headers });
  };
  return { seen, state, via };
}
const errorOf = (code: string, more: object = {}) => ({
  data: null,
  errors: [{ message: `${code}.`, extensions: { code, ...more } }],
});
const statesOf = (device: ReturnType<typeof offlineDevice>) =>
  device
    .app()
    .outbox.writes()
    .map(({ state, says }) => [state, says]);

/** Whether everybody sees the entry. */
const isPublic = async (book: string) =>
  (await fetch(`${program.origin}/v2/book/${book}/collection?user_id=alice`)).status === 200;

describe('what other devices do', () => {
  let book = '';
  const entry = { status: 'reading', rating: 4, tags: '小说 重读', comment: '很好' };
  /** Two phones that have the same entry. */
  async function phones(more: object = {}) {
    book = spare.at(-1)!;
    await rest('DELETE', `/v2/book/${book}/collection`);
    await rest('POST', `/v2/book/${book}/collection`, { ...entry, ...more });
    const all = [offlineDevice(proxy.url), offlineDevice(proxy.url)] as const;
    for (const each of all) await each.settle();
    return all;
  }
  // A response to a write names the person to the facade: before, it is not said whether an entry is private.
  beforeAll(async () => {
    const device = offlineDevice(proxy.url);
    await device.settle();
    await device.write(spare[1]!, { status: 'READ' });
    await device.settle();
  });
  const states = (device: ReturnType<typeof offlineDevice>) =>
    device
      .app()
      .outbox.writes()
      .map(({ state }) => state);

  test('a private entry stays private, and keeps its tags and comment, when its stars are changed', async () => {
    const [phone] = await phones({ privacy: 'private' });
    const shown = () => phone.shown().find((each) => each.book!.id === `Book:${book}`);
    expect(shown()).toMatchObject({ isPrivate: true });
    await phone.write(book, { rating: 2 });
    await phone.write(book, { status: 'READ' });
    expect(shown()).toMatchObject({
      isPrivate: true,
      rating: { value: 2 },
      status: 'READ',
      tagNames: ['小说', '重读'],
    });
    await phone.settle();
    expect(states(phone)).toEqual([]);
    expect(await entryOf(book)).toMatchObject({
      status: 'read',
      rating: { value: '2' },
      comment: '很好',
      tags: ['小说', '重读'],
    });
    expect(await isPublic(book)).toBe(false);
  });

  test('a change of another device is shown as a conflict, and kept when the person saves again', async () => {
    const [phone, other] = await phones();
    await phone.write(book, { rating: 2 });
    await other.write(book, { tags: ['别的'] });
    await other.settle();
    await phone.settle();
    const [conflict] = phone.app().outbox.writes();
    expect(conflict).toMatchObject({ state: 'conflict', now: { tags: ['别的'] } });
    expect(await entryOf(book)).toMatchObject({ rating: { value: '4' }, tags: ['别的'] });
    await phone.decideAgain();
    await phone.settle();
    expect(await entryOf(book)).toMatchObject({ rating: { value: '2' }, tags: ['别的'], comment: '很好' });
    // What the second phone taps now is a change of what it has seen last.
    await other.settle();
    await other.write(book, { status: 'READ' });
    await other.settle();
    expect(await entryOf(book)).toMatchObject({ status: 'read', rating: { value: '2' }, tags: ['别的'] });
  });

  test.each(['again', 'forget'] as const)(
    'what was tapped of an entry after a change that conflicts is not sent before the person decides: %s',
    async (what) => {
      const [phone, other] = await phones();
      await phone.write(book, { rating: 2 });
      await phone.write(book, { comment: '我的' });
      await phone.write(spare[0]!, { comment: `before ${what}` });
      await other.write(book, { comment: '别的' });
      await other.settle();
      await phone.settle();
      expect(states(phone)).toEqual(['conflict', 'waiting']);
      await phone.restart();
      await phone.write(book, { status: 'READ' });
      await phone.settle();
      expect(states(phone)).toEqual(['conflict', 'waiting', 'waiting']);
      const theirs = { status: 'reading', rating: { value: '4' }, comment: '别的' };
      expect(await entryOf(book)).toMatchObject(theirs);
      expect(phone.shown().find((each) => each.book!.id === `Book:${book}`)).toMatchObject({ comment: '别的' });
      expect(await entryOf(spare[0]!)).toMatchObject({ comment: `before ${what}` });
      if (what === 'again') await phone.decideAgain();
      else await phone.app().outbox.decide(phone.app().outbox.writes()[0]!.key, 'forget');
      await phone.settle();
      expect(states(phone)).toEqual([]);
      const ours = { status: 'read', rating: { value: '2' }, comment: '我的' };
      expect(await entryOf(book)).toMatchObject(what === 'again' ? ours : theirs);
    },
  );

  test('an entry that was deleted elsewhere does not come back until the person says so, and then as it was', async () => {
    const [phone] = await phones({ privacy: 'private' });
    await phone.write(book, { rating: 2 });
    await rest('DELETE', `/v2/book/${book}/collection`);
    await phone.settle();
    expect(states(phone)).toEqual(['gone']);
    expect(phone.shown().some((each) => each.book!.id === `Book:${book}`)).toBe(false);
    expect((await shelf()).has(`Book:${book}`)).toBe(false);
    await phone.decideAgain();
    await phone.settle();
    expect(await entryOf(book)).toMatchObject({
      status: 'reading',
      rating: { value: '2' },
      comment: '很好',
      tags: ['小说', '重读'],
    });
    expect(await isPublic(book)).toBe(false);
  });

  test('an entry that was deleted elsewhere is put back as private if it is not known whether it was', async () => {
    const before = { ...(await phones())[0].shown()[0]!, isPrivate: null };
    const variables = { book: before.book!.id, rating: 2, unchangedSince: before.revision };
    const rows = rowsInMemory();
    const gone = { kind: 'change', book: before.book!, before, variables, key: 'a', order: 1, state: 'gone' };
    await rows.write([['a', gone]]);
    const queue = outboxIn(rows, () => undefined);
    await queue.decide('a', 'again');
    expect(queue.writes()).toMatchObject([{ kind: 'collect', variables: { isPrivate: true, rating: 2 } }]);
  });

  test('a book that another device has put on the shelf is not written over', async () => {
    const [phone, other] = await phones();
    await rest('DELETE', `/v2/book/${book}/collection`);
    for (const each of [phone, other]) await each.settle();
    await phone.write(book, { status: 'WISH' });
    await phone.write(book, { rating: 1 });
    await other.write(book, { status: 'READ', comment: '先来的' });
    await other.settle();
    await phone.settle();
    expect(states(phone)).toEqual(['rejected', 'waiting']);
    expect(phone.shown().find((each) => each.book!.id === `Book:${book}`)).toMatchObject({ status: 'READ' });
    expect(await entryOf(book)).toMatchObject({ status: 'read', comment: '先来的' });
    await phone.decideAgain();
    await phone.settle();
    expect(states(phone)).toEqual([]);
    expect(await entryOf(book)).toMatchObject({ status: 'wish', rating: { value: '1' }, comment: '先来的' });
  });
});

const pages = {
  'a page with the seconds to wait': [503, { 'retry-after': '30' }, '<h1>busy</h1>', 30],
  'a page with a date': [503, { 'retry-after': 'in a minute' }, '<h1>busy</h1>', 60],
  'a page with a nonsensical time': [503, { 'retry-after': 'soon' }, '<h1>busy</h1>', 0],
  'a page with more seconds than a timer holds': [503, { 'retry-after': '9999999999' }, '', 3_600],
  'errors without extensions': [502, {}, '{"errors":[{"message":"upstream unavailable"}]}', 0],
  'an error that is null': [200, {}, '{"data":null,"errors":[null]}', 0],
  'errors that are a text': [200, {}, '{"errors":"no"}', 0],
  'a text': [200, {}, '"hello"', 0],
} as const;

const proxyHeaders = (headers: Record<string, string>) => {
  const [date, later] = [0, 60_000].map((after) => new Date(Date.now() + after).toUTCString());
  const wait = headers['retry-after']?.replace('in a minute', later!);
  return { date: date!, ...headers, ...(wait && { 'retry-after': wait }) };
};

test.each(Object.entries(pages))(
  'an answer of a proxy keeps a write: %s',
  async (_, [status, headers, body, seconds]) => {
    let isProxy = false;
    const via: typeof fetch = async (url, init) =>
      isProxy ? new Response(body, { status, headers: proxyHeaders(headers) }) : fetch(url, init);
    const device = offlineDevice(proxy.url, { via });
    await device.settle();
    await device.write(spare[0]!, { comment: `after ${body}` });
    isProxy = true;
    const { problem, retryAfter } = await device.run();
    expect({ problem, waits: Math.abs(retryAfter - seconds) < 3 }).toEqual({ problem: 'offline', waits: true });
    expect(statesOf(device)).toEqual([['waiting', undefined]]);
    isProxy = false;
    await device.settle();
    expect(await entryOf(spare[0]!)).toMatchObject({ comment: `after ${body}` });
  },
);

describe('a queue of writes', () => {
  test('is made once, through restarts, an expired token, lost answers and a clock that jumps by hours', async () => {
    const { seen, via } = network();
    const device = offlineDevice(proxy.url, { via });
    await device.settle();
    const books = spare.slice(0, 12);
    const offsets = [7, -7, 30, -30, 0].map((hours) => hours * HOUR_MS);
    const jump = (at: number) =>
      vi.useFakeTimers({ toFake: ['Date'], now: performance.timeOrigin + performance.now() + offsets[at % 5]! });
    for (const [at, book] of books.entries()) {
      jump(at);
      await device.write(book, { status: 'READ', rating: (at % 5) + 1 });
    }
    expect(
      device
        .shown()
        .slice(0, 12)
        .map(({ book }) => book!.id),
    ).toEqual(books.map((id) => `Book:${id}`).reverse());
    for (
      let round = 0;
      device
        .app()
        .outbox.writes()
        .some(({ state }) => state === 'waiting');
      round++
    ) {
      expect(round).toBeLessThan(40);
      jump(round);
      await device.restart();
      if (round % 4 === 1) device.setToken('expired');
      faults.push(undefined, undefined, { kind: round % 2 ? 'lost' : 'dropped' }); // a read, a write, and a write that is cut
      const { problem } = await device.run();
      if (round % 4 === 1) expect(problem).toBe('login');
      device.setToken('demo-alice');
      faults.length = 0;
    }
    for (const [at, book] of books.entries())
      expect(await entryOf(book)).toMatchObject({ status: 'read', rating: { value: String((at % 5) + 1) } });
    const keys = seen.map(({ key }) => key);
    expect([...new Set(keys)]).toHaveLength(12);
    // Of each write one answer is the first, whether it arrived or was lost, and every other one is this answer again.
    for (const key of new Set(keys))
      expect(seen.filter((each) => each.key === key && !each.isReplayed).length).toBeLessThan(2);
    expect(seen.some(({ isReplayed }) => isReplayed)).toBe(true);
    await device.settle();
    expect(sorted(device.shown().map(({ book, status }) => [book!.id, status]))).toEqual(sorted(await shelf()));
  });

  test('a write that was sent, and then a day without a network, is not sent again but shown', async () => {
    const { seen, state, via } = network();
    const device = offlineDevice(proxy.url, { via });
    await device.settle();
    const [book, other] = spare as [string, string];
    await device.write(book, { status: 'WISH', comment: 'sent' });
    await device.write(other, { status: 'WISH', comment: 'never sent' });
    faults.push(undefined, { kind: 'dropped' });
    expect(await device.run()).toMatchObject({ problem: 'offline' });
    await device.restart();
    state.later = KEPT_MS + 2 * HOUR_MS;
    await device.run();
    expect(statesOf(device)).toEqual([['unknown', expect.stringContaining('not known')]]);
    expect(seen).toHaveLength(1);
    expect(await entryOf(other)).toMatchObject({ comment: 'never sent' });
    expect(await entryOf(book)).not.toMatchObject({ comment: 'sent' });
    // It is not shown as done, and goes once the person has decided.
    expect(device.shown().find(({ book: shown }) => shown!.id === `Book:${book}`)?.comment).not.toBe('sent');
    await device.decideAgain();
    await device.settle();
    expect(await entryOf(book)).toMatchObject({ comment: 'sent' });
    expect(statesOf(device)).toEqual([]);
  });

  test('what is unknown is shown, until the shelf has it as it was written', async () => {
    const { state, via } = network();
    const device = offlineDevice(proxy.url, { via });
    await device.settle();
    const [book] = spare as [string];
    for (const isThere of [false, true]) {
      await device.write(book, { status: 'READING', comment: `there: ${isThere}` });
      state.instead = errorOf('UPSTREAM_RESULT_UNKNOWN');
      if (!isThere) faults.push(undefined, { kind: 'refused', status: 200, body: {} });
      await device.run();
      await device.run();
      expect(statesOf(device)).toEqual(isThere ? [] : [['unknown', 'UPSTREAM_RESULT_UNKNOWN.']]);
      for (const { key } of device.app().outbox.writes()) await device.app().outbox.decide(key, 'forget');
    }
    expect(await entryOf(book)).toMatchObject({ comment: 'there: true' });
  });

  test('a rejected write is shown with its reason, and keeps no other one waiting', async () => {
    const device = offlineDevice(proxy.url);
    await device.settle();
    const [book, other] = spare as [string, string];
    await device.write(book, { rating: 9 });
    await device.write(other, { status: 'WISH', comment: 'after it' });
    await device.settle();
    expect(statesOf(device)).toEqual([['rejected', expect.stringContaining('rating')]]);
    expect(await entryOf(other)).toMatchObject({ comment: 'after it' });
  });

  test.each(['CLIENT_TOO_OLD', 'PERSISTED_ONLY', 'RATE_LIMITED', 'LOGIN_REQUIRED', 'UPSTREAM_UNAVAILABLE'])(
    '%s keeps a write, and it is sent later with its key',
    async (code) => {
      const { seen, state, via } = network();
      const device = offlineDevice(proxy.url, { via });
      await device.settle();
      await device.write(spare[0]!, { status: 'WISH', comment: code });
      state.instead = errorOf(code, { retryAfter: 7 });
      expect((await device.run()).retryAfter).toBe(7);
      expect(statesOf(device)).toEqual([['waiting', undefined]]);
      state.instead = undefined;
      await device.restart();
      await device.settle();
      expect(await entryOf(spare[0]!)).toMatchObject({ comment: code });
      expect(new Set(seen.map(({ key }) => key)).size).toBe(1);
    },
  );

  test('nothing is sent without a network, and a write that is not stored is not sent', async () => {
    const { seen, state, via } = network();
    const device = offlineDevice(proxy.url, { via });
    await device.settle();
    state.isOff = true;
    await device.write(spare[0]!, { status: 'WISH' });
    expect(await device.run()).toEqual({ problem: 'offline', retryAfter: 0 });
    expect(seen).toEqual([]);
    const { outbox } = device.stored;
    outbox.write = () => Promise.reject(new Error('no space'));
    await expect(device.write(spare[1]!, { status: 'WISH' })).rejects.toThrow('no space');
    expect(device.app().outbox.writes()).toHaveLength(1);
  });

  test('is sent also where the shelf cannot be stored, which is said', async () => {
    const device = offlineDevice(proxy.url);
    await device.settle();
    await device.write(spare[0]!, { status: 'WISH', comment: 'no space' });
    device.stored.shelf.write = () => Promise.reject(new Error('no space'));
    expect(await device.run()).toMatchObject({ problem: 'storage' });
    expect(await entryOf(spare[0]!)).toMatchObject({ comment: 'no space' });
    expect(statesOf(device)).toEqual([['made', undefined]]);
  });

  test('a request that is not answered ends, and its write waits', async () => {
    const deadline = new AbortController();
    vi.spyOn(AbortSignal, 'timeout').mockReturnValue(deadline.signal);
    const via: typeof fetch = (url, init) => {
      if (!(init?.headers as Record<string, string>)['idempotency-key']) return fetch(url, init);
      return new Promise((_, reject) => {
        init?.signal?.addEventListener('abort', () => reject(new Error('too late')));
        deadline.abort();
      });
    };
    const device = offlineDevice(proxy.url, { via });
    await device.settle();
    await device.write(spare[0]!, { status: 'WISH' });
    expect(await device.run()).toMatchObject({ problem: 'offline' });
    expect(statesOf(device)).toEqual([['waiting', undefined]]);
  });

  test('waits while no response says what time it is', async () => {
    const via: typeof fetch = async (url, init) => Response.json(await (await fetch(url, init)).json());
    const device = offlineDevice(proxy.url, { via });
    await device.settle();
    await device.write(spare[0]!, { status: 'WISH' });
    expect(await device.run()).toMatchObject({ problem: 'offline' });
    expect(device.app().outbox.writes()).toEqual([
      expect.not.objectContaining({ sentAt: expect.anything() as unknown }),
    ]);
  });

  test('a queue that is full says so and keeps what it has, also where two writes come at once', async () => {
    const rows = rowsInMemory();
    const queue = outboxIn(rows, () => undefined);
    for (let at = 0; at < MOST_WRITES - 1; at++) await queue.add(writeOf(`Book:${at}`));
    const two = await Promise.allSettled([queue.add(writeOf('Book:last')), queue.add(writeOf('Book:more'))]);
    expect(two.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect((two[1] as PromiseRejectedResult).reason).toMatchObject({
      message: expect.stringContaining('full') as string,
    });
    expect(await rows.all()).toHaveLength(MOST_WRITES);
    const [first] = queue.writes();
    await queue.decide(first!.key, 'forget');
    await queue.add(writeOf('Book:more'));
    expect(new Set(queue.writes().map(({ order }) => order)).size).toBe(MOST_WRITES);
  });

  test('has the writes of two windows in the order in which they were made, within one bound', async () => {
    const rows = rowsInMemory();
    const [one, two] = [outboxIn(rows, () => undefined), outboxIn(rows, () => undefined)];
    await Promise.all([one.load(), two.load()]);
    for (let at = 0; at < MOST_WRITES - 1; at++) await one.add(writeOf(`Book:${at}`));
    await two.add(writeOf('Book:last'));
    await one.load();
    expect(one.writes().at(-1)?.book.id).toBe('Book:last');
    await expect(two.add(writeOf('Book:more'))).rejects.toThrow('full');
  });

  test('a decision that was made in another window is not made again', async () => {
    const rows = rowsInMemory();
    await rows.write([['a', { ...writeOf('Book:1'), key: 'a', order: 1, state: 'unknown' }]]);
    const [one, two] = [outboxIn(rows, () => undefined), outboxIn(rows, () => undefined)];
    await Promise.all([one.load(), two.load()]);
    await one.decide('a', 'again');
    await two.decide('a', 'again');
    expect(await rows.all()).toHaveLength(1);
    expect(two.writes()).toEqual(one.writes());
  });

  test('a write that comes while the queue is read stays in it', async () => {
    const rows = rowsInMemory();
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const slow = {
      ...rows,
      async all() {
        const found = await rows.all();
        await held;
        return found;
      },
    };
    const queue = outboxIn(slow, () => undefined);
    const loading = queue.load();
    const adding = queue.add(writeOf('Book:1'));
    release();
    await Promise.all([loading, adding]);
    expect(queue.writes().map(({ book }) => book.id)).toEqual(['Book:1']);
    expect(await rows.all()).toHaveLength(1);
  });
});

const writeOf = (id: string): Parameters<ReturnType<typeof outboxIn>['add']>[0] => ({
  book: { id, title: id, authors: [], cover: null },
  kind: 'collect',
  variables: { book: id, status: 'READ' },
});

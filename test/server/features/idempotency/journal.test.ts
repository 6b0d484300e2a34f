import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { bookEndpoints } from '../../../../src/api/book.ts';
import { bookWrites } from '../../../../src/graph/book/book.settling.ts';
import { catalogService } from '../../../../src/graph/service/descriptor.ts';
import { createCancellationToken } from '../../../../src/lib/cancellation.ts';
import { createCallers } from '../../../../src/server/features/idempotency/callers.ts';
import { targetsOf } from '../../../../src/server/features/idempotency/store/names.ts';
import { type Journal, createJournal } from '../../../../src/server/features/idempotency/journal.ts';
import { addEvent } from '../../../../src/server/features/idempotency/store/entries.ts';
import type { KeyRun, Sending } from '../../../../src/server/features/idempotency/store/key-run.ts';
import { type KeyStore, createMemoryStore } from '../../../../src/server/features/idempotency/store/key-store.ts';
import { UpstreamFailure, UpstreamRejection } from '../../../../src/upstream/errors.ts';
import type { GuardedWrite, WriteRule } from '../../../../src/upstream/write-guard.ts';

const input = { id: '1', content: 'an annotation of the book', privacy: 'private' };

const annotate: Omit<GuardedWrite, 'send' | 'read'> = {
  endpoint: bookEndpoints.annotate,
  input,
  rule: bookWrites.annotate as WriteRule<object>,
  field: 'a',
  files: undefined,
  cancellation: createCancellationToken(),
  person: () => 'alice',
  onLate: () => undefined,
};
const times = { settleMs: 10, callTimeoutMs: 10, uploadTimeoutMs: 10 };
const callers = createCallers(1_000);
const errors = catalogService.errors;

const waiting = { cancellation: createCancellationToken(), begin: () => undefined };

/** By the run of some key. */
async function realSave(store: KeyStore, sending: Sending): Promise<number | undefined> {
  const key = { credential: 'token', person: undefined, key: randomUUID(), fingerprint: '' };
  const claim = await store.claim(key, waiting);
  return claim?.kind === 'run' ? claim.run.save(sending) : undefined;
}

/** The journal of a request with the key. `journal`: what earlier ones have recorded. */
function journalOver(
  store: KeyStore,
  journal?: string,
  save?: KeyRun['save'],
  owners: KeyRun['owners'] = ['alice'],
): Journal {
  const run: KeyRun = {
    id: 'key',
    owners,
    journal,
    savedAt: performance.now(),
    save: save ?? ((sending) => realSave(store, sending)),
    end: () => undefined,
  };
  const take = callers.takeFor({ caller: 'alice', cancellation: annotate.cancellation, parking: undefined });
  return createJournal({ run, store, times, take, errors });
}

const never = () => Promise.reject(new Error('not expected'));

test('a write whose process died after its turn, before its end was recorded, is found and not sent again', async () => {
  const annotations: object[] = [];
  let sent = 0;
  const write = {
    ...annotate,
    async send() {
      const record = { id: String(++sent), book_id: '1', content: input.content };
      annotations.unshift(record);
      return record;
    },
    read: async () => ({ annotations: [...annotations], total: annotations.length }) as never,
  };
  const store = createMemoryStore(1_000);
  let recorded = '';
  const first = await journalOver(store, undefined, ({ journal }) => {
    recorded = journal();
    return performance.now();
  }).write(write);
  expect(await journalOver(store, recorded).write(write)).toEqual(first);
  expect(sent).toBe(1);
});

test('a write is known by its field, and what another field has done is never taken for its own', async () => {
  const store = createMemoryStore(1_000);
  const first = journalOver(store);
  const read = async () => ({ annotations: [], total: 0 }) as never;
  await first.write({ ...annotate, field: 'b', read, send: async () => ({ id: 'of b' }) });
  const second = journalOver(store, JSON.stringify(first.entries()));
  expect(await second.write({ ...annotate, field: 'a', read, send: async () => ({ id: 'of a' }) })).toEqual({
    id: 'of a',
  });
  expect(await second.write({ ...annotate, field: 'b', read, send: never })).toEqual({ id: 'of b' });
});

test('a write with another input than the recorded one refuses the request, and sends nothing', async () => {
  const store = createMemoryStore(1_000);
  const first = journalOver(store);
  const read = async () => ({ annotations: [], total: 0 }) as never;
  await first.write({ ...annotate, read, send: async () => ({ id: '1' }) });
  const second = journalOver(store, JSON.stringify(first.entries()));
  const other = { ...annotate, input: { ...input, content: 'something else' }, read, send: never };
  await expect(second.write(other)).rejects.toThrow('another request');
  expect(second.refusal()).toMatchObject({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' });
  await expect(second.write({ ...annotate, field: 'c', read, send: never })).rejects.toThrow('another request');
});

const lost = () =>
  Promise.reject(
    new UpstreamFailure('UPSTREAM_RESULT_UNKNOWN', { service: 'catalog', request: 'a write' }, 'lost', {
      wasSent: true,
    }),
  );

/** The journal as it is after this time. */
const agedBy = (ms: number, journal: Journal) =>
  JSON.stringify(
    journal.entries().map((entry) => ({ ...entry, sentAt: entry.sentAt! - ms, endedAt: entry.endedAt! - ms })),
  );

/** A write whose response is lost, and the next request with its key when nothing of it can come any more. */
async function lose(store: KeyStore, write: Omit<GuardedWrite, 'send'>) {
  const first = journalOver(store);
  await expect(first.write({ ...write, send: lost })).rejects.toMatchObject({ code: 'UPSTREAM_RESULT_UNKNOWN' });
  const ageMs = 100;
  return (send: () => Promise<unknown>) => journalOver(store, agedBy(ageMs, first)).write({ ...write, send });
}

test('a write whose response is not kept keeps no other write of the request from being settled', async () => {
  const store = createMemoryStore(1_000);
  const first = journalOver(store);
  const read = async () => ({ annotations: [], total: 0 }) as never;
  await first.write({ ...annotate, field: 'a', read, send: async () => ({ id: 'of a' }) });
  const cut = first.entries().map((entry) => ({ ...entry, value: undefined, isCut: true }));
  const second = journalOver(store, JSON.stringify(cut));
  await expect(second.write({ ...annotate, field: 'a', read, send: never })).rejects.toMatchObject({
    extensions: { code: 'IDEMPOTENCY_KEY_UNKNOWN' },
  });
  expect(await second.write({ ...annotate, field: 'b', read, send: async () => ({ id: 'of b' }) })).toEqual({
    id: 'of b',
  });
  expect(second.refusal()).toBeUndefined();
});

test('a book that was taken off the shelf since is not put on it again by a late retry', async () => {
  const store = createMemoryStore(1_000);
  const onShelf: { record: object | null } = { record: null };
  const shelf = { ...annotate, input: { id: '1', status: 'wish' }, read: async () => onShelf.record as never };
  const retry = await lose(store, { ...shelf, rule: bookWrites.collect as WriteRule<object> });
  onShelf.record = { id: '9', status: 'wish' };
  const removal = { ...shelf, field: 'b', rule: bookWrites.deleteCollection as WriteRule<object> };
  await journalOver(store).write({ ...removal, send: async () => ({}) });
  onShelf.record = null;
  await expect(retry(never)).rejects.toMatchObject({ code: 'UPSTREAM_RESULT_UNKNOWN' });
});

test('a book that certainly was not put on the shelf is put on it by a late retry', async () => {
  const store = createMemoryStore(1_000);
  const shelf = { ...annotate, input: { id: '1', status: 'wish' }, read: async () => null as never };
  const retry = await lose(store, { ...shelf, rule: bookWrites.collect as WriteRule<object> });
  expect(await retry(async () => ({ id: '9' }))).toEqual({ id: '9' });
});

test('a deletion is not forgotten because of many writes after it', async () => {
  const store = createMemoryStore(1_000);
  const read = async () => ({ annotations: [], total: 0 }) as never;
  const retry = await lose(store, { ...annotate, read });
  const targets = targetsOf(['alice'], 'annotations');
  void store.changeTargets(targets, (each, at) => addEvent(each, { at }));
  for (let id = 0; id < 100; id++) void store.changeTargets(targets, (each, at) => addEvent(each, { at, id: `${id}` }));
  await expect(retry(never)).rejects.toMatchObject({ code: 'UPSTREAM_RESULT_UNKNOWN' });
});

test('a write that the service rejected does not make an earlier one overtaken', async () => {
  const store = createMemoryStore(1_000);
  const record = { id: '9', status: 'wish' };
  const shelf = { ...annotate, input: { id: '1', status: 'read' }, read: async () => record as never };
  const rule = bookWrites.updateCollection as WriteRule<object>;
  const retry = await lose(store, { ...shelf, rule });
  const details = { service: 'catalog', request: 'a write', status: 403, code: 1, message: 'no' } as const;
  const rejected = () => Promise.reject(new UpstreamRejection(details));
  await expect(journalOver(store).write({ ...shelf, field: 'b', rule, send: rejected })).rejects.toBeInstanceOf(
    UpstreamRejection,
  );
  expect(await retry(async () => record)).toEqual(record);
});

test('a rejection is told again by what its code means now, and its row is not kept', async () => {
  const store = createMemoryStore(1_000);
  const read = async () => ({ annotations: [], total: 0 }) as never;
  const row = errors[1001]!;
  const details = {
    service: 'catalog',
    request: 'a write',
    status: 404,
    code: 1001,
    row: { ...row, client: 'OLD' },
  } as const;
  const first = journalOver(store);
  const send = () => Promise.reject(new UpstreamRejection(details));
  await expect(first.write({ ...annotate, read, send })).rejects.toBeInstanceOf(UpstreamRejection);
  const kept = JSON.stringify(first.entries());
  expect(kept).not.toContain('OLD');
  const again = journalOver(store, kept).write({ ...annotate, read, send: never });
  await expect(again).rejects.toMatchObject({ details: { code: 1001, row } });
});

test('a write with a key of the token is overtaken by one with a key of the person, and not sent again', async () => {
  const store = createMemoryStore(1_000);
  // It is as before when it is read again, because it was changed twice.
  const read = async () => ({ id: '9', status: 'wish' }) as never;
  const rule = bookWrites.updateCollection as WriteRule<object>;
  const shelf = { ...annotate, input: { id: '1', status: 'read' }, read, rule };
  const first = journalOver(store, undefined, undefined, ['token']);
  await expect(first.write({ ...shelf, send: lost })).rejects.toMatchObject({ code: 'UPSTREAM_RESULT_UNKNOWN' });
  const ofPerson = journalOver(store, undefined, undefined, ['alice', 'token']);
  await ofPerson.write({ ...shelf, field: 'b', send: async () => ({}) });
  const retry = journalOver(store, agedBy(100, first), undefined, ['token', 'alice']);
  await expect(retry.write({ ...shelf, send: never })).rejects.toMatchObject({ code: 'UPSTREAM_RESULT_UNKNOWN' });
});

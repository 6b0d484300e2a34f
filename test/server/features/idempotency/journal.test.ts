import { expect, test } from 'vitest';
import { bookEndpoints } from '../../../../src/api/book.ts';
import { eventEndpoints } from '../../../../src/api/event.ts';
import { bookWrites } from '../../../../src/graph/book/book.settling.ts';
import { eventWrites } from '../../../../src/graph/event/event.settling.ts';
import { catalogService } from '../../../../src/graph/service/descriptor.ts';
import { createCancellationToken } from '../../../../src/lib/cancellation.ts';
import { createJournal } from '../../../../src/server/features/idempotency/journal.ts';
import { missingSince, readJournal } from '../../../../src/server/features/idempotency/journal-entry.ts';
import type { KeyedRequest } from '../../../../src/server/features/idempotency/keyed-write.ts';
import { secretsOf } from '../../../../src/server/features/idempotency/store/seal.ts';
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
const times = { upstreamSettleMs: 10, callTimeoutMs: 10, uploadTimeoutMs: 10 };
const errors = catalogService.errors;
const key = { ...secretsOf('a key of sixteen'), fingerprint: '' };

/** The journal of a request with the key. `recorded`: what earlier ones have recorded, at `savedAt`. */
function journalOver(recorded?: string, more: Partial<KeyedRequest> = {}, savedAt = performance.now()) {
  const entries = readJournal(recorded, savedAt);
  const journal = createJournal({ key, times, errors, record: async () => performance.now(), ...more }, entries);
  return { ...journal, entries: () => [...entries.values()] };
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
  let recorded = '';
  const before = journalOver(undefined, {
    record: async () => {
      recorded = JSON.stringify(before.entries());
      return performance.now();
    },
  });
  const first = await before.write(write);
  expect(await journalOver(recorded).write(write)).toEqual(first);
  expect(sent).toBe(1);
});

test('a write is known by its field, and what another field has done is never taken for its own', async () => {
  const first = journalOver();
  const read = async () => ({ annotations: [], total: 0 }) as never;
  await first.write({ ...annotate, field: 'b', read, send: async () => ({ id: 'of b' }) });
  const second = journalOver(JSON.stringify(first.entries()));
  expect(await second.write({ ...annotate, field: 'a', read, send: async () => ({ id: 'of a' }) })).toEqual({
    id: 'of a',
  });
  expect(await second.write({ ...annotate, field: 'b', read, send: never })).toEqual({ id: 'of b' });
});

test('a write with another input than the recorded one refuses the request, and sends nothing', async () => {
  const first = journalOver();
  const read = async () => ({ annotations: [], total: 0 }) as never;
  await first.write({ ...annotate, read, send: async () => ({ id: '1' }) });
  const second = journalOver(JSON.stringify(first.entries()));
  const other = { ...annotate, input: { ...input, content: 'something else' }, read, send: never };
  await expect(second.write(other)).rejects.toThrow('something else');
  expect(second.refusal()).toMatchObject({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' });
  await expect(second.write({ ...annotate, field: 'c', read, send: never })).rejects.toThrow('something else');
});

const lost = () =>
  Promise.reject(
    new UpstreamFailure('UPSTREAM_RESULT_UNKNOWN', { service: 'catalog', request: 'a write' }, 'lost', {
      wasSent: true,
    }),
  );

/** The journal as it is after this time. */
const agedBy = (ms: number, journal: ReturnType<typeof journalOver>) =>
  JSON.stringify(
    journal.entries().map((entry) => ({ ...entry, sentAt: entry.sentAt! - ms, endedAt: entry.endedAt! - ms })),
  );

/** A write whose response is lost, and the next request with its key when nothing of it can come any more. */
async function lose(write: Omit<GuardedWrite, 'send'>) {
  const first = journalOver();
  await expect(first.write({ ...write, send: lost })).rejects.toMatchObject({ code: 'UPSTREAM_RESULT_UNKNOWN' });
  const ageMs = 100;
  return (send: () => Promise<unknown>) => journalOver(agedBy(ageMs, first)).write({ ...write, send });
}

test('a book that certainly was not put on the shelf is put on it by a late retry', async () => {
  const shelf = { ...annotate, input: { id: '1', status: 'wish' }, read: async () => null as never };
  const retry = await lose({ ...shelf, rule: bookWrites.collect as WriteRule<object> });
  expect(await retry(async () => ({ id: '9' }))).toEqual({ id: '9' });
});

test('a write that was not carried out stays unknown if the service could not be read before it', async () => {
  let reads = 0;
  const read = async () => {
    if (++reads === 1) throw new Error('no response in time');
    return { status: 'wish' } as never;
  };
  const rule = eventWrites.unwish as WriteRule<object>;
  const retry = await lose({ ...annotate, endpoint: eventEndpoints.unwish, input: { id: '1' }, rule, read });
  const outcome = { code: 'UPSTREAM_RESULT_UNKNOWN', retryAfter: undefined, details: { lookAt: 'GET /event/1' } };
  await expect(retry(never)).rejects.toMatchObject(outcome);
  expect(reads).toBe(3);
});

/** Not on the shelf before, so that its absence is certain. */
const onShelf = {
  ...annotate,
  input: { id: '1', status: 'wish' },
  rule: bookWrites.collect as WriteRule<object>,
  read: async () => null as never,
};

test('a retry that comes too early does not put off when a write may be sent again whose process died', async () => {
  let recorded = '';
  const died = journalOver(undefined, {
    record: async () => {
      recorded = JSON.stringify(died.entries());
      return 0;
    },
  });
  await expect(died.write({ ...onShelf, send: lost })).rejects.toMatchObject({ code: 'UPSTREAM_RESULT_UNKNOWN' });
  const early = journalOver(recorded, { record: async () => 1_000 }, 0);
  await expect(early.write({ ...onShelf, send: never })).rejects.toMatchObject({ retryAfter: 2 });
  const late = journalOver(JSON.stringify(early.entries()), { record: async () => 3_000 }, 1_000);
  expect(await late.write({ ...onShelf, send: async () => ({ id: '9' }) })).toEqual({ id: '9' });
});

test('while the service cannot be read, a lost write is to be asked for again, however late it is', async () => {
  const first = journalOver();
  await expect(first.write({ ...onShelf, send: lost })).rejects.toMatchObject({ code: 'UPSTREAM_RESULT_UNKNOWN' });
  const read = () =>
    Promise.reject(new UpstreamFailure('UPSTREAM_UNAVAILABLE', { service: 'catalog', request: 'a read' }, 'down', {}));
  const retry = journalOver(agedBy(60_000, first)).write({ ...onShelf, read, send: never });
  await expect(retry).rejects.toMatchObject({ code: 'UPSTREAM_RESULT_UNKNOWN', retryAfter: 1 });
});

test('a rejection is repeated by what its code means now, and its row is not kept', async () => {
  const read = async () => ({ annotations: [], total: 0 }) as never;
  const row = errors[1001]!;
  const details = {
    service: 'catalog',
    request: 'a write',
    status: 404,
    code: 1001,
    row: { ...row, client: 'OLD' },
  } as const;
  const first = journalOver();
  const send = () => Promise.reject(new UpstreamRejection(details));
  await expect(first.write({ ...annotate, read, send })).rejects.toBeInstanceOf(UpstreamRejection);
  const kept = JSON.stringify(first.entries());
  expect(kept).not.toContain('OLD');
  const again = journalOver(kept).write({ ...annotate, read, send: never });
  await expect(again).rejects.toMatchObject({ details: { code: 1001, row } });
});

test('a denied write is not recorded: with another token it is made', async () => {
  const read = async () => ({ annotations: [], total: 0 }) as never;
  for (const status of [401, 403]) {
    const first = journalOver();
    const details = {
      service: 'catalog',
      request: 'a write',
      status,
      code: 1000,
      row: errors[1000],
      message: 'no',
    } as const;
    const send = () => Promise.reject(new UpstreamRejection(details));
    await expect(first.write({ ...annotate, read, send })).rejects.toBeInstanceOf(UpstreamRejection);
    expect(first.entries()).toEqual([]);
  }
});

test('a write of a journal that may lack it is looked for, and never sent', async () => {
  const shelf = {
    ...annotate,
    input: { id: '1', status: 'wish' },
    rule: bookWrites.updateCollection as WriteRule<object>,
  };
  const journal = () => journalOver(JSON.stringify([missingSince(0)]));
  const absent = { ...shelf, read: async () => ({ id: '9', status: 'read' }) as never, send: never };
  await expect(journal().write(absent)).rejects.toMatchObject({ code: 'UPSTREAM_RESULT_UNKNOWN' });
  const record = { id: '9', status: 'wish' };
  expect(await journal().write({ ...shelf, read: async () => record as never, send: never })).toEqual(record);
});

test('a write whose journal cannot be stored is not sent', async () => {
  const read = async () => ({ annotations: [], total: 0 }) as never;
  const outcomes = {
    lost: 'IDEMPOTENCY_IN_PROGRESS',
    full: 'TOO_MANY_IDEMPOTENCY_KEYS',
    '': 'IDEMPOTENCY_UNAVAILABLE',
  } as const;
  for (const [reply, code] of Object.entries(outcomes)) {
    const journal = journalOver(undefined, { record: async () => (reply || undefined) as 'lost' });
    await expect(journal.write({ ...annotate, read, send: never })).rejects.toMatchObject({ extensions: { code } });
    expect([journal.entries(), journal.hasSent()]).toEqual([[], false]);
  }
});

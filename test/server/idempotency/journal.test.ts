import { expect, test } from 'vitest';
import { bookEndpoints } from '../../../src/api/book.ts';
import { annotationSettling } from '../../../src/graph/book/book.settling.ts';
import { createCancellationToken } from '../../../src/lib/cancellation.ts';
import { createCallers } from '../../../src/server/idempotency/callers.ts';
import { type Journal, createJournal } from '../../../src/server/idempotency/journal.ts';
import { createMemoryStore } from '../../../src/server/idempotency/store/memory-store.ts';
import type { KeyRun, KeyStore } from '../../../src/server/idempotency/store/key-store.ts';
import type { GuardedWrite, WriteRule } from '../../../src/upstream/write-guard.ts';

const input = { id: '1', content: 'an annotation of the book', privacy: 'private' };

const annotate: Omit<GuardedWrite, 'send' | 'read'> = {
  endpoint: bookEndpoints.annotate,
  input,
  rule: annotationSettling.create as WriteRule<object>,
  field: 'a',
  files: undefined,
  cancellation: createCancellationToken(),
  person: () => 'alice',
  onLate: () => undefined,
};
const times = { settleMs: 10, callTimeoutMs: 10, uploadTimeoutMs: 10 };
const callers = createCallers(1_000);

/** The journal of a request with the key. `journal`: what earlier ones have recorded. */
function journalOver(store: KeyStore, journal?: string, save?: KeyRun['save']): Journal {
  const run: KeyRun = {
    id: 'key',
    owners: ['alice'],
    journal,
    savedAt: performance.now(),
    save: save ?? (() => performance.now()),
    end: () => undefined,
  };
  const waitFor = (target: string) => callers.wait('alice', target, annotate.cancellation, undefined);
  return createJournal({ run, store, times, waitFor });
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
  const first = await journalOver(store, undefined, (journal) => {
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

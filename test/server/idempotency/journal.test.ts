import { expect, test } from 'vitest';
import { bookEndpoints } from '../../../src/api/book.ts';
import { createCancellationToken } from '../../../src/lib/cancellation.ts';
import { type JournalEntry, createJournal } from '../../../src/server/idempotency/journal.ts';
import { createMemoryStore } from '../../../src/server/idempotency/memory-store.ts';
import type { KeyStore } from '../../../src/server/idempotency/store.ts';

const key = { fingerprint: 'fingerprint', secret: 'secret', token: 'token' };
const input = { id: '1', content: 'an annotation of the book', privacy: 'private' };

const annotate = {
  endpoint: bookEndpoints.annotate,
  input,
  files: undefined,
  cancellation: createCancellationToken(),
  person: () => 'alice',
};

const never = () => Promise.reject(new Error('not expected'));

test('a write that the service has carried out counts as sent, whatever fails after its response', async () => {
  const memory = createMemoryStore(1_000);
  const store: KeyStore = {
    ...memory,
    async takeTurn(...given) {
      const turn = await memory.takeTurn(...given);
      return turn && { ...turn, state: { ...turn.state, created: undefined as never } };
    },
  };
  const write = { ...annotate, send: async () => ({ id: '1' }), read: async () => ({ annotations: [] }) as never };
  const settings = { quietMs: 10, callTimeoutMs: 10 };
  const first = createJournal(key, store, settings, [], 'alice');
  await expect(first.write(write)).rejects.toThrow();

  const again = { ...write, send: never };
  expect(await createJournal(key, memory, settings, first.entries(), 'alice').write(again)).toEqual({ id: '1' });
});

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
    read: async () => ({ annotations: [...annotations] }) as never,
  };
  let recorded = '';
  const memory = createMemoryStore(1_000);
  const store: KeyStore = {
    ...memory,
    save(of, journal, ...rest) {
      recorded = journal();
      return memory.save(of, journal, ...rest);
    },
  };
  const settings = { quietMs: 10, callTimeoutMs: 10 };
  const first = await createJournal(key, store, settings, [], 'alice').write(write);

  const inherited = JSON.parse(recorded) as JournalEntry[];
  const second = await createJournal(key, store, settings, inherited, 'alice').write(write);
  expect(second).toEqual(first);
  expect(sent).toBe(1);
});

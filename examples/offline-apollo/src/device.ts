/** What this device keeps, and when it is compared with the service. */
import { type ApolloClient, gql } from '@apollo/client';
import { BookDocument, CollectDocument, UpdateCollectionDocument } from 'catalog-graphql-client';
import { createStore, promisifyRequest } from 'idb-keyval';
import { type NewWrite, type QueuedWrite, type Written, isToBeSent, outboxIn } from './offline/outbox.ts';
import { type Rows, rowsInMemory } from './offline/rows.ts';
import { serviceAt } from './offline/service.ts';
import { type Entry, shelfCopy } from './offline/shelf-copy.ts';
import { type Run, notStored, syncOf } from './offline/sync.ts';
import { READER, token } from './session.ts';

/** A table in IndexedDB. */
function rowsIn(name: string): Rows {
  const store = createStore(name, 'rows');
  const memory = rowsInMemory();
  // A browser may refuse storage, also by an exception of `open`.
  const isStored = Promise.resolve()
    .then(() => store('readonly', (rows) => promisifyRequest(rows.count())))
    .then(
      () => true,
      () => false,
    );
  return {
    async all() {
      if (!(await isStored)) return memory.all();
      return store('readonly', async (rows) => {
        const [keys, values] = await Promise.all([
          promisifyRequest(rows.getAllKeys()),
          promisifyRequest(rows.getAll()),
        ]);
        return keys.map((key, at) => [key as string, values[at] as unknown] as [string, unknown]);
      });
    },
    async write(put, remove = []) {
      if (!(await isStored)) return memory.write(put, remove);
      await store('readwrite', (rows) => {
        for (const key of remove) rows.delete(key);
        for (const [key, value] of put) rows.put(value, key);
        return promisifyRequest(rows.transaction);
      });
    },
  };
}

const listeners = new Set<() => void>();
const tell = () => {
  state = { shelf: shelf.state(), writes: outbox.writes(), run };
  for (const listener of listeners) listener();
};
const shelf = shelfCopy(rowsIn('shelf'), tell);
const outbox = outboxIn(rowsIn('outbox'), tell);
let run: Run = { problem: null, retryAfter: 0 };
let state = { shelf: shelf.state(), writes: outbox.writes(), run };

/** Whether this visit has made the facade know the person. */
let isNamed = false;
const AGAIN_MS = 5_000;
let timer: ReturnType<typeof setTimeout> | undefined;
let running: Promise<void> | undefined;
let isAskedAgain = false;

/** Begins to compare: now, when the network is back, when the app is looked at again. */
async function start(client: ApolloClient): Promise<void> {
  const service = serviceAt('/graphql', () => ({ authorization: `Bearer ${token()}` }));
  const send = async (write: QueuedWrite) => {
    const answer = await service.send(write);
    if (answer?.data) showOnPages(client, answer.data, write);
    return answer;
  };
  const onRemoved = (entries: readonly Entry[]) => forgetOnPages(client, entries);
  const sync = syncOf({ user: READER, shelf, outbox, service: { ...service, send }, onRemoved });
  const compare = async (isAnew: boolean) => (run = await exclusively(() => sync(isAnew)).catch(() => notStored));
  const once = async () => {
    clearTimeout(timer);
    // Windows of one browser share what is kept: one after the other.
    await compare(false);
    if (run.problem === null && !isNamed) {
      isNamed = true;
      if (await nameCaller(client, shelf.state().entries)) await compare(true);
    }
    tell();
    const isOpen =
      ['offline', 'storage'].includes(run.problem ?? '') ||
      state.writes.some((write, _, writes) => write.state === 'made' || isToBeSent(write, writes));
    if (isOpen) timer = setTimeout(() => void refresh(), Math.max(AGAIN_MS, run.retryAfter * 1_000));
  };
  refresh = async () => {
    if (running) isAskedAgain = true;
    running ??= once().finally(() => (running = undefined));
    await running;
    if (isAskedAgain) {
      isAskedAgain = false;
      await refresh();
    }
  };
  window.addEventListener('online', () => void refresh());
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && void refresh());
  await Promise.all([shelf.load(), outbox.load()]).catch(() => undefined);
  void refresh();
}
let refresh = async (): Promise<void> => undefined;

const exclusively = <Result>(act: () => Promise<Result>): Promise<Result> =>
  'locks' in navigator ? (navigator.locks.request('sync', act) as Promise<Result>) : act();

/**
 * A facade that does not know yet whose token it is does not say which entries are private. The entry on the page of a book names the person:
 * then the shelf is read again as a whole. Returns whether it has to be.
 */
async function nameCaller(client: ApolloClient, entries: readonly Entry[]): Promise<boolean> {
  const book = entries.find(({ isPrivate }) => isPrivate === null)?.book;
  if (!book) return false;
  const asked = client.query({ query: BookDocument, variables: { id: book.id }, fetchPolicy: 'network-only' });
  return asked.then(
    () => true,
    () => false,
  );
}

/** The pages in the cache of Apollo Client show what was written. */
function showOnPages(client: ApolloClient, data: Written, { variables }: QueuedWrite): void {
  const query = 'collectBook' in data ? CollectDocument : UpdateCollectionDocument;
  client.cache.write({ query, dataId: 'ROOT_MUTATION', result: data, variables });
}

const noEntry = gql`
  fragment NoEntry on Book {
    viewerCollection {
      id
    }
  }
`;
function forgetOnPages(client: ApolloClient, entries: readonly Entry[]): void {
  for (const { book } of entries) {
    const from = { __typename: 'Book', id: book?.id };
    if (book)
      client.cache.writeFragment({ fragment: noEntry, from, data: { __typename: 'Book', viewerCollection: null } });
  }
}

export const device = {
  start,
  subscribe: (listener: () => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
  read: () => state,
  refresh: () => refresh(),
  /** Stored at once, sent when it can be. */
  async write(write: NewWrite): Promise<void> {
    await outbox.add(write);
    void refresh();
  },
  async decide({ key, book }: QueuedWrite, what: 'again' | 'forget'): Promise<void> {
    // The shelf may not have what the write was told of.
    if (what === 'again') await refresh();
    const entry = shelf.state().entries.find((each) => each.book?.id === book.id);
    await outbox.decide(key, what, entry);
    void refresh();
  },
};

/**
 * Writes that the service has not confirmed. Each is stored before it is sent, with the key of all its attempts, so that it is made once.
 * No clock of the device is read: how long ago a write was sent is told by the service.
 */
import type {
  CollectMutation,
  CollectMutationVariables,
  UpdateCollectionMutation,
  UpdateCollectionMutationVariables,
} from 'catalog-graphql-client';
import { retryByCode } from 'catalog-graphql-client/errors';
import type { Rows } from './rows.ts';
import type { Entry } from './shelf-copy.ts';

/** The facade keeps what came of a key for a day, `IDEMPOTENCY_TTL_SECONDS`. Later the same key would make the write again. */
export const KEPT_MS = 23 * 3_600_000;

/** A queue that is full takes no more: the person is told, and nothing in it is lost. */
export const MOST_WRITES = 500;

/** What a person changes of an entry. */
export type Change = Omit<UpdateCollectionMutationVariables, 'book' | 'unchangedSince'>;

/** `collect`: of a book that is not on the shelf. `change`: what was tapped and nothing else, of the entry that was shown. */
export type NewWrite = {
  /** What is shown of the book if it is not on the shelf yet. */
  book: NonNullable<Entry['book']>;
  /** The entry that was shown. */
  before?: Entry;
} & (
  | { kind: 'collect'; variables: CollectMutationVariables }
  | { kind: 'change'; variables: UpdateCollectionMutationVariables }
);

export type QueuedWrite = NewWrite & {
  key: string;
  /** In which writes are sent. */
  order: number;
  /** When it was sent first, or before, by the clock of the service. */
  sentAt?: number;
  /**
   * - `waiting`   to be sent, or to be sent again
   * - `unknown`   it may have been made, and is not sent again: the person must look
   * - `rejected`  it was not made, and `says` has why
   * - `conflict`  it was not made, because the entry was changed elsewhere: `now` has what differs
   * - `gone`      it was not made, because the entry was removed elsewhere
   * - `made`      confirmed; shown until the shelf tells it
   */
  state: 'waiting' | 'unknown' | 'rejected' | 'conflict' | 'gone' | 'made';
  says?: string;
  now?: Change;
  /** Of the entry, as this write or the conflict found it. */
  revision?: string;
};

export type Written = CollectMutation | UpdateCollectionMutation;

interface GraphError {
  message: string;
  extensions?: {
    code?: string;
    retryAfter?: number;
    upstream?: { lookAt?: string };
    current?: Change;
    revision?: string;
  };
}
export interface Answer<Data> {
  data?: Data | null;
  errors?: GraphError[];
  /** When it was made, in milliseconds by the clock of the service; null if it does not say. */
  serviceTime: number | null;
  /** In seconds. */
  retryAfter: number;
}
/** Undefined without an answer: no connection. */
export type Send = (write: QueuedWrite) => Promise<Answer<Written> | undefined>;

/** Why sending stopped. */
export type Stop = { isLoginNeeded: boolean; retryAfter: number };

export interface Outbox {
  /** In their order. */
  writes(): readonly QueuedWrite[];
  load(): Promise<void>;
  /** Rejects if the queue is full or cannot be stored: then the write is not kept. */
  add(write: NewWrite): Promise<void>;
  /** Sends what waits, one after the other. Undefined if nothing waits any more. */
  sendAll(send: Send, serviceTime: () => number | null): Promise<Stop | undefined>;
  /** What the person says of a write that was not simply made: to send it as a new one and then what waits behind it, or to forget all of that. `entry`: what the shelf has now. */
  decide(key: string, what: 'again' | 'forget', entry?: Entry): Promise<void>;
  /** Forgets what the shelf shows by itself, if it was read after these writes. */
  forgetShown(entries: readonly Entry[]): Promise<void>;
}

export function outboxIn(rows: Rows, onChange: () => void): Outbox {
  let writes: QueuedWrite[] = [];

  /** One after the other, so that what is stored and what is shown are the same. */
  let last: Promise<unknown> = Promise.resolve();
  function inTurn(act: () => Promise<void>): Promise<void> {
    const turn = last.then(act);
    last = turn.catch(() => undefined);
    return turn;
  }
  const change = (put: readonly QueuedWrite[], remove?: readonly string[]) => inTurn(() => store(put, remove));

  async function store(put: readonly QueuedWrite[], remove: readonly string[] = []): Promise<void> {
    await rows.write(
      put.map((write) => [write.key, write] as const),
      remove,
    );
    const changed = new Map(writes.map((write) => [write.key, write]));
    for (const key of remove) changed.delete(key);
    for (const write of put) changed.set(write.key, write);
    writes = [...changed.values()].sort((one, other) => one.order - other.order);
    onChange();
  }
  const nextOrder = () => (writes.at(-1)?.order ?? 0) + 1;
  /** Another window may have changed what is stored. */
  async function read(): Promise<void> {
    writes = (await rows.all()).map(([, value]) => value as QueuedWrite);
    writes.sort((one, other) => one.order - other.order);
  }

  /** False if the write must wait, because nothing has told yet what time it is. */
  async function isReady(write: QueuedWrite, now: number | null): Promise<boolean> {
    if (now === null) return false;
    if (write.sentAt === undefined) await change([{ ...write, sentAt: now }]);
    else if (now - write.sentAt > KEPT_MS)
      await change([{ ...write, state: 'unknown', says: 'It was sent long ago, and what came of it is not known.' }]);
    return true;
  }

  /** Changes of the same entry that come after a write that is made: they are changes of what it wrote. */
  function following(made: QueuedWrite, { state, revision }: Result): QueuedWrite[] {
    if (state !== 'made' || revision === undefined) return [];
    return writes.flatMap((each): QueuedWrite[] => {
      if (each.kind !== 'change' || each.key === made.key || each.book.id !== made.book.id) return [];
      const isUnsent = each.state === 'waiting' && each.sentAt === undefined;
      return isUnsent ? [{ ...each, variables: { ...each.variables, unchangedSince: revision } }] : [];
    });
  }

  return {
    writes: () => writes,
    load: () =>
      inTurn(async () => {
        await read();
        onChange();
      }),
    add: (write) =>
      inTurn(async () => {
        await read();
        if (writes.length >= MOST_WRITES) throw new Error(`The queue is full: ${MOST_WRITES} changes wait.`);
        await store([{ ...write, key: crypto.randomUUID(), order: nextOrder(), state: 'waiting' }]);
      }),
    async sendAll(send, serviceTime) {
      const next = () => writes.find((each) => isToBeSent(each, writes));
      for (let write = next(); write; write = next()) {
        if (!(await isReady(write, serviceTime()))) return { isLoginNeeded: false, retryAfter: 0 };
        const { key } = write;
        const ready = writes.find((each) => each.key === key);
        if (ready?.state !== 'waiting') continue;
        if (ready.kind === 'change' && !ready.variables.unchangedSince) {
          await change([{ ...ready, state: 'rejected', says: 'What was there before this change is not known.' }]);
          continue;
        }
        const result = resultOf(await send(ready));
        if ('retryAfter' in result) return result;
        await change([{ ...ready, ...result }, ...following(ready, result)]);
      }
      return undefined;
    },
    decide: (key, what, entry) =>
      inTurn(async () => {
        await read();
        const write = writes.find((each) => each.key === key);
        if (!write) return onChange();
        const again = {
          ...againOf(write, entry),
          key: crypto.randomUUID(),
          order: write.order,
          state: 'waiting',
        } as const;
        const behind = writes.filter((each) => each.book.id === write.book.id && each.state === 'waiting');
        if (what === 'again') await store([again], [key]);
        else await store([], [key, ...behind.map((each) => each.key)]);
      }),
    async forgetShown(entries) {
      const isThere = (write: QueuedWrite) =>
        entries.some((entry) => entry.book?.id === write.variables.book && isAsWritten(entry, write));
      const shown = writes.filter((write) => write.state === 'made' || (write.state === 'unknown' && isThere(write)));
      const keys = shown.map(({ key }) => key);
      if (keys.length > 0) await change([], keys);
    },
  };
}

/** The write for a tap: `entry` is what the shelf has, `writes` are those of the queue. */
export function writeFor(
  book: NewWrite['book'],
  change: Change,
  entry: Entry | undefined,
  writes: readonly QueuedWrite[],
): NewWrite {
  const own = writes.filter((each) => each.book.id === book.id && !isUndecided(each));
  if (!entry && own.length === 0)
    return { kind: 'collect', book, variables: { status: 'READING', ...notNull(change), book: book.id } };
  const unchangedSince = own.findLast(({ revision }) => revision)?.revision ?? entry?.revision;
  return {
    kind: 'change',
    book,
    ...(entry && { before: entry }),
    variables: { ...change, book: book.id, unchangedSince },
  };
}

/** The same change of what is there now. A book that is no longer on the shelf is put back as it was shown. */
function againOf({ book, before, variables, state, revision }: QueuedWrite, entry: Entry | undefined): NewWrite {
  const { book: _, unchangedSince: __, ...change } = variables as UpdateCollectionMutationVariables;
  if (entry && state !== 'gone') return writeFor(book, change, { ...entry, revision: revision ?? entry.revision }, []);
  const { status, rating, comment, tagNames: tags } = before ?? {};
  // What may have been private does not come back for everybody.
  const isPrivate = before && (before.isPrivate ?? true);
  return writeFor(
    book,
    { ...notNull({ status, rating: rating?.value, comment, tags, isPrivate }), ...change },
    undefined,
    [],
  );
}

const notNull = <Values extends object>(values: Values) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value != null)) as {
    [Name in keyof Values]?: NonNullable<Values[Name]>;
  };

/** The person has to say what becomes of it. */
export const isUndecided = ({ state }: QueuedWrite) => state !== 'waiting' && state !== 'made';

/** What waits behind an undecided write of the same book is not sent: it is a change of what was not made. */
export const isToBeSent = ({ book, state }: QueuedWrite, writes: readonly QueuedWrite[]) =>
  state === 'waiting' && !writes.some((each) => each.book.id === book.id && isUndecided(each));

/** What an answer says of a write: what it is now, or why it waits. */
type Result = Pick<QueuedWrite, 'state' | 'says' | 'now' | 'revision'>;
function resultOf(answer: Answer<Written> | undefined): Result | Stop {
  if (!answer) return { isLoginNeeded: false, retryAfter: 0 };
  const { data, errors = [], retryAfter } = answer;
  const waits = errors.filter(isPassing);
  if (waits.length > 0) {
    const seconds = waits.map(({ extensions }) => extensions?.retryAfter ?? 0);
    const isLoginNeeded = waits.some(({ extensions }) => retryByCode[extensions?.code ?? ''] === 'login');
    return { isLoginNeeded, retryAfter: Math.max(retryAfter, ...seconds) };
  }
  const unknown = errors.find(({ extensions }) =>
    ['UPSTREAM_RESULT_UNKNOWN', 'IDEMPOTENCY_KEY_UNKNOWN'].includes(extensions?.code ?? ''),
  );
  if (unknown) return { state: 'unknown', says: unknown.message };
  const gone = errors.find(({ extensions }) => extensions?.code === 'COLLECTION_NOT_FOUND');
  if (gone) return { state: 'gone', says: gone.message };
  for (const { message: says, extensions: { code, current: now = {}, revision } = {} } of errors)
    if (code === 'CONFLICT') return { state: 'conflict', says, now, ...(revision && { revision }) };
  if (errors.length > 0) return { state: 'rejected', says: errors.map(({ message }) => message).join(' ') };
  const payload = data && ('updateCollection' in data ? data.updateCollection : data.collectBook);
  const revision = payload?.book?.viewerCollection?.revision;
  return { state: 'made', ...(revision && { revision }) };
}

/** Whether the same write with the same key may be sent later: nothing came of it yet, or another login or release of the app is needed. */
function isPassing({ extensions: { code = '', retryAfter } = {} }: GraphError): boolean {
  if (code === 'UPSTREAM_RESULT_UNKNOWN') return retryAfter !== undefined;
  return (
    ['later', 'login', 'text'].includes(retryByCode[code] ?? '') || ['PERSISTED_ONLY', 'CLIENT_TOO_OLD'].includes(code)
  );
}

const isAsWritten = (entry: Entry, { variables: { status, rating, tags, comment } }: QueuedWrite): boolean =>
  (status === undefined || entry.status === status) &&
  (rating === undefined || (entry.rating?.value ?? null) === rating) &&
  (comment === undefined || (entry.comment ?? '') === (comment ?? '')) &&
  (tags === undefined || JSON.stringify(entry.tagNames) === JSON.stringify([tags ?? []].flat()));

/** The shelf with what was written: last written first, then as it is. */
export function withWrites(entries: readonly Entry[], writes: readonly QueuedWrite[]): Entry[] {
  const shown = new Map(entries.map((entry) => [entry.book?.id ?? entry.id, entry]));
  const written = new Map<string, Entry>();
  for (const write of writes.filter((each) => each.state === 'made' || isToBeSent(each, writes))) {
    const { book, before, variables } = write;
    const { status, rating, tags, comment, isPrivate } = variables;
    const entry = written.get(book.id) ?? shown.get(book.id) ?? before ?? newEntry(book);
    const after = {
      ...entry,
      ...(status && { status }),
      ...(rating !== undefined && { rating: rating === null ? null : { value: rating, max: 5 } }),
      ...(comment !== undefined && { comment }),
      ...(tags !== undefined && { tagNames: [tags ?? []].flat() }),
      ...(isPrivate != null && { isPrivate }),
    };
    written.delete(book.id);
    written.set(book.id, after);
  }
  const others = entries.filter((entry) => !written.has(entry.book?.id ?? entry.id));
  return [...[...written.values()].reverse(), ...others];
}

const newEntry = (book: NewWrite['book']): Entry => ({
  ...{ id: `new:${book.id}`, book, status: null, rating: null, comment: null, tagNames: [], isPrivate: null },
  ...{ updatedAt: null, revision: '' },
});

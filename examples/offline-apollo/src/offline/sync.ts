/** One run: reads what changed on the shelf, sends what waits, and reads again what that has changed. */
import type { ShelfSyncQuery, ShelfSyncQueryVariables } from 'catalog-graphql-client';
import { retryByCode } from 'catalog-graphql-client/errors';
import type { Answer, Outbox, Send } from './outbox.ts';
import type { Entry, ShelfCopy } from './shelf-copy.ts';

export interface Service {
  /** Undefined without an answer of the facade. */
  changes(variables: ShelfSyncQueryVariables): Promise<Answer<ShelfSyncQuery> | undefined>;
  send: Send;
}

export interface Run {
  /** What to tell the person; null if all is well. `offline`: no connection, or the service is down. */
  problem: 'login' | 'update' | 'offline' | 'refused' | 'storage' | null;
  /** The seconds until the next run, if they are asked for. */
  retryAfter: number;
}

interface Device {
  user: string;
  shelf: ShelfCopy;
  outbox: Outbox;
  service: Service;
  /** Called with entries that are no longer on the shelf. */
  onRemoved?: (entries: readonly Entry[]) => void;
}

/** The device stores no more. The next run may be long after: it reads the same again. */
export const notStored: Run = { problem: 'storage', retryAfter: 60 };

/** A function that makes one run; anew, it reads the whole shelf. A run that is cut goes on in the next one, where it was. It rejects if the queue cannot be read or stored. */
export function syncOf({ user, shelf, outbox, service, onRemoved }: Device): (isAnew?: boolean) => Promise<Run> {
  let serviceTime: number | null = null;

  /** Undefined if it has reached the end. */
  async function readShelf(): Promise<Run | undefined> {
    for (let hasMore = true, isNew = false; hasMore;) {
      const since = shelf.since();
      const answer = await service.changes({ user, since });
      if (!answer) return { problem: 'offline', retryAfter: 0 };
      serviceTime = answer.serviceTime ?? serviceTime;
      const changes = answer.data?.user?.shelfChanges;
      if (!changes) {
        const codes = (answer.errors ?? []).map(({ extensions }) => extensions?.code ?? '');
        // Another release of the facade may not know what this one returned.
        if (codes.includes('BAD_USER_INPUT') && since !== null && !isNew) {
          isNew = true;
          shelf.forget();
          continue;
        }
        return { problem: problemOf(codes), retryAfter: answer.retryAfter };
      }
      const removed = await shelf.apply(changes, since).catch(() => undefined);
      if (!removed) return notStored;
      onRemoved?.(removed);
      ({ hasMore } = changes);
    }
    return undefined;
  }

  return async (isAnew = false) => {
    await shelf.load();
    if (isAnew) shelf.forget();
    await outbox.load();
    const failed = await readShelf();
    // A shelf that is refused, or is not stored, keeps no write from being made.
    if (failed && failed.problem !== 'refused' && failed !== notStored) return failed;
    const send: Send = async (write) => {
      const answer = await service.send(write);
      serviceTime = answer?.serviceTime ?? serviceTime;
      return answer;
    };
    const stop = await outbox.sendAll(send, () => serviceTime);
    const isChanged = outbox.writes().some(({ state }) => state === 'made');
    const again = isChanged ? await readShelf() : failed;
    if (!again) await outbox.forgetShown(shelf.state().entries);
    if (stop) return { problem: stop.isLoginNeeded ? 'login' : 'offline', retryAfter: stop.retryAfter };
    return again ?? { problem: null, retryAfter: 0 };
  };
}

function problemOf(codes: readonly string[]): Run['problem'] {
  if (codes.includes('CLIENT_TOO_OLD')) return 'update';
  if (codes.some((code) => retryByCode[code] === 'login')) return 'login';
  return codes.some((code) => retryByCode[code] === 'later') ? 'offline' : 'refused';
}

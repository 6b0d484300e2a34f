/**
 * Locks of changes: between the read and the PUT of an update, nobody else's update of the record is made. A lock is named by the record and
 * the owner that the caller's own read has named. In this process updates wait, those of each token in order and the tokens in turn;
 * processes that share a store have a lease in it, which ends soon after its holder died.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { CancellationToken } from '../lib/cancellation.ts';
import { atMost } from '../lib/remember.ts';
import type { Credential } from './auth/credentials.ts';
import { NotMade } from './errors.ts';
import { type Semaphore, createSemaphore } from './limits/semaphore.ts';

export interface ChangeLock {
  /** Another change has ended since the record was read. */
  readonly isOvertaken: boolean;
  readonly leave: () => void;
}

/** A lock in a store, with times by its clock. */
export interface Lease {
  readonly now: number;
  /** When the last change before it ended, as far as that is known. */
  readonly endedAt: number;
  readonly leave: () => void;
}

/** Takes the lease of a lock; undefined if the store cannot be reached. */
export type TakeLease = (name: string) => Promise<Lease | 'held' | undefined>;

/** An update that has read its record. */
export interface Changing {
  readonly record: string;
  readonly owner: string;
  /** The credential of the caller. */
  readonly credential: Pick<Credential, 'id'>;
  /** When its read began, by performance.now(). */
  readonly readAt: number;
  readonly cancellation: CancellationToken;
  /** The slot of the operation, which it has not while it waits. */
  readonly slot: { release: () => void; enter: () => Promise<void> } | undefined;
}

export interface ChangeLocks {
  share: (take: TakeLease) => void;
  /** Rejects if too many wait already, or the wait is too long. */
  take: (changing: Changing) => Promise<ChangeLock>;
}

/** Changes of one credential that wait for one record, and changes that wait for the records of one owner. */
const OF_RECORD_MAX = 16;
const OF_OWNER_MAX = 64;
/** Shorter than an operation may take, which then has time to say why it was not made. */
const WAIT_MS = 5_000;
/** Between two looks at a lease that another process holds. */
const LOOK_MS = 50;
/** Records whose last change is remembered. */
const ENDED_MAX = 10_000;

const inProgress = () =>
  new NotMade('CHANGE_IN_PROGRESS', 'Other changes of the record run, and too many wait, or for too long.', {
    retryAfter: 1,
  });

/** The locks of this process. */
function createOwnLocks() {
  const locks = new Map<string, Semaphore>();
  /** How many changes wait: of a credential for a record, and of all for the records of an owner. */
  const waiting = new Map<string, number>();

  function count(what: string, more: 1 | -1): void {
    const all = (waiting.get(what) ?? 0) + more;
    if (all > 0) waiting.set(what, all);
    else waiting.delete(what);
  }

  async function wait(name: string, lock: Semaphore, { owner, credential, cancellation }: Changing): Promise<void> {
    const own = `${credential.id} ${name}`;
    if ((waiting.get(own) ?? 0) >= OF_RECORD_MAX || (waiting.get(owner) ?? 0) >= OF_OWNER_MAX) throw inProgress();
    for (const each of [own, owner]) count(each, 1);
    const isMine = await lock.pass(credential, cancellation, WAIT_MS).catch(() => false);
    for (const each of [own, owner]) count(each, -1);
    if (!isMine) throw inProgress();
  }

  async function enter(name: string, changing: Changing): Promise<void> {
    const lock = locks.get(name) ?? createSemaphore(() => 1);
    locks.set(name, lock);
    if (lock.enter()) return;
    changing.slot?.release();
    await wait(name, lock, changing);
    await changing.slot?.enter().catch((error: unknown) => {
      leave(name);
      throw error;
    });
  }

  function leave(name: string): void {
    const lock = locks.get(name)!;
    lock.leave();
    if (lock.running() === 0) locks.delete(name);
  }

  return { enter, leave };
}

export function createChangeLocks(): ChangeLocks {
  const { enter, leave } = createOwnLocks();
  const ended = new LRUCache<string, number>(atMost(ENDED_MAX));
  let takeLease: TakeLease | undefined;

  async function leaseOf(name: string, { cancellation }: Changing): Promise<Lease | undefined> {
    const until = performance.now() + WAIT_MS;
    for (;;) {
      const lease = await takeLease?.(name).catch(() => undefined);
      if (lease !== 'held') return lease;
      if (cancellation.reason || performance.now() > until) throw inProgress();
      await sleep(LOOK_MS);
    }
  }

  return {
    share(take) {
      takeLease = take;
    },
    async take(changing) {
      const { record, owner, readAt } = changing;
      const name = `${owner} ${record}`;
      await enter(name, changing);
      let lease: Lease | undefined;
      try {
        if (takeLease) lease = await leaseOf(name, changing);
      } catch (error) {
        leave(name);
        throw error;
      }
      const isOvertakenHere = (ended.get(name) ?? 0) >= readAt;
      const isOvertakenElsewhere = lease !== undefined && lease.endedAt >= lease.now - (performance.now() - readAt);
      return {
        isOvertaken: isOvertakenHere || isOvertakenElsewhere,
        leave: () => {
          lease?.leave();
          ended.set(name, performance.now());
          leave(name);
        },
      };
    },
  };
}

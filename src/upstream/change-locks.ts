/**
 * Locks of changes: between the read and the PUT of an update, nobody else's update of the record is made. A lock is named by the record and
 * the owner that the caller's own read has named. In this process updates wait, those of each token in order and the tokens in turn;
 * processes that share a store have a lease in it, which ends soon after its holder died.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { type CancellationToken, unlessCancelled } from '../lib/cancellation.ts';
import { atMost } from '../lib/remember.ts';
import { ChangeInProgress } from './errors.ts';

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
  readonly credential: string;
  /** When its read began, by performance.now(). */
  readonly readAt: number;
  readonly cancellation: CancellationToken;
  /** The slot of the operation, which it has not while it waits. */
  readonly slot: { release: () => void; enter: () => Promise<void> } | undefined;
}

export interface ChangeLocks {
  share: (take: TakeLease) => void;
  /** Rejects with ChangeInProgress if too many wait already, or the wait is too long. */
  take: (changing: Changing) => Promise<ChangeLock>;
}

/** Changes of one credential that wait for one record, and changes that wait for the records of one owner. */
const OF_RECORD_MAX = 16;
const OF_OWNER_MAX = 64;
/** Shorter than an operation may take, which then has time to say why it was not made. */
const WAIT_MS = 5_000;
const LOOK_MS = 50;
/** Records whose last change is remembered. */
const ENDED_MAX = 10_000;

/** The changes that wait for a lock, by their credential: the first of the first is next. */
type Queue = Map<string, (() => void)[]>;

/** The locks of this process. */
function createQueues() {
  const queues = new Map<string, Queue>();
  const waitingOf = new Map<string, number>();

  function leave(name: string): void {
    const queue = queues.get(name)!;
    const [first] = queue;
    if (!first) return void queues.delete(name);
    const [credential, waiting] = first;
    const next = waiting.shift()!;
    queue.delete(credential);
    if (waiting.length > 0) queue.set(credential, waiting);
    next();
  }

  async function waitIn(queue: Queue, { owner, credential, cancellation }: Changing): Promise<void> {
    const waiting = queue.get(credential) ?? [];
    const ofOwner = waitingOf.get(owner) ?? 0;
    if (waiting.length >= OF_RECORD_MAX || ofOwner >= OF_OWNER_MAX) throw new ChangeInProgress();
    waitingOf.set(owner, ofOwner + 1);
    let isMine = false;
    let grant = (): void => undefined;
    const granted = new Promise<void>((resolve) => {
      grant = () => {
        isMine = true;
        resolve();
      };
    });
    queue.set(credential, [...waiting, grant]);
    const end = new AbortController();
    const tooLong = sleep(WAIT_MS, undefined, { signal: end.signal, ref: false }).catch(() => undefined);
    await unlessCancelled(Promise.race([granted, tooLong]), cancellation);
    end.abort();
    const left = waitingOf.get(owner)! - 1;
    if (left > 0) waitingOf.set(owner, left);
    else waitingOf.delete(owner);
    if (isMine) return;
    const others = queue.get(credential)!.filter((each) => each !== grant);
    if (others.length > 0) queue.set(credential, others);
    else queue.delete(credential);
    throw new ChangeInProgress();
  }

  return {
    leave,
    enter: async (name: string, changing: Changing): Promise<void> => {
      const queue = queues.get(name);
      if (!queue) return void queues.set(name, new Map());
      changing.slot?.release();
      await waitIn(queue, changing);
      await changing.slot?.enter().catch((error: unknown) => {
        leave(name);
        throw error;
      });
    },
  };
}

export function createChangeLocks(): ChangeLocks {
  const { enter, leave } = createQueues();
  const ended = new LRUCache<string, number>(atMost(ENDED_MAX));
  let takeLease: TakeLease | undefined;

  async function leaseOf(name: string, { cancellation }: Changing): Promise<Lease | undefined> {
    const until = performance.now() + WAIT_MS;
    for (;;) {
      const lease = await takeLease?.(name).catch(() => undefined);
      if (lease !== 'held') return lease;
      if (cancellation.reason || performance.now() > until) throw new ChangeInProgress();
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

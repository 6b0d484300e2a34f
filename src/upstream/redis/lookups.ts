/**
 * Looks up entries: all of a turn in one command, which also asks for the log of invalidations and takes leases. A reader whose entry is
 * being read by another replica waits for it by looking it up again. All readers of one entry share a lookup, which is one of:
 *
 * | state   | why                           | next                                                                            |
 * | ------- | ----------------------------- | ------------------------------------------------------------------------------- |
 * | queued  | a reader needs the entry      | sent, at the end of the turn                                                    |
 * | sent    | Redis has not replied         | ended if no reader stays; waiting if another replica has the lease; else queued |
 * | waiting | another replica has the lease | queued, after 5 to 50 ms                                                        |
 *
 * What a reply means for a reader that came before the command was sent, by the lease that the reply tells:
 *
 * | lease         | the entry is enough | not enough, the reader may take a lease | not enough, it may not |
 * | ------------- | ------------------- | --------------------------------------- | ---------------------- |
 * | not looked up | answered            | stays; answered if `isUnstored`         | as on the left         |
 * | none          | answered            | stays; the next command takes the lease | answered, empty        |
 * | granted       | answered            | answered with the lease                 | answered, empty        |
 * | held          | answered            | stays, for 10 s                         | answered, empty        |
 *
 * "Not looked up": memory had enough when the command was sent, and it was invalidated since. Readers that came later stay. Without a reply
 * all are answered with what memory may serve.
 */
import { type CancellationListener, addListener, removeListener } from '../../lib/cancellation.ts';
import { atEndOfTurn } from '../../lib/event-loop.ts';
import {
  type CacheKey,
  type CacheLookup,
  type CacheReader,
  type MemoryCache,
  type VersionToken,
  hasMembers,
  isUsable,
} from '../cache/memory.ts';
import type { RedisCall } from './connection/channel.ts';
import type { RedisConnection } from './connection/connection.ts';
import { decodeEntry, isCovered } from './entries.ts';
import type { Invalidations, LogReply } from './invalidations.ts';
import { INVALIDATION_LIFE_MS, LEASE_MS, RECORDS_MAX, type RedisKeys, randomStep } from './keys.ts';
import type { Leases } from './leases.ts';
import { GRANTED, HELD, LOOK_UP, type LeaseReply, MODES, NONE } from './scripts/look-up.ts';
import { type Script, defineScript } from './scripts/script.ts';

/** How long a reader waits before it looks up again: at first, and at most. */
const FIRST_WAIT_MS = 5;
const LONGEST_WAIT_MS = 50;
/** Then a reader asks upstream by itself. */
const PATIENCE_MS = 10_000;

interface Waiting extends CancellationListener {
  reader: CacheReader;
  resolve: (lookup: CacheLookup) => void;
  /** When it began to wait for another replica; undefined before that. */
  since: number | undefined;
}

/** All readers of one entry that wait. */
interface Lookup {
  key: CacheKey;
  waiting: Waiting[];
  state: 'queued' | 'sent' | 'waiting';
  /** A fresh entry lacks fields: the lease is needed nevertheless. */
  isForced: boolean;
  waitMs: number;
}

export interface LookupParts {
  connection: RedisConnection;
  keys: RedisKeys;
  call: RedisCall;
  memory: MemoryCache;
  invalidations: Invalidations;
  leases: Leases;
  /** Removes an entry that cannot be read, to which nothing must be added. */
  discard: (key: CacheKey) => void;
}

export class Lookups {
  private readonly parts: LookupParts;
  private readonly lookUp: Script;
  private readonly lookups = new Map<string, Lookup>();
  /** Queued lookups; undefined where only the log is requested. */
  private readonly queue = atEndOfTurn<Lookup | undefined>((all) =>
    this.flush(all.filter((each) => each !== undefined)),
  );
  /** The next request for the log; all that wait for it share it. */
  private confirmation: { isKnown: Promise<boolean>; resolve: (isKnown: Promise<boolean>) => void } | undefined;
  private isConfirming = false;
  /** Number of the last request, and of the last one with a reply: memory has all that was invalidated before that was sent. */
  private sent = 0;
  private replied = 0;

  constructor(parts: LookupParts) {
    this.parts = parts;
    this.lookUp = defineScript(parts.connection, 'catalogLookUp', LOOK_UP);
  }

  moment(): number {
    return this.sent;
  }

  /** Whether the reader may use what is in memory: the log was requested after its operation began. */
  isCurrent({ since }: CacheReader): boolean {
    return this.replied > since;
  }

  /** Requests the log: true if memory has all that was invalidated before the call, false if Redis does not say. */
  confirm(): Promise<boolean> {
    if (this.confirmation) return this.confirmation.isKnown;
    // One at a time: the busier the process is, the more callers share a request.
    if (!this.isConfirming) this.queue.add(undefined);
    let resolve!: (isKnown: Promise<boolean>) => void;
    const isKnown = new Promise<boolean>((resolved) => (resolve = resolved));
    this.confirmation = { isKnown, resolve };
    return isKnown;
  }

  find(key: CacheKey, reader: CacheReader): Promise<CacheLookup> {
    return new Promise((resolve) => {
      const known = this.lookups.get(key.text);
      const lookup: Lookup = known ?? { key, waiting: [], state: 'queued', isForced: false, waitMs: FIRST_WAIT_MS };
      const onCancel = () => this.resolveAll(lookup, [waiting]);
      const waiting: Waiting = { reader, resolve, since: undefined, onCancel };
      lookup.waiting.push(waiting);
      if (known) return;
      this.lookups.set(key.text, lookup);
      this.enqueue(lookup);
    });
  }

  private enqueue(lookup: Lookup): void {
    lookup.state = 'queued';
    this.queue.add(lookup);
  }

  private flush(all: readonly Lookup[]): void {
    const { confirmation } = this;
    this.confirmation = undefined;
    let isKnown = this.send(all.slice(0, RECORDS_MAX));
    for (let at = RECORDS_MAX; at < all.length; at += RECORDS_MAX) isKnown = this.send(all.slice(at, at + RECORDS_MAX));
    if (!confirmation) return;
    this.isConfirming = true;
    confirmation.resolve(isKnown);
    const onEnd = () => {
      this.isConfirming = false;
      if (this.confirmation) this.queue.add(undefined);
    };
    isKnown.then(onEnd, onEnd);
  }

  /** Looks up what memory lacks, and requests the log on behalf of all. False if Redis does not answer. */
  private async send(all: readonly Lookup[]): Promise<boolean> {
    const { keys, memory, invalidations, leases, call } = this.parts;
    const number = ++this.sent;
    const missing = all.filter((lookup) => {
      lookup.state = 'sent';
      const entry = memory.find(lookup.key);
      return !lookup.waiting.every(({ reader }) => reader.isUnstored || isUsable(entry, reader));
    });
    const { names, placesOf } = keys.tableOf(missing.map(({ key }) => key));
    const values = [invalidations.known(), randomStep(), INVALIDATION_LIFE_MS, leases.owner, LEASE_MS, missing.length];
    for (const lookup of missing) values.push(placesOf(lookup.key), modeOf(lookup), this.ownFreshMs(lookup));
    const before = memory.version();
    const sentAt = performance.now();
    const reply = await call(
      () => this.lookUp(names, values) as Promise<LookupReply>,
      (late) => missing.forEach(({ key }, at) => late[4 + 2 * at] === GRANTED && leases.end(key)),
    );
    if (!reply) {
      for (const lookup of all) this.resolveAll(lookup, lookup.waiting);
      return false;
    }
    const [head, changes, redisNow, ...found] = reply;
    // What this process invalidated since the lookup may not be in the log yet.
    const isUntouched = memory.version() === before;
    invalidations.apply([head, changes]);
    this.replied = Math.max(this.replied, number);
    const version = isUntouched ? memory.version() : before;
    const leaseOf = new Map<Lookup, LeaseReply>();
    for (const [at, lookup] of missing.entries()) {
      this.storeInMemory(lookup.key, found[2 * at] as string, version, sentAt - redisNow);
      leaseOf.set(lookup, found[2 * at + 1] as LeaseReply);
    }
    for (const lookup of all) this.proceed(lookup, number, leaseOf.get(lookup));
    return true;
  }

  /** For how many ms what memory has is fresh, if it has all members that are needed. */
  private ownFreshMs({ key, waiting }: Lookup): number | '' {
    const own = this.parts.memory.find(key);
    const isEnough = own && waiting.every(({ reader }) => hasMembers(own, reader.members));
    return isEnough ? Math.ceil(own.freshUntil - performance.now()) : '';
  }

  /** Keeps an entry that another replica stored, unless what this process got since, and may not have stored yet, is fresh for longer. */
  private storeInMemory(key: CacheKey, text: string, version: VersionToken, aheadMs: number): void {
    const { memory, invalidations, discard } = this.parts;
    if (text === '' || invalidations.isUnsent(key)) return;
    const entry = decodeEntry(text, aheadMs);
    if (entry === 'unreadable') return discard(key);
    if (entry && !isCovered(entry, memory.find(key), key)) memory.set(key, version, entry);
  }

  /** As the second table at the head says. `number`: of the command. */
  private proceed(lookup: Lookup, number: number, lease: LeaseReply): void {
    const { memory, leases } = this.parts;
    const entry = memory.find(lookup.key);
    const now = performance.now();
    const served: Waiting[] = [];
    const unserved: Waiting[] = [];
    for (const waiting of lookup.waiting) {
      if (waiting.reader.since >= number) continue;
      if (isUsable(entry, waiting.reader)) served.push(waiting);
      else if (!stays(waiting, lease, now)) unserved.push(waiting);
    }
    this.resolveAll(lookup, served);
    if (lease === GRANTED && !unserved.some(({ reader }) => reader.mayLease)) leases.end(lookup.key);
    this.resolveAll(lookup, unserved, lease === GRANTED);
    if (lookup.waiting.length === 0) return;
    if (lease === HELD) return this.wait(lookup, now);
    lookup.isForced = lease === NONE;
    this.enqueue(lookup);
  }

  private wait(lookup: Lookup, now: number): void {
    lookup.state = 'waiting';
    for (const waiting of lookup.waiting) {
      if (waiting.since === undefined && waiting.reader.cancellation) addListener(waiting.reader.cancellation, waiting);
      waiting.since ??= now;
    }
    setTimeout(() => lookup.waiting.length > 0 && this.enqueue(lookup), lookup.waitMs).unref();
    lookup.waitMs = Math.min(LONGEST_WAIT_MS, lookup.waitMs * 2);
  }

  /** `isLeased`: these ask upstream for all replicas. */
  private resolveAll(lookup: Lookup, some: readonly Waiting[], isLeased = false): void {
    const { memory, leases } = this.parts;
    const { key } = lookup;
    lookup.waiting = some.length === lookup.waiting.length ? [] : lookup.waiting.filter((each) => !some.includes(each));
    if (lookup.waiting.length === 0 && this.lookups.get(key.text) === lookup) this.lookups.delete(key.text);
    const found = memory.find(key);
    const version = memory.version();
    for (const waiting of some) {
      const { reader, resolve } = waiting;
      if (waiting.since !== undefined && reader.cancellation) removeListener(reader.cancellation, waiting);
      // Without an answer of Redis another replica may have invalidated it, unless nothing ever does.
      const entry = key.isReadOnly || this.isCurrent(reader) ? found : undefined;
      resolve({ entry, version, release: isLeased && reader.mayLease ? leases.hold(key, reader) : undefined });
    }
  }
}

/** Whether a reader whose entry is not enough stays. */
function stays(
  { reader, since = Infinity }: Pick<Waiting, 'reader' | 'since'>,
  lease: LeaseReply,
  now: number,
): boolean {
  if (lease === undefined) return !reader.isUnstored;
  return lease !== GRANTED && reader.mayLease && now - since <= PATIENCE_MS;
}

type LookupReply = [...LogReply, redisNow: number, ...(string | number)[]];

const modeOf = ({ waiting, isForced }: Lookup): number =>
  !waiting.some(({ reader }) => reader.mayLease) ? MODES.noLease : isForced ? MODES.anyway : MODES.lease;

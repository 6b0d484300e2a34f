/**
 * Looks up entries: all of a turn in one command, which also asks for the log of invalidations and takes leases. A reader whose entry is
 * being read by another replica waits for it by looking it up again.
 */
import { type CancellationListener, addListener, removeListener } from '../../lib/cancellation.ts';
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
import { CHANGES_MAX, COMMON } from './log-script.ts';
import { type Script, defineScript } from './script.ts';

/** What a lookup does if there is no fresh entry; `ANYWAY`: also if there is one, because it lacks fields. */
const MODES = { noLease: 0, lease: 1, anyway: 2 } as const;
/** The lease: not needed, taken by this process, or held by another. */
const NONE = 0;
const GRANTED = 1;
const HELD = 2;

/**
 * ARGV: known version, step, life of a log, owner of leases, ms of a lease, records; then of each record its places, the mode, and for how
 * many ms the entry is fresh that the process has with all members that are needed, or nothing. Returns head and names of the log, the time
 * of Redis, then of each record its entry and its lease. An expired entry that is hardly newer than that of the process is not sent.
 */
const LOOK_UP = `${COMMON}
local head, names = readLog(KEYS[1], ARGV[1], ARGV[2], ARGV[3], ${CHANGES_MAX})
local reply = {head, names, now}
for record = 0, ARGV[6] - 1 do
  local at, arg = 2 + 3 * record, 7 + 3 * record
  local entry, lease, tag = KEYS[at], KEYS[at + 1], KEYS[at + 2]
  local places, mode, known = ARGV[arg], tonumber(ARGV[arg + 1]), tonumber(ARGV[arg + 2])
  local version, fresh = headingOf(entry)
  local text, taken = '', 0
  fresh = tonumber(fresh or 0)
  if version and isCurrent(version, head, tag, places) then
    if fresh > now or not known or fresh > now + known + 1000 then text = get(entry) end
  else fresh = 0 end
  if mode == ${MODES.anyway} or (mode == ${MODES.lease} and fresh <= now) then
    local owner, leased = string.match(get(lease), '^(%S+) (%S+)$')
    -- A lease from before an invalidation leads to an old response.
    if owner and owner ~= ARGV[4] and isCurrent(leased, head, tag, places) then taken = ${HELD} else
      taken = ${GRANTED}
      local set = redis.pcall('SET', lease, ARGV[4] .. ' ' .. head, 'PX', ARGV[5])
      -- A full Redis can still be read.
      if set.err and not string.find(set.err, 'OOM') then return set end
      addVersions(head, tag, places, ARGV[3])
    end
  end
  reply[4 + 2 * record] = text
  reply[5 + 2 * record] = taken
end
return reply`;

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
  /** A fresh entry lacks fields: the lease is needed nevertheless. */
  isForced: boolean;
  waitMs: number;
  isQueued: boolean;
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
  private queue: Lookup[] = [];
  private isFlushDue = false;
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
    if (!this.isConfirming) this.flushLater();
    let resolve!: (isKnown: Promise<boolean>) => void;
    const isKnown = new Promise<boolean>((resolved) => (resolve = resolved));
    this.confirmation = { isKnown, resolve };
    return isKnown;
  }

  find(key: CacheKey, reader: CacheReader): Promise<CacheLookup> {
    return new Promise((resolve) => {
      const known = this.lookups.get(key.text);
      const lookup: Lookup = known ?? { key, waiting: [], isForced: false, waitMs: FIRST_WAIT_MS, isQueued: false };
      const onCancel = () => this.resolveAll(lookup, [waiting]);
      const waiting: Waiting = { reader, resolve, since: undefined, onCancel };
      lookup.waiting.push(waiting);
      if (known) return;
      this.lookups.set(key.text, lookup);
      this.enqueue(lookup);
    });
  }

  private enqueue(lookup: Lookup): void {
    if (lookup.isQueued) return;
    lookup.isQueued = true;
    this.flushLater();
    this.queue.push(lookup);
  }

  private flushLater(): void {
    if (this.isFlushDue) return;
    this.isFlushDue = true;
    setImmediate(() => this.flush());
  }

  private flush(): void {
    const { queue: all, confirmation } = this;
    this.isFlushDue = false;
    this.queue = [];
    this.confirmation = undefined;
    let isKnown = this.send(all.slice(0, RECORDS_MAX));
    for (let at = RECORDS_MAX; at < all.length; at += RECORDS_MAX) isKnown = this.send(all.slice(at, at + RECORDS_MAX));
    if (!confirmation) return;
    this.isConfirming = true;
    confirmation.resolve(isKnown);
    const onEnd = () => {
      this.isConfirming = false;
      if (this.confirmation) this.flushLater();
    };
    isKnown.then(onEnd, onEnd);
  }

  /** Looks up what memory lacks, and requests the log on behalf of all. False if Redis does not answer. */
  private async send(all: readonly Lookup[]): Promise<boolean> {
    const { keys, memory, invalidations, leases, call } = this.parts;
    const number = ++this.sent;
    const missing = all.filter((lookup) => {
      lookup.isQueued = false;
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
    const taken = new Map<Lookup, unknown>();
    for (const [at, lookup] of missing.entries()) {
      this.adopt(lookup.key, found[2 * at] as string, version, sentAt - redisNow);
      taken.set(lookup, found[2 * at + 1]);
    }
    for (const lookup of all) this.settle(lookup, number, taken.get(lookup));
    return true;
  }

  /** For how many ms what memory has is fresh, if it has all members that are needed. */
  private ownFreshMs({ key, waiting }: Lookup): number | '' {
    const own = this.parts.memory.find(key);
    const isEnough = own && waiting.every(({ reader }) => hasMembers(own, reader.members));
    return isEnough ? Math.ceil(own.freshUntil - performance.now()) : '';
  }

  /** Keeps an entry that another replica stored, unless what this process got since, and may not have stored yet, is fresh for longer. */
  private adopt(key: CacheKey, text: string, version: VersionToken, aheadMs: number): void {
    const { memory, invalidations, discard } = this.parts;
    if (text === '' || invalidations.isUnsent(key)) return;
    const entry = decodeEntry(text, aheadMs);
    if (entry === 'unreadable') return discard(key);
    if (entry && !isCovered(entry, memory.find(key), key)) memory.set(key, version, entry);
  }

  /** `taken`: the lease; undefined if the entry was not looked up. */
  private settle(lookup: Lookup, number: number, taken: unknown): void {
    const { memory, leases } = this.parts;
    const entry = memory.find(lookup.key);
    const now = performance.now();
    // Readers that came after the command was sent need another one.
    const earlier = lookup.waiting.filter(({ reader }) => reader.since < number);
    const served = earlier.filter(({ reader }) => isUsable(entry, reader));
    const open = served.length === 0 ? earlier : earlier.filter(({ reader }) => !isUsable(entry, reader));
    this.resolveAll(lookup, served);
    if (taken === GRANTED) {
      if (!open.some(({ reader }) => reader.mayLease)) leases.end(lookup.key);
      this.resolveAll(lookup, open, true);
    } else {
      const mayLeave = ({ reader, since }: Waiting) =>
        taken === undefined ? reader.isUnstored : !reader.mayLease || isImpatient(since, now);
      this.resolveAll(lookup, open.filter(mayLeave));
    }
    if (lookup.waiting.length === 0) return;
    if (taken === HELD) return this.wait(lookup, now);
    // There is a fresh entry that lacks fields, or it was invalidated meanwhile.
    lookup.isForced = taken === NONE;
    this.enqueue(lookup);
  }

  private wait(lookup: Lookup, now: number): void {
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

const isImpatient = (since: number | undefined, now: number): boolean =>
  since !== undefined && now - since > PATIENCE_MS;

type LookupReply = [...LogReply, redisNow: number, ...(string | number)[]];

const modeOf = ({ waiting, isForced }: Lookup): number =>
  !waiting.some(({ reader }) => reader.mayLease) ? MODES.noLease : isForced ? MODES.anyway : MODES.lease;

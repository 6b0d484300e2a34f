/**
 * Looks up entries: all of a tick in one command, which also asks for the epoch and takes leases. What memory has is current if its stamp is
 * that of now, or if the epoch has not changed since it was.
 */
import { setImmediate as endOfTick, setTimeout as sleep } from 'node:timers/promises';
import { unlessCancelled } from '../../lib/cancellation.ts';
import { oneAtATime } from '../../lib/event-loop.ts';
import {
  type CacheEntry,
  type CacheKey,
  type CacheLookup,
  type CacheReader,
  type MemoryCache,
  type SharedVersion,
  type VersionToken,
  hasMembers,
  isUsable,
} from '../cache/memory.ts';
import type { RedisCall } from './connection/channel.ts';
import type { RedisConnection } from './connection/connection.ts';
import { decodeEntry } from './entries.ts';
import type { Invalidations } from './invalidations.ts';
import { RECORDS_MAX, type RedisKeys } from './keys.ts';
import { GRANTED, HELD, LOOK_UP, type LeaseReply, type LookupReply } from './scripts/cache-scripts.ts';
import { type Script, defineScript } from './scripts/script.ts';
import type { Updates } from './updates.ts';

/** How long a reader waits before it looks up again what another replica reads: at first, and at most. */
const FIRST_WAIT_MS = 5;
const LONGEST_WAIT_MS = 50;
/** Then a reader asks upstream by itself. */
const LEASE_WAIT_MS = 10_000;

/** The question of all readers of one entry in a tick. */
interface Question {
  key: CacheKey;
  readers: CacheReader[];
  /** Undefined until Redis has answered. */
  answer: Answer | undefined;
}

interface Answer {
  /** What a response is stored with that is read from now on; undefined if Redis is full. */
  version: SharedVersion | undefined;
  lease: LeaseReply;
}

export interface LookupParts {
  connection: RedisConnection;
  keys: RedisKeys;
  call: RedisCall;
  memory: MemoryCache;
  invalidations: Invalidations;
  updates: Updates;
  /** Something was invalidated. */
  onChange: () => void;
}

export class Lookups {
  private readonly parts: LookupParts;
  private readonly lookUp: Script;
  /** Questions of this tick. */
  private questions = new Map<string, Question>();
  private asked: Promise<boolean> | undefined;
  /** Number of the last command, and of the last one with a reply. */
  sent = 0;
  private replied = 0;
  /** In the last reply, and its number: how often it was another. */
  private epoch = '';
  changes = 0;
  /** Asks for the epoch: true if all is known that was invalidated before the call, false if Redis does not say. */
  readonly confirm = oneAtATime(() => this.ask());

  constructor(parts: LookupParts) {
    this.parts = parts;
    this.lookUp = defineScript(parts.connection, 'catalogLookUp', LOOK_UP);
  }

  /** Whether the reader may use what `current` has: Redis was asked after its operation began. */
  isCurrent({ since }: CacheReader): boolean {
    return this.replied > since;
  }

  /** What memory has, if nothing was invalidated since it was known to be current. */
  current(key: CacheKey): CacheEntry | undefined {
    const entry = this.parts.memory.find(key);
    return entry?.shared?.epoch === this.changes ? entry : undefined;
  }

  versionOf(shared: SharedVersion | undefined): VersionToken {
    return { memory: this.parts.memory.version().memory, shared };
  }

  /** At once if memory has it, or a reader of this process reads it, and Redis was asked after the operation began. */
  get(key: CacheKey, reader: CacheReader): CacheLookup | Promise<CacheLookup> {
    const entry = this.current(key);
    const version = isUsable(entry, reader) ? this.versionOf(entry.shared) : this.underWay(key);
    if (!version) return this.find(key, reader);
    return this.isCurrent(reader) ? { entry, version } : this.getLater(key, reader);
  }

  /** Apart, because what waits costs each call of a function that has it. */
  private async getLater(key: CacheKey, reader: CacheReader): Promise<CacheLookup> {
    return (await this.ask()) ? this.get(key, reader) : this.find(key, reader);
  }

  /** The version with which a reader of this process that has the lease stores its response; undefined if anything was invalidated since. */
  private underWay(key: CacheKey): VersionToken | undefined {
    const { memory, updates } = this.parts;
    const version = updates.held(key);
    const isLatest = version?.memory === memory.version().memory && version.shared?.epoch === this.changes;
    return isLatest ? version : undefined;
  }

  /** Asks for the epoch with the lookups of this tick: true if Redis answers. */
  ask(): Promise<boolean> {
    return (this.asked ??= endOfTick().then(() => this.flush()));
  }

  /** What is cached. A reader that may, gets the lease of what it has to read, or waits for the replica that has it. */
  private async find(key: CacheKey, reader: CacheReader): Promise<CacheLookup> {
    const { memory, updates } = this.parts;
    const { mayLease, cancellation } = reader;
    const end = performance.now() + LEASE_WAIT_MS;
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2)) {
      const question = this.question(key, reader);
      await this.ask();
      const { answer } = question;
      // Without an answer of Redis another replica may have invalidated it, unless nothing ever does.
      const entry = this.isCurrent(reader) ? this.current(key) : key.isReadOnly ? memory.find(key) : undefined;
      const found: CacheLookup = { entry, version: this.versionOf(answer?.version) };
      if (!answer || !mayLease || isUsable(entry, reader) || cancellation?.reason) return found;
      if (answer.lease === GRANTED) return { ...found, release: updates.hold(key, found.version) };
      if (answer.lease !== HELD || performance.now() > end) return found;
      const waiting = sleep(waitMs, undefined, { ref: false });
      await (cancellation ? unlessCancelled(waiting, cancellation) : waiting);
    }
  }

  private question(key: CacheKey, reader: CacheReader): Question {
    let question = this.questions.get(key.text);
    if (!question) this.questions.set(key.text, (question = { key, readers: [], answer: undefined }));
    question.readers.push(reader);
    return question;
  }

  private async flush(): Promise<boolean> {
    const all = [...this.questions.values()];
    this.questions = new Map();
    this.asked = undefined;
    const sent = [this.send(all.slice(0, RECORDS_MAX))];
    for (let at = RECORDS_MAX; at < all.length; at += RECORDS_MAX)
      sent.push(this.send(all.slice(at, at + RECORDS_MAX)));
    const isKnown = (await Promise.all(sent)).every(Boolean);
    const granted = all.filter(({ answer }) => answer?.lease === GRANTED);
    // Unless a reader holds it by then.
    if (granted.length > 0) setImmediate(() => granted.forEach(({ key }) => this.parts.updates.end(key)));
    return isKnown;
  }

  /** False if Redis does not answer. */
  private async send(questions: readonly Question[]): Promise<boolean> {
    const { keys, memory, invalidations, call } = this.parts;
    const number = ++this.sent;
    const { keys: names, values, countersOf } = keys.argumentsOf(questions.map(({ key }) => key));
    const records = questions.map((question, at) => ({ indexes: countersOf[at], ...this.known(question) }));
    const before = memory.version();
    const sentAt = performance.now();
    const [epochNow = '', redisNow = 0, ...found] =
      (await call(() => this.lookUp(names, [...values, JSON.stringify(records)]) as Promise<LookupReply>)) ?? [];
    if (epochNow === '') return false;
    const epoch = this.learn(number, epochNow);
    for (const [at, question] of questions.entries()) {
      const { key } = question;
      const [stamp, text, lease] = found.slice(3 * at, 3 * at + 3) as [string, string, LeaseReply];
      const version = stamp === '' ? undefined : { epoch, stamp };
      const own = memory.find(key);
      if (own?.shared?.stamp === stamp) own.shared = version;
      // What this process invalidated since the lookup may not be in Redis yet.
      const entry = text === '' || invalidations.isUnsent(key) ? undefined : decodeEntry(text, sentAt - redisNow);
      if (entry) memory.set(key, { ...before, shared: version }, entry);
      question.answer = { version, lease };
    }
    return true;
  }

  /** The number of the epoch. Replies may overtake one another: what was overtaken is not current. */
  private learn(number: number, epochNow: string): number {
    if (number < this.replied) return this.changes - 1;
    this.replied = number;
    if (epochNow === this.epoch) return this.changes;
    this.epoch = epochNow;
    this.changes++;
    this.parts.onChange();
    return this.changes;
  }

  /** Whether a reader takes the lease, and what the script needs to know of the entry in memory. */
  private known({ key, readers }: Question) {
    const own = this.parts.memory.find(key);
    const mayLease = readers.some((reader) => reader.mayLease);
    if (!own || !readers.every(({ members }) => hasMembers(own, members))) return { mayLease };
    return { mayLease, stamp: own.shared?.stamp, isFresh: own.freshUntil > performance.now() };
  }
}

/**
 * Looks up entries: all of a tick in one command, which also asks for the epoch and takes leases. What memory has is current if its stamp is
 * that of now, or if the epoch has not changed since it was.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { unlessCancelled } from '../../lib/cancellation.ts';
import { atEndOfTick, oneAtATime } from '../../lib/event-loop.ts';
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
  answer: Promise<Answer | undefined>;
  resolve: (answer: Answer | undefined) => void;
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
  private readonly questions = new Map<string, Question>();
  private readonly tick = atEndOfTick<(isKnown: Promise<boolean>) => void>((asking) => this.flush(asking));
  /** Number of the last command, and of the last one with a reply. */
  private sent = 0;
  private replied = 0;
  /** In the last reply, and how often it was another. */
  private epoch = '';
  changes = 0;
  /** Asks for the epoch: true if all is known that was invalidated before the call, false if Redis does not say. */
  readonly confirm = oneAtATime(() => this.ask());

  constructor(parts: LookupParts) {
    this.parts = parts;
    this.lookUp = defineScript(parts.connection, 'catalogLookUp', LOOK_UP);
  }

  readVersion(): number {
    return this.sent;
  }

  /** Whether the reader may use what `current` has: Redis was asked after its operation began. */
  isCurrent({ since }: CacheReader): boolean {
    return this.replied > since;
  }

  /** What memory has, if nothing was invalidated since it was known to be current. */
  current(key: CacheKey): CacheEntry | undefined {
    const entry = this.parts.memory.find(key);
    return entry?.shared?.epoch === this.epoch ? entry : undefined;
  }

  /** The version with which a reader of this process that has the lease stores its response; undefined if anything was invalidated since. */
  underWay(key: CacheKey): VersionToken | undefined {
    const { memory, updates } = this.parts;
    const version = updates.held(key);
    const isLatest = version?.memory === memory.version().memory && version.shared?.epoch === this.epoch;
    return isLatest ? version : undefined;
  }

  /** Asks for the epoch with the lookups of this tick: true if Redis answers. */
  ask(): Promise<boolean> {
    return new Promise((resolve) => this.tick.add(resolve));
  }

  /** What is cached. A reader that may, gets the lease of what it has to read, or waits for the replica that has it. */
  async find(key: CacheKey, reader: CacheReader): Promise<CacheLookup> {
    const { memory, updates } = this.parts;
    const { mayLease, cancellation } = reader;
    const end = performance.now() + LEASE_WAIT_MS;
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2)) {
      const answer = await this.question(key, reader);
      // Without an answer of Redis another replica may have invalidated it, unless nothing ever does.
      const entry = this.isCurrent(reader) ? this.current(key) : key.isReadOnly ? memory.find(key) : undefined;
      const found: CacheLookup = { entry, version: { ...memory.version(), shared: answer?.version } };
      if (!answer || !mayLease || isUsable(entry, reader) || cancellation?.reason) return found;
      if (answer.lease === GRANTED) return { ...found, release: updates.hold(key, found.version) };
      if (answer.lease !== HELD || performance.now() > end) return found;
      const waiting = sleep(waitMs, undefined, { ref: false });
      await (cancellation ? unlessCancelled(waiting, cancellation) : waiting);
    }
  }

  private question(key: CacheKey, reader: CacheReader): Promise<Answer | undefined> {
    let question = this.questions.get(key.text);
    if (!question) {
      let resolve!: Question['resolve'];
      const answer = new Promise<Answer | undefined>((resolved) => (resolve = resolved));
      this.questions.set(key.text, (question = { key, readers: [], answer, resolve }));
      void this.ask();
    }
    question.readers.push(reader);
    return question.answer;
  }

  private flush(asking: readonly ((isKnown: Promise<boolean>) => void)[]): void {
    const all = [...this.questions.values()];
    this.questions.clear();
    let isKnown = this.send(all.splice(0, RECORDS_MAX));
    while (all.length > 0) isKnown = this.send(all.splice(0, RECORDS_MAX));
    for (const resolve of asking) resolve(isKnown);
  }

  /** False if Redis does not answer. */
  private async send(questions: readonly Question[]): Promise<boolean> {
    const { keys, memory, invalidations, updates, call } = this.parts;
    const number = ++this.sent;
    const { keys: names, values, countersOf } = keys.argumentsOf(questions.map(({ key }) => key));
    const records = questions.map((question, at) => [countersOf[at], ...this.valuesOf(question)]);
    const before = memory.version();
    const sentAt = performance.now();
    const [epochNow = '', redisNow = 0, ...found] =
      (await call(() => this.lookUp(names, [...values, JSON.stringify(records)]) as Promise<LookupReply>)) ?? [];
    if (epochNow === '') {
      for (const { resolve } of questions) resolve(undefined);
      return false;
    }
    this.learn(number, epochNow);
    for (const [at, { key, resolve }] of questions.entries()) {
      const [stamp, text, lease] = found.slice(3 * at) as [string, string, LeaseReply];
      const version = stamp === '' ? undefined : { epoch: epochNow, stamp };
      const own = memory.find(key);
      if (own?.shared?.stamp === stamp) own.shared = version;
      // What this process invalidated since the lookup may not be in Redis yet.
      const entry = text === '' || invalidations.isUnsent(key) ? undefined : decodeEntry(text, sentAt - redisNow);
      if (entry) memory.set(key, { ...before, shared: version }, entry);
      resolve({ version, lease });
      // Unless a reader holds it by then.
      if (lease === GRANTED) setImmediate(() => updates.end(key));
    }
    return true;
  }

  /** Replies may overtake one another. */
  private learn(number: number, epochNow: string): void {
    if (number < this.replied) return;
    this.replied = number;
    if (epochNow === this.epoch) return;
    this.epoch = epochNow;
    this.changes++;
    this.parts.onChange();
  }

  /** Whether a reader takes the lease, and what the script needs to know of the entry in memory. */
  private valuesOf({ key, readers }: Question): [mayLease: boolean, stamp: string, isFresh: boolean] {
    const own = this.parts.memory.find(key);
    const mayLease = readers.some((reader) => reader.mayLease);
    if (!own || !readers.every(({ members }) => hasMembers(own, members))) return [mayLease, '', false];
    return [mayLease, own.shared?.stamp ?? '', own.freshUntil > performance.now()];
  }
}

/**
 * Looks up entries: all of a turn in one command, which also asks for the epoch and takes leases. What memory has is used if its stamp is that
 * of now, or if the epoch has not changed since it was.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { unlessCancelled } from '../../lib/cancellation.ts';
import { atEndOfTurn } from '../../lib/event-loop.ts';
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
import { LEASE_MS, RECORDS_MAX, type RedisKeys, randomValue } from './keys.ts';
import { GRANTED, HELD, LOOK_UP, type LeaseReply, type LookupReply, MODES } from './scripts/cache-scripts.ts';
import { type Script, defineScript } from './scripts/script.ts';
import type { Updates } from './updates.ts';

/** How long a reader waits before it looks up again what another replica reads: at first, and at most. */
const FIRST_WAIT_MS = 5;
const LONGEST_WAIT_MS = 50;
/** Then a reader asks upstream by itself. */
const PATIENCE_MS = 10_000;

/** The question of all readers of one entry in a turn. */
interface Question {
  key: CacheKey;
  readers: CacheReader[];
  mode: number;
  answer: Promise<Answer | undefined>;
  resolve: (answer: Answer | undefined) => void;
}

interface Answer {
  version: SharedVersion | undefined;
  /** Undefined if the entry was not looked up, because memory had enough of the epoch before. */
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
  /** Questions of this turn. */
  private readonly questions = new Map<string, Question>();
  /** Those who ask for the epoch alone. */
  private asking: ((isKnown: Promise<boolean>) => void)[] = [];
  private readonly turn = atEndOfTurn<void>(() => this.flush());
  private confirming: Promise<unknown> = Promise.resolve();
  private confirmation: Promise<boolean> | undefined;
  /** Number of the last command, and of the last one with a reply. */
  private sent = 0;
  private replied = 0;
  /** In the last reply. */
  private epoch = '';

  constructor(parts: LookupParts) {
    this.parts = parts;
    this.lookUp = defineScript(parts.connection, 'catalogLookUp', LOOK_UP);
  }

  moment(): number {
    return this.sent;
  }

  /** Whether the reader may use what `current` has: Redis was asked after its operation began. */
  isCurrent({ since }: CacheReader): boolean {
    return this.replied > since;
  }

  /** What memory has, if nothing was invalidated since it was known to be current. */
  current(key: CacheKey): CacheEntry | undefined {
    const entry = this.parts.memory.find(key);
    return this.epoch !== '' && entry?.shared?.epoch === this.epoch ? entry : undefined;
  }

  /** What a response is stored with that is read from now on, and without another question. */
  version(key: CacheKey): SharedVersion | undefined {
    const { updates } = this.parts;
    return this.current(key)?.shared ?? updates.lease(key)?.version ?? versionOf(this.epoch, '');
  }

  /** Asks for the epoch: true if all is known that was invalidated before the call, false if Redis does not say. */
  confirm(): Promise<boolean> {
    // One at a time: the busier the process is, the more callers share a question.
    return (this.confirmation ??= this.confirming.then(() => {
      this.confirmation = undefined;
      return (this.confirming = this.ask());
    }));
  }

  /** Asks for the epoch with the lookups of this turn: true if Redis answers. */
  ask(): Promise<boolean> {
    return new Promise((resolve) => {
      this.asking.push(resolve);
      this.turn.add();
    });
  }

  /** What is cached. A reader that may, gets the lease of what it has to read, or waits for the replica that has it. */
  async find(key: CacheKey, reader: CacheReader): Promise<CacheLookup> {
    const { memory, updates } = this.parts;
    const { mayLease, cancellation } = reader;
    const end = performance.now() + PATIENCE_MS;
    let mode: number = mayLease ? MODES.lease : MODES.noLease;
    let waitMs = FIRST_WAIT_MS;
    for (;;) {
      const answer = await this.question(key, reader, mode);
      // Without an answer of Redis another replica may have invalidated it, unless nothing ever does.
      const isKnown = this.isCurrent(reader);
      const entry = isKnown ? this.current(key) : key.isReadOnly ? memory.find(key) : undefined;
      const found: CacheLookup = { entry, version: { ...memory.version(), shared: answer?.version } };
      if (!answer || isUsable(entry, reader) || cancellation?.reason || performance.now() > end) return found;
      const { lease, version } = answer;
      if (lease === undefined) continue;
      if (!mayLease) return found;
      if (lease === GRANTED) return { ...found, release: version && updates.hold(key, version, reader) };
      if (lease === HELD) {
        const waiting = sleep(waitMs, undefined, { ref: false });
        await (cancellation ? unlessCancelled(waiting, cancellation) : waiting);
        waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2);
      } else mode = MODES.anyway; // what is there lacks fields
    }
  }

  private question(key: CacheKey, reader: CacheReader, mode: number): Promise<Answer | undefined> {
    let question = this.questions.get(key.text);
    if (!question) {
      let resolve!: Question['resolve'];
      const answer = new Promise<Answer | undefined>((resolved) => (resolve = resolved));
      this.questions.set(key.text, (question = { key, readers: [], mode, answer, resolve }));
      this.turn.add();
    }
    question.readers.push(reader);
    question.mode = Math.max(question.mode, mode);
    return question.answer;
  }

  private flush(): void {
    const { asking } = this;
    const all = [...this.questions.values()];
    this.questions.clear();
    this.asking = [];
    let isKnown = this.send(all.slice(0, RECORDS_MAX));
    for (let at = RECORDS_MAX; at < all.length; at += RECORDS_MAX) isKnown = this.send(all.slice(at, at + RECORDS_MAX));
    for (const resolve of asking) resolve(isKnown);
  }

  /** Looks up what memory lacks, and asks for the epoch on behalf of all. False if Redis does not answer. */
  private async send(all: readonly Question[]): Promise<boolean> {
    const { keys, memory, updates, call } = this.parts;
    const number = ++this.sent;
    const missing = all.filter((question) => this.isMissing(question));
    const names = keys.namesOf(missing.map(({ key }) => key));
    const values = [randomValue(), updates.owner, LEASE_MS, missing.length];
    const stamps = missing.map(({ key }) => memory.find(key)?.shared?.stamp ?? '');
    for (const [at, question] of missing.entries()) values.push(question.mode, stamps[at]!, this.ownState(question));
    const before = memory.version();
    const sentAt = performance.now();
    const reply = await call(() => this.lookUp(names, values) as Promise<LookupReply>);
    if (!reply || reply[0] === '') {
      for (const { resolve } of all) resolve(undefined);
      return false;
    }
    const [epochNow, redisNow, ...found] = reply;
    this.learn(number, epochNow);
    for (const [at, { key, resolve }] of missing.entries()) {
      const [stamp, text, lease] = found.slice(3 * at) as [string, string, LeaseReply];
      const version = versionOf(epochNow, stamp === '=' ? stamps[at]! : stamp);
      // What this process invalidated since the lookup may not be in Redis yet.
      this.storeInMemory(key, { ...before, shared: version }, text, sentAt - redisNow);
      resolve({ version, lease });
      // Unless a reader holds it by then.
      if (lease === GRANTED) setImmediate(() => updates.end(key));
    }
    const version = versionOf(epochNow, '');
    for (const { key, resolve } of all) resolve({ version: this.current(key)?.shared ?? version, lease: undefined });
    return true;
  }

  /** Whether memory has not enough, or it is not known to be current. */
  private isMissing({ key, readers }: Question): boolean {
    const entry = this.current(key);
    return !readers.every((reader) => isUsable(entry, reader));
  }

  /** Replies may overtake one another. */
  private learn(number: number, epoch: string): void {
    if (number < this.replied) return;
    this.replied = number;
    if (epoch === this.epoch) return;
    this.epoch = epoch;
    this.parts.onChange();
  }

  /** Whether what memory has is fresh; empty if it lacks members that are needed. */
  private ownState({ key, readers }: Question): '1' | '0' | '' {
    const own = this.parts.memory.find(key);
    if (!own || !readers.every(({ members }) => hasMembers(own, members))) return '';
    return own.freshUntil > performance.now() ? '1' : '0';
  }

  /** What memory has is current, or is replaced by what another replica stored. */
  private storeInMemory(key: CacheKey, version: VersionToken, text: string, aheadMs: number): void {
    const { memory, invalidations } = this.parts;
    const own = memory.find(key);
    if (own?.shared?.stamp && own.shared.stamp === version.shared?.stamp) own.shared = version.shared;
    if (text === '' || invalidations.isUnsent(key)) return;
    const entry = decodeEntry(text, aheadMs);
    if (entry) memory.set(key, version, entry);
  }
}

const versionOf = (epoch: string, stamp: string): SharedVersion | undefined =>
  epoch === '' ? undefined : { epoch, stamp };

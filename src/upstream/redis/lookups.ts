/**
 * Looks up entries: all of a turn in one command, which also asks for the epoch and takes leases. What memory has is used if its stamp is that
 * of now, or if the epoch has not changed since it was.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { unlessCancelled } from '../../lib/cancellation.ts';
import { atEndOfTurn, oneAtATime } from '../../lib/event-loop.ts';
import {
  type CacheEntry,
  type CacheKey,
  type CacheLookup,
  type CacheReader,
  type MemoryCache,
  type SharedVersion,
  hasMembers,
  isUsable,
} from '../cache/memory.ts';
import type { RedisCall } from './connection/channel.ts';
import type { RedisConnection } from './connection/connection.ts';
import { decodeEntry } from './entries.ts';
import type { Invalidations } from './invalidations.ts';
import { RECORDS_MAX, type RedisKeys, randomValue } from './keys.ts';
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
  /** What a response is stored with that is read from now on; undefined if Redis is full. */
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
  /** Number of the last command, and of the last one with a reply. */
  private sent = 0;
  private replied = 0;
  /** In the last reply. */
  private epoch = '';
  /** Asks for the epoch: true if all is known that was invalidated before the call, false if Redis does not say. */
  readonly confirm = oneAtATime(() => this.ask());

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
    return entry?.shared?.epoch === this.epoch ? entry : undefined;
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
      const entry = this.isCurrent(reader) ? this.current(key) : key.isReadOnly ? memory.find(key) : undefined;
      const found: CacheLookup = { entry, version: { ...memory.version(), shared: answer?.version } };
      if (!answer || isUsable(entry, reader) || cancellation?.reason || performance.now() > end) return found;
      if (answer.lease === undefined) continue;
      if (!mayLease) return found;
      if (answer.lease === GRANTED) return { ...found, release: updates.hold(key) };
      if (answer.lease === HELD) {
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
    const all = [...this.questions.values()];
    const resolves = this.asking;
    this.questions.clear();
    this.asking = [];
    let isKnown = this.send(all.splice(0, RECORDS_MAX));
    while (all.length > 0) isKnown = this.send(all.splice(0, RECORDS_MAX));
    for (const resolve of resolves) resolve(isKnown);
  }

  /** Looks up what memory lacks, or is not known to be current, and asks for the epoch on behalf of all. False if Redis does not answer. */
  private async send(all: readonly Question[]): Promise<boolean> {
    const { keys, memory, invalidations, updates, call } = this.parts;
    const number = ++this.sent;
    const missing = all.filter(({ key, readers }) => {
      const entry = this.current(key);
      return !readers.every((reader) => isUsable(entry, reader));
    });
    const names = keys.namesOf(missing.map(({ key }) => key));
    const values = missing.flatMap((question) => [question.mode, ...this.ownOf(question)]);
    const before = memory.version();
    const sentAt = performance.now();
    const asked = [randomValue(), updates.owner, missing.length, ...values];
    const [epochNow = '', redisNow = 0, ...found] =
      (await call(() => this.lookUp(names, asked) as Promise<LookupReply>)) ?? [];
    if (epochNow === '') {
      for (const { resolve } of all) resolve(undefined);
      return false;
    }
    this.learn(number, epochNow);
    for (const [at, { key, resolve }] of missing.entries()) {
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
    for (const { key, resolve } of all) resolve({ version: this.current(key)?.shared, lease: undefined });
    return true;
  }

  /** Replies may overtake one another. */
  private learn(number: number, epochNow: string): void {
    if (number < this.replied) return;
    this.replied = number;
    if (epochNow === this.epoch) return;
    this.epoch = epochNow;
    this.parts.onChange();
  }

  /** What the script needs to know of the entry in memory. */
  private ownOf(question: Question): [stamp: string, isFresh: string] {
    const own = this.parts.memory.find(question.key);
    if (!own || !question.readers.every(({ members }) => hasMembers(own, members))) return ['', ''];
    return [own.shared?.stamp ?? '', own.freshUntil > performance.now() ? '1' : ''];
  }
}

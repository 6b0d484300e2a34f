/**
 * The log of invalidations, which all replicas read: what a process knows of it, and what the process has to add to it.
 *
 * A mutation is answered after its names are in the log. A process uses what it has in memory only after it asked for the log, so nothing
 * depends on a message that may be lost, or on clocks.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CacheKey } from '../cache/memory.ts';
import type { RedisCall } from './connection/channel.ts';
import type { RedisConnection } from './connection/connection.ts';
import { INVALIDATION_LIFE_MS, type RedisKeys, randomStep } from './keys.ts';
import { CHANGES_MAX, COMMON } from './scripts/log.ts';
import { type Script, defineScript } from './scripts/script.ts';

/** KEYS: the log, the versions of the names. ARGV: known version, step, life of a log, names. */
const APPEND = `${COMMON}
local head, names = readLog(KEYS[1], ARGV[1], ARGV[2], ARGV[3], ${CHANGES_MAX})
local version = append(KEYS[1], head, ARGV[2], ARGV[4])
if names then names[#names + 1] = ARGV[4] end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
for i = 2, #KEYS do redis.call('SET', KEYS[i], version, 'PX', ARGV[3]) end
return {version, names}`;

const RETRY_MS = 500;
const FLUSH_MS = 100;
/** With more names unsent, everything is invalidated. */
const UNSENT_MAX = 10_000;
/** Names in one command. */
const NAMES_MAX = 500;
/** A failover may lose the last versions. Those that this process added are repeated if they may be among them. */
const REMEMBERED_MS = 60_000;

/** What a script says of the log: its head, and the names since the version that the process knew, or null if the log does not say. */
export type LogReply = [head: string, names: readonly string[] | null];

/** Called with the names to drop from memory, null if they are unknown, and the version that memory has then. */
export type OnLog = (names: readonly string[] | null, version: string) => void;

interface InvalidationParts {
  connection: RedisConnection;
  keys: RedisKeys;
  call: RedisCall;
  onLog: OnLog;
}

export class Invalidations {
  private readonly parts: InvalidationParts;
  private readonly append: Script;
  private readonly names = new Set<string>();
  private isEverythingUnsent = false;
  /** Sent, but not known to be in the log. A name that is added meanwhile is sent again: its write may be later than the note. */
  private underWay: readonly string[] = [];
  private isEverythingUnderWay = false;
  /** What this process added lately, with its time. */
  private sent: readonly { names: readonly string[]; at: number }[] = [];
  private version = '';
  private sending: Promise<void> | undefined;
  private retry: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(parts: InvalidationParts) {
    this.parts = parts;
    this.append = defineScript(parts.connection, 'catalogInvalidate', APPEND);
  }

  /** The version of the log that memory has. */
  known(): string {
    return this.version;
  }

  /** Names that are not in the log yet. */
  unsent(): number {
    const isEverything = this.isEverythingUnsent || this.isEverythingUnderWay;
    return isEverything ? UNSENT_MAX : this.names.size + this.underWay.length;
  }

  /** Each reply has the changes since the version that was known when the script was sent. Replies may overtake one another. */
  apply([head, names]: LogReply): void {
    const before = this.version;
    if (head === before || isOlder(head, before)) return;
    this.version = head;
    this.parts.onLog(names?.flatMap((each) => each.split('\n')) ?? null, head);
    if (!names && before !== '') this.repeatSent();
  }

  /** Whether an entry in Redis may be older than an invalidation by this process. */
  isUnsent({ tag, groupTag, partition }: CacheKey): boolean {
    if (this.unsent() === 0) return false;
    const isUnsent = (name: string) => this.names.has(name) || this.underWay.includes(name);
    return this.unsent() === UNSENT_MAX || [tag, groupTag, partition].some(isUnsent);
  }

  /** False if other replicas do not know it yet. */
  async add(names: readonly string[]): Promise<boolean> {
    if (this.names.size + names.length > UNSENT_MAX) this.isEverythingUnsent = true;
    else for (const name of names) this.names.add(name);
    await this.send();
    return !this.isEverythingUnsent && !names.some((name) => this.names.has(name));
  }

  /** Before the process ends: without pauses. Returns the number of names that other replicas will not know. */
  async flush(withinMs: number): Promise<number> {
    const end = performance.now() + withinMs;
    for (;;) {
      this.parts.connection.retryNow();
      await this.send();
      const left = end - performance.now();
      if (this.unsent() === 0 || left <= 0) break;
      await sleep(Math.min(FLUSH_MS, left));
    }
    clearTimeout(this.retry);
    this.isClosed = true;
    return this.unsent();
  }

  private async send(): Promise<void> {
    if (this.unsent() > 0) await (this.sending ??= this.sendAll());
  }

  /** One command at a time, of several names. */
  private async sendAll(): Promise<void> {
    let isSent = true;
    while (isSent && this.unsent() > 0)
      isSent = await (this.isEverythingUnsent ? this.sendEverything() : this.sendSome());
    this.sending = undefined;
    if (!isSent) this.retryLater();
  }

  private async sendSome(): Promise<boolean> {
    const names = [...this.names].slice(0, NAMES_MAX);
    for (const name of names) this.names.delete(name);
    this.underWay = names;
    const reply = await this.parts.call(() => this.appended(names));
    this.underWay = [];
    if (!reply) {
      for (const name of names) this.names.add(name);
      return false;
    }
    if (reply !== 'everything') this.apply(reply);
    const now = performance.now();
    this.sent = [...this.sent.filter(({ at }) => at > now - REMEMBERED_MS), { names, at: now }];
    return true;
  }

  private async appended(names: readonly string[]): Promise<LogReply | 'everything'> {
    const { keys, connection } = this.parts;
    const values = [this.version, randomStep(), INVALIDATION_LIFE_MS, names.join('\n')];
    const add = () => this.append([keys.log, ...names.map(keys.versionKey)], values) as Promise<LogReply>;
    try {
      return await add();
    } catch (error) {
      if (!(error as Error).message.includes('OOM')) throw error;
      // A full Redis still deletes. Without the log everything is invalidated, and there may be room for a new one.
      await connection.redis.del(keys.log);
      return add().catch(() => 'everything' as const);
    }
  }

  private async sendEverything(): Promise<boolean> {
    const { keys, connection, call } = this.parts;
    this.names.clear();
    this.isEverythingUnsent = false;
    this.isEverythingUnderWay = true;
    const isDone = (await call(() => connection.redis.del(keys.log))) !== undefined;
    this.isEverythingUnderWay = false;
    if (!isDone) this.isEverythingUnsent = true;
    return isDone;
  }

  private repeatSent(): void {
    const oldest = performance.now() - REMEMBERED_MS;
    for (const { names, at } of this.sent) if (at > oldest) for (const name of names) this.names.add(name);
    this.sent = [];
    void this.send();
  }

  /** Also without further requests: other replicas serve the old entries until the names are in the log. */
  private retryLater(): void {
    // Also while the client has given up: it connects again a moment later.
    if (this.retry || this.isClosed) return;
    const again = () => {
      this.retry = undefined;
      void this.send();
    };
    this.retry = setTimeout(again, RETRY_MS).unref();
  }
}

/** Whether a version is earlier: it is in a reply that another one overtook. */
function isOlder(head: string, known: string): boolean {
  const [generation, number] = head.split('-').map(Number);
  const [knownGeneration, knownNumber] = known.split('-').map(Number);
  return generation === knownGeneration ? number! < knownNumber! : generation! < knownGeneration!;
}

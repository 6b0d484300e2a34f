/**
 * What this process has to invalidate in Redis. A mutation is answered after Redis has done it. A process uses what it has in memory only
 * after it asked Redis, so nothing depends on a message that may be lost, or on clocks.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CacheKey } from '../cache/memory.ts';
import type { RedisCall } from './connection/channel.ts';
import type { RedisConnection } from './connection/connection.ts';
import { EVERYTHING, type KnownEpoch, type RedisKeys, laterEpoch, randomValue } from './keys.ts';
import { INVALIDATE } from './scripts/cache-scripts.ts';
import { defineScript } from './scripts/script.ts';

const RETRY_MS = 500;
const FLUSH_MS = 100;
/** With more names unsent, everything is invalidated. */
const UNSENT_MAX = 10_000;
/** Names in one command. */
const NAMES_MAX = 500;

export type Invalidations = ReturnType<typeof createInvalidations>;

export function createInvalidations(connection: RedisConnection, keys: RedisKeys, call: RedisCall, epoch: KnownEpoch) {
  const invalidate = defineScript(connection, 'catalogInvalidate', INVALIDATE);
  /** Each with a number: a name that is added while it is sent is sent again, because its write may be later. */
  const unsent = new Map<string, number>();
  let added = 0;
  let sending: Promise<void> | undefined;
  let retry: NodeJS.Timeout | undefined;
  let isClosed = false;

  const size = (): number => (unsent.has(EVERYTHING) ? UNSENT_MAX : unsent.size);

  function add(names: readonly string[]): void {
    const isTooMany = unsent.size + names.length > UNSENT_MAX;
    if (isTooMany) unsent.clear();
    for (const name of isTooMany ? [EVERYTHING] : names) unsent.set(name, ++added);
  }
  /** One command at a time, of several names. */
  async function sendAll(): Promise<void> {
    let reply: unknown = '';
    while (reply !== undefined && unsent.size > 0) {
      const sent = [...unsent].slice(0, NAMES_MAX);
      const names = [keys.epochs, ...sent.map(([name]) => keys.counter(name))];
      reply = await call(() => invalidate(names, [epoch.known, randomValue()]));
      if (reply === undefined) continue;
      laterEpoch(epoch, reply as string);
      for (const [name, number] of sent) if (unsent.get(name) === number) unsent.delete(name);
    }
    sending = undefined;
    if (reply === undefined && !isClosed) retry ??= setTimeout(again, RETRY_MS).unref();
  }
  /** Also without further requests: other replicas serve the old entries until it is done. */
  function again(): void {
    retry = undefined;
    void send();
  }
  const send = async (): Promise<void> => (unsent.size > 0 ? (sending ??= sendAll()) : undefined);

  return {
    /** Names that Redis does not know yet. */
    unsent: size,
    /** Whether an entry in Redis may be older than an invalidation by this process. */
    isUnsent: ({ tag, groupTag, partition }: CacheKey): boolean =>
      unsent.size > 0 && [tag, groupTag, partition, EVERYTHING].some((name) => unsent.has(name)),
    /** False if other replicas do not know it yet. */
    async add(names: readonly string[]): Promise<boolean> {
      add(names);
      await send();
      return ![...names, EVERYTHING].some((name) => unsent.has(name));
    },
    /** Before the process ends: without pauses. Returns the number of names that other replicas will not know. */
    async flush(withinMs: number): Promise<number> {
      const end = performance.now() + withinMs;
      for (;;) {
        connection.retryNow();
        await send();
        const left = end - performance.now();
        if (unsent.size === 0 || left <= 0) break;
        await sleep(Math.min(FLUSH_MS, left));
      }
      isClosed = true;
      clearTimeout(retry);
      return size();
    },
  };
}

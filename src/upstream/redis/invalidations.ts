/**
 * What this process has to invalidate in Redis. A mutation is answered after Redis has done it. A process uses what it has in memory only
 * after it asked Redis, so nothing depends on a message that may be lost, or on clocks.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CacheKey } from '../cache/memory.ts';
import type { RedisCall } from './connection/channel.ts';
import type { RedisConnection } from './connection/connection.ts';
import { EVERYTHING, type RedisKeys, randomValue } from './keys.ts';
import { INVALIDATE } from './scripts/cache-scripts.ts';
import { defineScript } from './scripts/script.ts';

const RETRY_MS = 500;
const FLUSH_MS = 100;
/** With more names unsent, everything is invalidated. */
const UNSENT_MAX = 10_000;
/** Names in one command. */
const NAMES_MAX = 500;

export type Invalidations = ReturnType<typeof createInvalidations>;

export function createInvalidations(connection: RedisConnection, keys: RedisKeys, call: RedisCall) {
  const invalidate = defineScript(connection, 'catalogInvalidate', INVALIDATE);
  const unsent = new Set<string>();
  /** Those of the command under way. A name that is added meanwhile is sent again: its write may be later. */
  let inFlight: readonly string[] = [];
  let sending: Promise<void> | undefined;
  let retry: NodeJS.Timeout | undefined;
  let isClosed = false;

  const isOpen = (name: string): boolean => unsent.has(name) || inFlight.includes(name);
  const size = (): number => (isOpen(EVERYTHING) ? UNSENT_MAX : unsent.size + inFlight.length);

  function add(names: readonly string[]): void {
    const isTooMany = unsent.size + names.length > UNSENT_MAX;
    if (isTooMany) unsent.clear();
    for (const name of isTooMany ? [EVERYTHING] : names) unsent.add(name);
  }
  /** One command at a time, of several names. */
  async function sendAll(): Promise<void> {
    let isDone = true;
    while (isDone && unsent.size > 0) {
      inFlight = [...unsent].slice(0, NAMES_MAX);
      for (const name of inFlight) unsent.delete(name);
      const names = [keys.epoch, ...inFlight.map(keys.counter)];
      isDone = (await call(() => invalidate(names, [randomValue()]))) !== undefined;
      if (!isDone) add(inFlight);
      inFlight = [];
    }
    sending = undefined;
    if (!isDone && !isClosed) retry ??= setTimeout(again, RETRY_MS).unref();
  }
  /** Also without further requests: other replicas serve the old entries until it is done. */
  function again(): void {
    retry = undefined;
    void send();
  }
  const send = async (): Promise<void> => (unsent.size > 0 ? (sending ??= sendAll()) : sending);

  return {
    /** Names that Redis does not know yet. */
    unsent: size,
    /** Whether an entry in Redis may be older than an invalidation by this process. */
    isUnsent: ({ tag, groupTag, partition }: CacheKey): boolean => [tag, groupTag, partition, EVERYTHING].some(isOpen),
    /** False if other replicas do not know it yet. */
    async add(names: readonly string[]): Promise<boolean> {
      add(names);
      await send();
      return unsent.size + inFlight.length === 0 || ![...names, EVERYTHING].some(isOpen);
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

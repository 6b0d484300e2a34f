/**
 * What this process has to invalidate in Redis. A mutation is answered after Redis has done it. A process uses what it has in memory only
 * after it asked Redis, so nothing depends on a message that may be lost, or on clocks.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { oneAtATime } from '../../lib/event-loop.ts';
import type { CacheKey } from '../cache/memory.ts';
import type { RedisCall } from './connection/channel.ts';
import type { RedisConnection } from './connection/connection.ts';
import { EVERYTHING, type RedisKeys } from './keys.ts';

const RETRY_MS = 500;
const FLUSH_MS = 100;
/** With more names unsent, everything is invalidated. */
const UNSENT_MAX = 1_000;

export type Invalidations = ReturnType<typeof createInvalidations>;

export function createInvalidations({ redis }: RedisConnection, keys: RedisKeys, call: RedisCall) {
  /** The names that Redis does not know yet, by the number of their last invalidation. */
  const unsent = new Map<string, number>();
  let last = 0;

  /** All in one command. A name that is added meanwhile is sent again: its write may be later. */
  const send = oneAtATime(async () => {
    const sent = last;
    const names = [...unsent.keys()].map(keys.counter);
    if (names.length > 0 && (await call(() => redis.del(keys.epoch, ...names))) === undefined) return false;
    for (const [name, number] of unsent) if (number <= sent) unsent.delete(name);
    return true;
  });
  // Also without further requests: other replicas serve the old entries until it is done.
  const retries = setInterval(() => unsent.size > 0 && void send(), RETRY_MS).unref();

  const count = (): number => (unsent.has(EVERYTHING) ? UNSENT_MAX : unsent.size);

  return {
    /** At least so many. */
    unsent: count,
    /** Whether an entry in Redis may be older than an invalidation by this process. */
    isUnsent: ({ tag, groupTag, partition }: CacheKey): boolean =>
      unsent.size > 0 && [tag, groupTag, partition, EVERYTHING].some((name) => unsent.has(name)),
    /** False if other replicas do not know it yet. */
    add(names: readonly string[]): Promise<boolean> {
      last++;
      const isTooMany = unsent.size + names.length > UNSENT_MAX;
      if (isTooMany) unsent.clear();
      for (const name of isTooMany ? [EVERYTHING] : names) unsent.set(name, last);
      return send();
    },
    /** Before the process ends. Returns the number of names that other replicas will not know. */
    flush: async (withinMs: number): Promise<number> => {
      clearInterval(retries);
      const end = performance.now() + withinMs;
      while (!(await send()) && performance.now() < end) await sleep(Math.min(FLUSH_MS, end - performance.now()));
      return count();
    },
  };
}

/** The pauses of all processes, in Redis. A key lasts somewhat longer than its pause, so that the next refusal makes it longer. */
import { REMEMBERED_MS, type SharedPause, type SharedPauses } from '../limits/pauses.ts';
import type { RedisCall } from './connection/channel.ts';
import type { RedisConnection } from './connection/connection.ts';
import { nameOfEvents } from './keys.ts';
import { defineScript } from './scripts/script.ts';

/** Returns how long each key lasts, and its refusals. */
const READ = `local found = {}
for i, key in ipairs(KEYS) do found[i] = {redis.call('PTTL', key), tonumber(redis.call('GET', key) or 0)} end
return found`;
/** ARGV: refusals, how long the key lasts in ms. The longer of two pauses stays. */
const BEGIN = `if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) end
return 0`;
/** ARGV: how long the key lasts after its pause, in ms. */
const END = `if redis.call('PTTL', KEYS[1]) <= tonumber(ARGV[1]) then redis.call('DEL', KEYS[1]) end
return 0`;

/** `events`: names the service of events. */
export function createRedisPauses(connection: RedisConnection, inTime: RedisCall, events: string): SharedPauses {
  const pauseKey = (of: string) => connection.key(`pause:${of.startsWith('events ') ? nameOfEvents(events, of) : of}`);
  const readPauses = defineScript(connection, 'catalogReadPauses', READ);
  const beginPause = defineScript(connection, 'catalogBeginPause', BEGIN);
  const endPause = defineScript(connection, 'catalogEndPause', END);
  /** The reads of this turn: calls of one credential to one group share one. */
  const reads = new Map<string, Promise<readonly SharedPause[] | undefined>>();

  async function read(keys: readonly string[]): Promise<readonly SharedPause[] | undefined> {
    const reply = await inTime(
      () => readPauses(keys.map(pauseKey), []) as Promise<[lasts: number, refusals: number][]>,
    );
    return reply?.map(([lasts, refusals]) => ({ leftMs: lasts - REMEMBERED_MS, refusals }));
  }

  return {
    read(keys) {
      const all = keys.join('\n');
      const known = reads.get(all);
      if (known) return known;
      if (reads.size === 0) setImmediate(() => reads.clear());
      const pauses = read(keys);
      reads.set(all, pauses);
      return pauses;
    },
    begin(key, { leftMs, refusals }) {
      void inTime(() => beginPause([pauseKey(key)], [refusals, Math.ceil(leftMs) + REMEMBERED_MS]));
    },
    end(key) {
      void inTime(() => endPause([pauseKey(key)], [REMEMBERED_MS]));
    },
  };
}

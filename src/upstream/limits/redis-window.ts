/** The sliding windows of the rate limit, in Redis: replicas count together. */
import type { Redis } from 'ioredis';
import type { RedisCall } from '../redis-call.ts';
import { type SharedSlidingWindows, WINDOW_MS } from './sliding-window.ts';

const NOW = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;
/** ARGV[1]: the longest that a slot is held, in ms. A slot with a later end was taken before the clock of Redis was set back. */
const TIDIED = `${NOW}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZREMRANGEBYSCORE', KEYS[1], string.format('(%.0f', now + ARGV[1]), '+inf')
`;
/** KEYS: the window. ARGV: hold in ms, slots, slots per address, address, slot. */
const TAKE = `${TIDIED}
local slots = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
local mine, mineBack = 0, nil
local owner = ARGV[4] .. ' '
for i = 1, #slots, 2 do
  if string.sub(slots[i], 1, #owner) == owner then
    mine = mine + 1
    mineBack = mineBack or slots[i + 1]
  end
end
if #slots / 2 >= tonumber(ARGV[2]) then return math.max(1, slots[2] - now) end
if mine >= tonumber(ARGV[3]) then return math.max(1, mineBack - now) end
redis.call('ZADD', KEYS[1], now + ARGV[1], owner .. ARGV[5])
redis.call('PEXPIRE', KEYS[1], ARGV[1] + 60000)
return 0`;
/** ARGV: the slot with its address, ms until it is free. */
const ANSWERED = `${NOW}
redis.call('ZADD', KEYS[1], 'XX', now + ARGV[2], ARGV[1])
return 0`;
/** ARGV: hold in ms. */
const STATE = `${TIDIED}
local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
if #first == 0 then return {0, 0} end
return {redis.call('ZCARD', KEYS[1]), math.max(1, first[2] - now)}`;

/** Sorted sets of slots by the time when they are free again, on the clock of Redis. */
export function createRedisWindows(redis: Redis, inTime: RedisCall): SharedSlidingWindows {
  const windowKey = (of: string) => `window:${of}`;
  const member = (address: string, id: string) => `${address} ${id}`;
  return {
    async take({ window, id, address }, { slots, perAddress, holdMs }) {
      const wait = await inTime(() => redis.eval(TAKE, 1, windowKey(window), holdMs, slots, perAddress, address, id));
      return typeof wait === 'number' ? wait : undefined;
    },
    settle({ window, id, address }) {
      void inTime(() => redis.eval(ANSWERED, 1, windowKey(window), member(address, id), WINDOW_MS));
    },
    release({ window, id, address }) {
      void inTime(() => redis.zrem(windowKey(window), member(address, id)));
    },
    async state(of, holdMs) {
      const state = await inTime(() => redis.eval(STATE, 1, windowKey(of), holdMs));
      if (!Array.isArray(state)) return undefined;
      const [taken, backInMs] = state as [number, number];
      return { taken, backInMs: taken ? backInMs : undefined };
    },
  };
}

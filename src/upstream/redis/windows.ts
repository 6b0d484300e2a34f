/** The sliding windows of the rate limit, in Redis: replicas count together. */
import { type SharedSlidingWindows, WINDOW_MS } from '../limits/sliding-window.ts';
import type { RedisCall } from './channel.ts';
import type { RedisConnection } from './connection.ts';
import { defineScript } from './script.ts';

const NOW = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;
/** ARGV[1]: the longest that a slot is held, in ms. A slot with a later end was taken before the clock of Redis was set back. */
const TIDIED = `${NOW}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZREMRANGEBYSCORE', KEYS[1], string.format('(%.0f', now + ARGV[1]), '+inf')
`;
/** ARGV[2]: what the counted slots begin with. */
const COUNTED = `${TIDIED}
local slots = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
local taken, wait = 0, 0
for i = 1, #slots, 2 do
  if string.sub(slots[i], 1, #ARGV[2]) == ARGV[2] then
    taken = taken + 1
    if taken == 1 then wait = math.max(1, slots[i + 1] - now) end
  end
end
`;
/** KEYS: the window. ARGV: hold in ms, address, slots, slots per address, slot. */
const TAKE = `${COUNTED}
if #slots / 2 >= tonumber(ARGV[3]) then return math.max(1, slots[2] - now) end
if taken >= tonumber(ARGV[4]) then return wait end
redis.call('ZADD', KEYS[1], now + ARGV[1], ARGV[5])
redis.call('PEXPIRE', KEYS[1], ARGV[1] + 60000)
return 0`;
/** ARGV: the slot with its address, ms until it is free. */
const SETTLE = `${NOW}
redis.call('ZADD', KEYS[1], 'XX', now + ARGV[2], ARGV[1])
return 0`;
/** ARGV: hold in ms, address or nothing. */
const STATE = `${COUNTED}
return {taken, wait}`;

/** Sorted sets of slots by the time when they are free again, on the clock of Redis. */
export function createRedisWindows({ redis, key }: RedisConnection, inTime: RedisCall): SharedSlidingWindows {
  const windowKey = (of: string) => key(`window:${of}`);
  const takeSlot = defineScript(redis, 'catalogTakeSlot', TAKE);
  const settleSlot = defineScript(redis, 'catalogSettleSlot', SETTLE);
  const countSlots = defineScript(redis, 'catalogCountSlots', STATE);
  const owner = (address: string) => `${address} `;
  const member = (address: string, id: string) => owner(address) + id;
  return {
    async take({ window, id, address }, { slots, perAddress, holdMs }) {
      const given = [holdMs, owner(address), slots, perAddress, member(address, id)];
      const wait = await inTime(
        () => takeSlot([windowKey(window)], given),
        // The call counts in this process alone by then.
        (late) => late === 0 && void redis.zrem(windowKey(window), member(address, id)).catch(() => undefined),
      );
      return typeof wait === 'number' ? wait : undefined;
    },
    settle({ window, id, address }) {
      void inTime(() => settleSlot([windowKey(window)], [member(address, id), WINDOW_MS]));
    },
    release({ window, id, address }) {
      void inTime(() => redis.zrem(windowKey(window), member(address, id)));
    },
    async state(of, holdMs, address) {
      const counted = address === undefined ? '' : owner(address);
      const state = await inTime(() => countSlots([windowKey(of)], [holdMs, counted]));
      if (!Array.isArray(state)) return undefined;
      const [taken, backInMs] = state as [number, number];
      return { taken, backInMs: taken ? backInMs : undefined };
    },
  };
}

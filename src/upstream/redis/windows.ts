/** The sliding windows of the rate limit, in Redis: replicas count together. */
import { type SharedSlidingWindows, WINDOW_MS } from '../limits/sliding-window.ts';
import type { RedisCall } from './connection/channel.ts';
import type { RedisConnection } from './connection/connection.ts';
import { NOW, defineScript } from './scripts/script.ts';

/**
 * ARGV: the longest that a slot is held, in ms; what the counted slots begin with. `first`: when the first of them is free. A slot with a
 * later end was taken before the clock of Redis was set back.
 */
const COUNTED = `${NOW}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZREMRANGEBYSCORE', KEYS[1], string.format('(%.0f', now + ARGV[1]), '+inf')
local slots = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
local taken, first = 0, nil
for i = 1, #slots, 2 do
  if string.sub(slots[i], 1, #ARGV[2]) == ARGV[2] then
    taken = taken + 1
    first = first or slots[i + 1]
  end
end
`;
/** KEYS: the window. ARGV: hold in ms, address, slots, slots per address, the slot. Returns 0, or the ms until one is free. */
const TAKE = `${COUNTED}
local isFull = #slots / 2 >= tonumber(ARGV[3])
if isFull or taken >= tonumber(ARGV[4]) then
  return math.max(1, (isFull and slots[2] or first or now + ARGV[1]) - now)
end
redis.call('ZADD', KEYS[1], now + ARGV[1], ARGV[5])
redis.call('PEXPIRE', KEYS[1], ARGV[1] + 60000)
return 0`;
/** ARGV: ms until it is free, the slot with its address. */
const SETTLE = `${NOW}
return redis.call('ZADD', KEYS[1], 'XX', now + ARGV[1], ARGV[2])`;
/** ARGV: hold in ms, address or nothing. */
const STATE = `${COUNTED}
return {taken, first and math.max(1, first - now) or 0}`;

/**
 * Sorted sets of slots by the time when they are free again, on the clock of Redis. No slots are taken in advance: a limited
 * credential makes few calls a minute, and slots at rest would be missing elsewhere.
 */
export function createRedisWindows(connection: RedisConnection, inTime: RedisCall): SharedSlidingWindows {
  const windowKey = (of: string) => connection.key(`window:${of}`);
  const takeSlot = defineScript(connection, 'catalogTakeSlot', TAKE);
  const settleSlots = defineScript(connection, 'catalogSettleSlots', SETTLE);
  const countSlots = defineScript(connection, 'catalogCountSlots', STATE);
  const owner = (address: string) => `${address} `;
  const member = (address: string, id: string) => owner(address) + id;
  return {
    take: ({ window, id, address }, { slots, perAddress, holdMs }) =>
      inTime(() => {
        const values = [holdMs, owner(address), slots, perAddress, member(address, id)];
        return takeSlot([windowKey(window)], values) as Promise<number>;
      }),
    settle: ({ window, id, address }) =>
      void inTime(() => settleSlots([windowKey(window)], [WINDOW_MS, member(address, id)])),
    release: ({ window, id, address }) =>
      void inTime(() => connection.redis.zrem(windowKey(window), member(address, id))),
    async state(of, holdMs, address) {
      const counted = address === undefined ? '' : owner(address);
      const state = await inTime(() => countSlots([windowKey(of)], [holdMs, counted]) as Promise<[number, number]>);
      return state && { taken: state[0], backInMs: state[0] ? state[1] : undefined };
    },
  };
}

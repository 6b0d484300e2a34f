/** The sliding windows of the rate limit, in Redis: replicas count together. */
import { atEndOfTurn } from '../../lib/event-loop.ts';
import { type SharedSlidingWindows, type Slot, WINDOW_MS, type WindowLimits } from '../limits/sliding-window.ts';
import type { RedisCall } from './connection/channel.ts';
import type { RedisConnection } from './connection/connection.ts';
import { NOW, defineScript } from './scripts/script.ts';

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
/**
 * KEYS: the window. ARGV: hold in ms, address, slots, slots per address, the wanted slots. Returns how many of them it took, and the ms until
 * the first is free for the others.
 */
const TAKE = `${COUNTED}
local left, mine = ARGV[3] - #slots / 2, ARGV[4] - taken
local granted = math.max(0, math.min(#ARGV - 4, left, mine))
for i = 5, 4 + granted do redis.call('ZADD', KEYS[1], now + ARGV[1], ARGV[i]) end
if granted > 0 then redis.call('PEXPIRE', KEYS[1], ARGV[1] + 60000) end
if left <= mine then wait = slots[2] and slots[2] - now or 0 end
if wait <= 0 then wait = tonumber(ARGV[1]) end
return {granted, math.max(1, wait)}`;
/** ARGV: ms until it is free, the slot with its address. */
const SETTLE = `${NOW}
return redis.call('ZADD', KEYS[1], 'XX', now + ARGV[1], ARGV[2])`;
/** ARGV: hold in ms, address or nothing. */
const STATE = `${COUNTED}
return {taken, wait}`;

interface Take {
  slot: Slot;
  limits: WindowLimits;
  resolve: (wait: number | undefined) => void;
}

/**
 * Sorted sets of slots by the time when they are free again, on the clock of Redis. All takes of a turn are one command. No slots are taken
 * in advance: a limited credential makes few calls a minute, and slots at rest would be missing elsewhere.
 */
export function createRedisWindows(connection: RedisConnection, inTime: RedisCall): SharedSlidingWindows {
  const windowKey = (of: string) => connection.key(`window:${of}`);
  const takeSlots = defineScript(connection, 'catalogTakeSlots', TAKE);
  const settleSlots = defineScript(connection, 'catalogSettleSlots', SETTLE);
  const countSlots = defineScript(connection, 'catalogCountSlots', STATE);
  const owner = (address: string) => `${address} `;
  const member = (address: string, id: string) => owner(address) + id;
  /** Those of this turn, by what a command takes for. */
  const groups = new Map<string, Take[]>();
  const turn = atEndOfTurn<void>(() => {
    const all = [...groups.values()];
    groups.clear();
    for (const takes of all) void takeAll(takes);
  });

  /** Takes by one address. */
  async function takeAll(takes: readonly Take[]): Promise<void> {
    const {
      slot: { window, address },
      limits,
    } = takes[0]!;
    const members = takes.map(({ slot }) => member(address, slot.id));
    const values = [limits.holdMs, owner(address), limits.slots, limits.perAddress, ...members];
    const taken = () => takeSlots([windowKey(window)], values) as Promise<[granted: number, wait: number]>;
    const reply = await inTime(taken);
    takes.forEach(({ resolve }, at) => resolve(reply && (at < reply[0] ? 0 : reply[1])));
  }

  return {
    take: (slot, limits) =>
      new Promise((resolve) => {
        if (groups.size === 0) turn.add();
        const group = `${slot.window} ${limits.slots} ${limits.perAddress} ${slot.address}`;
        groups.set(group, [...(groups.get(group) ?? []), { slot, limits, resolve }]);
      }),
    settle: ({ window, id, address }) =>
      void inTime(() => settleSlots([windowKey(window)], [WINDOW_MS, member(address, id)])),
    release: ({ window, id, address }) =>
      void inTime(() => connection.redis.zrem(windowKey(window), member(address, id))),
    async state(of, holdMs, address) {
      const counted = address === undefined ? '' : owner(address);
      const state = await inTime(() => countSlots([windowKey(of)], [holdMs, counted]));
      if (!Array.isArray(state)) return undefined;
      const [taken, backInMs] = state as [number, number];
      return { taken, backInMs: taken ? backInMs : undefined };
    },
  };
}

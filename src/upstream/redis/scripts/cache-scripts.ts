/**
 * The scripts of the shared cache.
 *
 * Each name (a record, a list, a kind, the scope of a person, everything) has a counter with a random value. To invalidate a name is to delete
 * its counter; whoever needs one that is missing makes a new one. An entry, and a lease, has a stamp: the run of this Redis and the values of
 * its counters. One whose stamp is not that of now is none, so none counts after a restart, from a snapshot, or on a replica that took over.
 *
 * The epoch is a counter that each invalidation deletes too: as long as it stays, nothing was invalidated.
 *
 * KEYS: the epoch, then of each record its entry, its lease and its counters, the last of which is its own. ARGV: a random text, owner of
 * leases, records; then of each record what the script says.
 */
import { COUNTERS, COUNTER_LIFE_MS, LEASE_MS, NEW_COUNTER_LIFE_MS } from '../keys.ts';
import { NOW } from './script.ts';

const KEYS_OF_RECORD = 2 + COUNTERS;

const COMMON = `${NOW}
local random, owner = ARGV[1], ARGV[2]
-- Empty if the user of Redis may not ask for it.
local function info(section)
  local text = redis.pcall('INFO', section)
  return type(text) == 'string' and text or ''
end
local run = string.sub(string.match(info('server'), 'run_id:(%w+)') or '', 1, 12)
-- Records have names in common.
local values = {}
-- Of a counter, which is made if it is missing; empty if a full Redis does not take it.
local function valueOf(key, lifeMs)
  local value = values[key] or redis.call('GET', key)
  if not value then value = redis.pcall('SET', key, random, 'PX', lifeMs).ok and random or '' end
  values[key] = value
  return value
end
-- A counter lives longer than any entry that has its value.
local function outlive(key, lifeMs)
  if redis.call('PTTL', key) < lifeMs then redis.call('PEXPIRE', key, lifeMs) end
end
-- Of the record whose entry is at that index in KEYS; empty if it has none.
local function stampOf(at)
  local stamp = run
  for index = at + 2, at + ${KEYS_OF_RECORD - 1} do
    local value = valueOf(KEYS[index], ${NEW_COUNTER_LIFE_MS})
    if value == '' then return '' end
    stamp = stamp .. '.' .. value
  end
  return stamp
end
`;

/** The lease in a reply: not needed, taken by this process, or held by another. */
const NONE = 0;
export const GRANTED = 1;
export const HELD = 2;
export type LeaseReply = typeof NONE | typeof GRANTED | typeof HELD;

/** The epoch, the time of Redis, then of each record its stamp, its entry and its lease. */
export type LookupReply = [epoch: string, redisNow: number, ...(string | number)[]];

/**
 * Has of each record: '1' to take the lease if there is no fresh entry, the stamp of the entry that the process has if that has all members
 * that are needed, and '1' if it is fresh.
 */
export const LOOK_UP = `${COMMON}
local epoch = valueOf(KEYS[1], ${COUNTER_LIFE_MS})
local reply = {epoch ~= '' and run .. '.' .. epoch or '', now}
for record = 0, ARGV[3] - 1 do
  local at, arg = 2 + ${KEYS_OF_RECORD} * record, 4 + 3 * record
  local lease, stamp, text, taken = KEYS[at + 1], stampOf(at), '', ${NONE}
  local isOwn = stamp ~= '' and ARGV[arg + 1] == stamp
  local isFresh = isOwn and ARGV[arg + 2] == '1'
  if not isFresh then
    local found = redis.call('GET', KEYS[at]) or ''
    local written, fresh = string.match(found, '^(%S+) (%d+)\\n')
    isFresh = written == stamp and tonumber(fresh) > now
    if isFresh or (written == stamp and not isOwn) then text = found end
  end
  if ARGV[arg] == '1' and not isFresh then
    local holder, leased = string.match(redis.call('GET', lease) or '', '^(%S+) (%S+)$')
    -- A lease from before an invalidation leads to an old response.
    if holder and holder ~= owner and leased == stamp then taken = ${HELD} else
      taken = ${GRANTED}
      -- A full Redis can still be read.
      if stamp ~= '' then redis.pcall('SET', lease, owner .. ' ' .. stamp, 'PX', ${LEASE_MS}) end
    end
  end
  for index, value in ipairs({stamp, text, taken}) do reply[2 + 3 * record + index] = value end
end
return reply`;

/**
 * Has of each record: '1' to delete its entry, then what to store: the stamp under which it was read; for how many ms it is fresh; ms to keep;
 * text. Where nothing is evicted, entries fill three quarters of the memory, because a full Redis refuses keys of writes.
 */
export const UPDATE = `${COMMON}
local memory, refusal = info('memory'), nil
local most = tonumber(string.match(memory, 'maxmemory:(%d+)') or 0)
local isFull = most > 0 and string.find(memory, 'maxmemory_policy:noeviction')
  and tonumber(string.match(memory, 'used_memory:(%d+)')) > 0.75 * most
for record = 0, ARGV[3] - 1 do
  local at, arg = 2 + ${KEYS_OF_RECORD} * record, 4 + 5 * record
  local entry, lease, own = KEYS[at], KEYS[at + 1], KEYS[at + ${KEYS_OF_RECORD - 1}]
  local isDeleted, readAs, fresh, life, text = unpack(ARGV, arg, arg + 4)
  -- What was read before an invalidation is not stored after it.
  local isStored = readAs ~= '' and readAs == stampOf(at) and not isFull and tonumber(life) > 0
  -- Other replicas may have it in memory too. Who deletes what is not there, as anybody with an unknown token can, changes nothing.
  if isDeleted == '1' and redis.call('DEL', entry) == 1 then
    redis.call('DEL', own, KEYS[1])
    values[own] = nil
  end
  if isStored then
    local heading = string.format('%s %.0f\\n%.0f ', stampOf(at), now + fresh, now)
    local set = redis.pcall('SET', entry, heading .. text, 'PX', life)
    -- A full Redis stores nothing, and nobody waits for what it does not store.
    if set.err then refusal = set end
    for index = at + 2, at + ${KEYS_OF_RECORD - 1} do outlive(KEYS[index], life + ${NEW_COUNTER_LIFE_MS}) end
  end
  if string.match(redis.call('GET', lease) or '', '^%S+') == owner then redis.call('DEL', lease) end
end
return refusal or now`;

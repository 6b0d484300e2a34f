/**
 * The scripts of the shared cache.
 *
 * Each name (a record, a list, a kind, the scope of a person, everything) has a counter, with a value that no later command gives again. To
 * invalidate a name is to delete its counter; whoever needs one that is missing makes a new one. An entry, and a lease, has a stamp: a hash of
 * the run of this Redis and of the values of its counters. One whose stamp is not that of now is none, so none counts after a restart, from a
 * snapshot, or on a replica that took over.
 *
 * The epoch is a counter that each invalidation deletes too: as long as it stays, nothing was invalidated.
 *
 * KEYS: the epoch, the counters of all records, then of each record its entry and its lease. ARGV: the value of new counters, owner of leases,
 * epoch and counters; then in JSON the records, each with the indexes of its counters, of which the last is its own.
 */
import { COUNTER_LIFE_MS, LEASE_MS, NEW_COUNTER_LIFE_MS } from '../keys.ts';
import { NOW } from './script.ts';

const COMMON = `${NOW}
local newValue, owner, counters, records = ARGV[1], ARGV[2], tonumber(ARGV[3]), cjson.decode(ARGV[4])
-- Empty if the user of Redis may not ask for it.
local function info(section)
  local text = redis.pcall('INFO', section)
  return type(text) == 'string' and text or ''
end
local run = string.sub(string.match(info('server'), 'run_id:(%w+)') or '', 1, 12)
local values = redis.call('MGET', unpack(KEYS, 1, counters))
-- Of a counter, which is made if it is missing; empty if a full Redis does not take it.
local function valueOf(index, lifeMs)
  values[index] = values[index] or (redis.pcall('SET', KEYS[index], newValue, 'PX', lifeMs).ok and newValue) or ''
  return values[index]
end
-- Of a record; empty if it has none.
local function stampOf(indexes)
  local all = {run}
  for place, index in ipairs(indexes) do
    all[1 + place] = valueOf(index, ${NEW_COUNTER_LIFE_MS})
    if all[1 + place] == '' then return '' end
  end
  return string.sub(redis.sha1hex(table.concat(all, ' ')), 1, 16)
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
 * Has of each record: `mayLease`, to take the lease if there is no fresh entry; of the entry in the process, if that has all members that are
 * needed, `stamp` and `isFresh`.
 */
export const LOOK_UP = `${COMMON}
local epoch = valueOf(1, ${COUNTER_LIFE_MS})
local reply = {epoch ~= '' and run .. '.' .. epoch or '', now}
for at, record in ipairs(records) do
  local entry, lease = KEYS[counters + 2 * at - 1], KEYS[counters + 2 * at]
  local stamp, text, taken = stampOf(record.indexes), '', ${NONE}
  local isOwn = stamp ~= '' and record.stamp == stamp
  local isFresh = isOwn and record.isFresh
  if not isFresh then
    local found = redis.call('GET', entry) or ''
    local written, fresh = string.match(found, '^(%S+) (%d+)\\n')
    isFresh = written == stamp and tonumber(fresh) > now
    if isFresh or (written == stamp and not isOwn) then text = found end
  end
  if record.mayLease and not isFresh then
    local holder, leased = string.match(redis.call('GET', lease) or '', '^(%S+) (%S+)$')
    -- A lease from before an invalidation leads to an old response.
    if holder and holder ~= owner and leased == stamp then taken = ${HELD} else
      taken = ${GRANTED}
      -- A full Redis can still be read.
      if stamp ~= '' then redis.pcall('SET', lease, owner .. ' ' .. stamp, 'PX', ${LEASE_MS}) end
    end
  end
  for _, value in ipairs({stamp, text, taken}) do reply[#reply + 1] = value end
end
return reply`;

/**
 * Has of each record: `isDeleted`; of an entry to store `stamp`, under which it was read, `fresh`, for how many ms, and `life`, ms to keep. The
 * texts follow in ARGV. Where nothing is evicted, entries fill three quarters of the memory, because a full Redis refuses keys of writes.
 */
export const UPDATE = `${COMMON}
local memory, refusal, lives = info('memory'), nil, {}
local most = tonumber(string.match(memory, 'maxmemory:(%d+)') or 0)
local isFull = most > 0 and string.find(memory, 'maxmemory_policy:noeviction')
  and tonumber(string.match(memory, 'used_memory:(%d+)')) > 0.75 * most
for at, record in ipairs(records) do
  local entry, lease = KEYS[counters + 2 * at - 1], KEYS[counters + 2 * at]
  local indexes, life, own = record.indexes, record.life, record.indexes[#record.indexes]
  local stamp = record.stamp and stampOf(indexes)
  -- What was read before an invalidation is not stored after it.
  local isStored = stamp and stamp == record.stamp and not isFull and life > 0
  -- Other replicas may have it in memory too. Who deletes what is not there, as anybody with an unknown token can, changes nothing.
  if record.isDeleted and redis.call('DEL', entry) == 1 then
    redis.call('DEL', KEYS[own], KEYS[1])
    values[own] = nil
    stamp = isStored and stampOf(indexes)
  end
  if isStored then
    local heading = string.format('%s %.0f\\n%.0f ', stamp, now + record.fresh, now)
    local set = redis.pcall('SET', entry, heading .. ARGV[4 + at], 'PX', life)
    -- A full Redis stores nothing, and nobody waits for what it does not store.
    if set.err then refusal = set end
    for _, index in ipairs(indexes) do lives[index] = math.max(lives[index] or 0, life + ${NEW_COUNTER_LIFE_MS}) end
  end
  if string.match(redis.call('GET', lease) or '', '^%S+') == owner then redis.call('DEL', lease) end
end
-- A counter lives longer than any entry that has its value.
for index, lifeMs in pairs(lives) do
  if redis.call('PTTL', KEYS[index]) < lifeMs then redis.call('PEXPIRE', KEYS[index], lifeMs) end
end
return refusal or now`;

/**
 * The scripts of the shared cache.
 *
 * Each name (a record, a list, a kind, the scope of a person) has a counter with a random value; to invalidate a name is to delete its
 * counter, and whoever needs one that is missing makes a new one. An entry, and a lease, has a stamp: the generation of this Redis and the
 * values of the counters of its names. One whose stamp is not that of now is none.
 *
 * The epoch is a generation and a random value that is new at each invalidation: as long as it stays, nothing was invalidated. A new
 * generation begins, and no entry counts any more, if there is no epoch, or if it is of another run or of another server: a snapshot was
 * restored, or a replica took over.
 *
 * KEYS: the epoch, then of each record its entry, its lease and the four counters of its names, the last of which is its own. ARGV: a
 * random text, owner of leases, ms of a lease, records; then of each record what the script says.
 */
import { COUNTER_LIFE_MS, NEW_COUNTER_LIFE_MS } from '../keys.ts';
import { NOW } from './script.ts';

const COMMON = `${NOW}
local random, owner, leaseMs = ARGV[1], ARGV[2], ARGV[3]
local function call(...)
  local reply = redis.pcall(...)
  return not (type(reply) == 'table' and reply.err) and reply or nil
end
local function get(key) return call('GET', key) or '' end
-- Of this run of this server; empty if the user of Redis may not ask for it.
local run = string.match(call('INFO', 'server') or '', 'run_id:(%w+)') or ''
run = string.sub(run, 1, 12)
-- Nothing if a full Redis takes it no more: no entry counts then.
local function epochOf(generation)
  local epoch = generation .. '/' .. random
  if call('SET', KEYS[1], epoch, 'PX', ${COUNTER_LIFE_MS}) then return epoch end
  redis.call('DEL', KEYS[1])
  return ''
end
local epoch = get(KEYS[1])
if epoch == '' or string.sub(epoch, 1, #run) ~= run then epoch = epochOf(run .. '.' .. random) end
local generation = string.match(epoch, '^(.*)/') or ''
-- Records have names in common.
local counters = {}
local function counterOf(key)
  counters[key] = counters[key] or get(key)
  return counters[key]
end
-- Of the record whose entry is at that place in KEYS; empty if a counter is missing.
local function stampOf(at)
  local stamp = generation
  for place = at + 2, at + 5 do
    local value = counterOf(KEYS[place])
    if value == '' then return '' end
    stamp = stamp .. '.' .. value
  end
  return generation ~= '' and stamp or ''
end
local function makeCounters(at)
  for place = at + 2, at + 5 do
    local key = KEYS[place]
    if counterOf(key) == '' and call('SET', key, random, 'PX', ${NEW_COUNTER_LIFE_MS}) then counters[key] = random end
  end
  return stampOf(at)
end
`;

/** Whether a lookup takes the lease if there is no fresh entry; `anyway`: also if there is one, because it lacks fields. */
export const MODES = { noLease: 0, lease: 1, anyway: 2 } as const;
/** The lease in a reply: not needed, taken by this process, or held by another. */
const NONE = 0;
export const GRANTED = 1;
export const HELD = 2;
/** Undefined if the entry was not looked up. */
export type LeaseReply = typeof NONE | typeof GRANTED | typeof HELD | undefined;

/** The epoch, the time of Redis, then of each record its stamp (`=`: that of the process's own entry), its entry and its lease. */
export type LookupReply = [epoch: string, redisNow: number, ...(string | number)[]];

/**
 * Has of each record: the mode, the stamp of the entry that the process has, and if that has all members that are needed '1' while it is fresh,
 * else '0': then the one in Redis is sent only if it is fresh and the other is not.
 */
export const LOOK_UP = `${COMMON}
local reply = {epoch, now}
for record = 0, ARGV[4] - 1 do
  local at, arg = 2 + 6 * record, 5 + 3 * record
  local entry, lease = KEYS[at], KEYS[at + 1]
  local mode, own, ownState = tonumber(ARGV[arg]), ARGV[arg + 1], ARGV[arg + 2]
  local stamp, text, taken = stampOf(at), '', ${NONE}
  local isOwn = stamp ~= '' and own == stamp
  local isEnough = isOwn and ownState ~= ''
  local isFresh = isEnough and ownState == '1'
  if not isFresh then
    local written, fresh = string.match(call('GETRANGE', entry, 0, 127) or '', '^(%S+) (%d+)\\n')
    isFresh = written == stamp and tonumber(fresh) > now
    if isFresh or (written == stamp and not isEnough) then text = get(entry) end
  end
  if mode == ${MODES.anyway} or (mode == ${MODES.lease} and not isFresh) then
    local holder, leased = string.match(get(lease), '^(%S+) (%S+)$')
    -- A lease from before an invalidation leads to an old response.
    if holder and holder ~= owner and leased == stamp then taken = ${HELD} else
      taken, stamp = ${GRANTED}, makeCounters(at)
      -- A full Redis can still be read.
      if stamp ~= '' then call('SET', lease, owner .. ' ' .. stamp, 'PX', leaseMs) end
    end
  end
  reply[3 + 3 * record], reply[4 + 3 * record], reply[5 + 3 * record] = isOwn and '=' or stamp, text, taken
end
return reply`;

/**
 * Has of each record: what to do; epoch and stamp under which it was read; for how many ms it is fresh; ms to keep; text. Where nothing is evicted,
 * entries fill three quarters of the memory, because a full Redis refuses keys of writes.
 */
export const UPDATE = `${COMMON}
local memory, before, refusal = call('INFO', 'memory') or '', epoch, nil
local most = tonumber(string.match(memory, 'maxmemory:(%d+)') or 0)
local isFull = most > 0 and string.find(memory, 'maxmemory_policy:noeviction')
  and tonumber(string.match(memory, 'used_memory:(%d+)')) > 0.75 * most
local removed = {}
for record = 0, ARGV[4] - 1 do
  local at, arg = 2 + 6 * record, 5 + 6 * record
  local entry, lease, own = KEYS[at], KEYS[at + 1], KEYS[at + 5]
  local what, readIn, readAs, fresh, life, text = unpack(ARGV, arg, arg + 5)
  local stamp = stampOf(at)
  if what == 'delete' and redis.call('DEL', entry) == 1 then
    -- Other replicas may have it in memory too.
    redis.call('DEL', own)
    counters[own], removed[entry] = '', stamp
    if epoch == before then epoch = epochOf(generation) end
  end
  -- What was read before an invalidation is not stored after it.
  if what == 'store' and not isFull and tonumber(life) > 0 then
    local isCurrent = readAs ~= '' and (readAs == stamp or readAs == removed[entry])
    if isCurrent or (readIn ~= '' and readIn == before) then stamp = makeCounters(at) else stamp = '' end
    if stamp ~= '' then
      local heading = string.format('%s %.0f\\n%.0f ', stamp, now + fresh, now)
      local set = redis.pcall('SET', entry, heading .. text, 'PX', life)
      -- A full Redis stores nothing, and nobody waits for what it does not store.
      if type(set) == 'table' and set.err then refusal = set end
      for place = at + 2, at + 5 do redis.call('PEXPIRE', KEYS[place], ${COUNTER_LIFE_MS}) end
    end
  end
  if what ~= 'delete' and string.match(get(lease), '^%S+') == owner then redis.call('DEL', lease) end
end
return refusal or epoch`;

/** KEYS: the epoch, the counters to delete; the epoch again to invalidate everything. ARGV: random text. */
export const INVALIDATE = `${COMMON}
for i = 2, #KEYS do redis.call('DEL', KEYS[i]) end
return epochOf(redis.call('EXISTS', KEYS[1]) == 1 and generation or run .. '.' .. random)`;

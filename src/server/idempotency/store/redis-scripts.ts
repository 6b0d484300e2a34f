/** The scripts of the keys in Redis. All times are those of its clock. */
import { NOW, type Script, defineScript } from '../../../upstream/redis/script.ts';
import type { RedisConnection } from '../../../upstream/redis/connection/connection.ts';

/** KEYS: record, lease, keys of the owner, open ones. ARGV: fingerprint, run, lease in ms, life in ms, id, most keys, most open ones. */
const CLAIM = `${NOW}
local known = redis.call('HMGET', KEYS[1], 'fingerprint', 'kind', 'text', 'savedAt')
if known[1] and known[1] ~= ARGV[1] then return {'reused'} end
if known[2] == 'response' then return {'replay', known[3]} end
if known[2] == 'mark' then return {'forgotten'} end
if redis.call('EXISTS', KEYS[2]) == 1 then return {'busy'} end
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now)
redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', now)
if not known[1] then
  if redis.call('ZSCORE', KEYS[3], ARGV[5]) then return {'forgotten'} end
  if redis.call('ZCARD', KEYS[3]) >= tonumber(ARGV[6]) then return {'full'} end
  if redis.call('ZCARD', KEYS[4]) >= tonumber(ARGV[7]) then return {'full'} end
  redis.call('HSET', KEYS[1], 'fingerprint', ARGV[1])
  redis.call('ZADD', KEYS[3], now + ARGV[4], ARGV[5])
  redis.call('PEXPIRE', KEYS[3], ARGV[4])
end
redis.call('HSET', KEYS[1], 'run', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
return {'run', known[3] or '', known[4] or ''}`;

/** The record of this run, also where Redis has forgotten it. ARGV[1..3]: run, fingerprint, life in ms. */
const isLost = `
local holder = redis.call('GET', KEYS[2])
local run = redis.call('HGET', KEYS[1], 'run')
local lost = (holder and holder ~= ARGV[1]) or (run and run ~= ARGV[1])
`;

/** KEYS: record, lease, open ones, target. ARGV: run, fingerprint, life in ms, lease in ms, id, journal, state of the target. */
const SAVE = `${NOW}${isLost}
if lost or not holder then return 0 end
redis.call('HSET', KEYS[1], 'fingerprint', ARGV[2], 'run', ARGV[1], 'kind', 'journal', 'text', ARGV[6], 'savedAt', now)
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('ZADD', KEYS[3], now + ARGV[3], ARGV[5])
redis.call('PEXPIRE', KEYS[3], ARGV[3])
redis.call('SET', KEYS[4], ARGV[7], 'PX', ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[4])
return now`;

/** KEYS: lease. ARGV: run. Ends a claim that came too late. */
const RELEASE = `
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1`;

/** KEYS: record, lease. ARGV: run, fingerprint, life in ms, lease in ms, last journal. Puts back what has gone. */
const RENEW = `${NOW}${isLost}
if lost then return 0 end
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[4])
if not run then
  redis.call('HSET', KEYS[1], 'fingerprint', ARGV[2], 'run', ARGV[1])
  if ARGV[5] ~= '' then redis.call('HSET', KEYS[1], 'kind', 'journal', 'text', ARGV[5], 'savedAt', now) end
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
return 1`;

/**
 * KEYS: record, lease, keys of the owner, open ones, kept ones. ARGV: run, fingerprint, life in ms, id, kind, text, most kept ones, most
 * characters of them. Returns the ids of those whose responses must go.
 */
const END = `${NOW}${isLost}
if lost then return {} end
redis.call('DEL', KEYS[2])
redis.call('ZREM', KEYS[4], ARGV[4])
if ARGV[5] == 'nothing' then
  redis.call('DEL', KEYS[1])
  redis.call('ZREM', KEYS[3], ARGV[4])
  return {}
end
redis.call('HSET', KEYS[1], 'fingerprint', ARGV[2], 'run', ARGV[1], 'kind', ARGV[5], 'text', ARGV[6])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('ZADD', KEYS[3], now + ARGV[3], ARGV[4])
redis.call('PEXPIRE', KEYS[3], ARGV[3])
if ARGV[5] == 'journal' then
  redis.call('ZADD', KEYS[4], now + ARGV[3], ARGV[4])
  redis.call('PEXPIRE', KEYS[4], ARGV[3])
end
if ARGV[5] ~= 'response' then return {} end
redis.call('ZADD', KEYS[5], now + ARGV[3], #ARGV[6] .. ' ' .. ARGV[4])
redis.call('PEXPIRE', KEYS[5], ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[5], '-inf', now)
local dropped, characters = {}, 0
local kept = redis.call('ZRANGE', KEYS[5], 0, -1)
for at = #kept, 1, -1 do
  local size, id = string.match(kept[at], '^(%d+) (.*)$')
  characters = characters + size
  if #kept - at >= tonumber(ARGV[7]) or characters > tonumber(ARGV[8]) then
    redis.call('ZREM', KEYS[5], kept[at])
    dropped[#dropped + 1] = id
  end
end
return dropped`;

/** KEYS: records. Of their responses only that the writes are done stays. */
const DROP = `
for _, record in ipairs(KEYS) do
  if redis.call('HGET', record, 'kind') == 'response' then redis.call('HSET', record, 'kind', 'mark', 'text', '') end
end
return 1`;

/** KEYS: queue, ends of the leases of those in it, targets, each with its changes. ARGV: ticket, lease in ms. Returns how many are before it. */
const TURN = `${NOW}
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now)) do
  redis.call('ZREM', KEYS[1], gone)
  redis.call('ZREM', KEYS[2], gone)
end
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then
  local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
  redis.call('ZADD', KEYS[1], (last[2] or 0) + 1, ARGV[1])
end
redis.call('ZADD', KEYS[2], now + ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[1], 10 * ARGV[2])
redis.call('PEXPIRE', KEYS[2], 10 * ARGV[2])
local states, changes = {}, {}
for at = 3, #KEYS, 2 do
  states[#states + 1] = redis.call('GET', KEYS[at]) or ''
  for _, change in ipairs(redis.call('LRANGE', KEYS[at + 1], 0, -1)) do changes[#changes + 1] = change end
end
return {redis.call('ZRANK', KEYS[1], ARGV[1]), now, states, changes}`;

/** KEYS: queue, ends of leases, target. ARGV: ticket, state or nothing, life in ms. */
const LEAVE = `
if ARGV[2] ~= '' and redis.call('ZRANK', KEYS[1], ARGV[1]) == 0 then redis.call('SET', KEYS[3], ARGV[2], 'PX', ARGV[3]) end
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
return 1`;

/** KEYS: changes of targets. ARGV: id or nothing, most changes, life in ms. */
const NOTE = `${NOW}
for _, changes in ipairs(KEYS) do
  redis.call('RPUSH', changes, now .. ' ' .. ARGV[1])
  redis.call('LTRIM', changes, -ARGV[2], -1)
  redis.call('PEXPIRE', changes, ARGV[3])
end
return 1`;

/** KEYS: person of the credential, credentials of the person. ARGV: person, credential, life in ms. */
const LINK = `
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
redis.call('SADD', KEYS[2], ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return 1`;

const scripts = {
  claim: CLAIM,
  save: SAVE,
  renew: RENEW,
  release: RELEASE,
  end: END,
  drop: DROP,
  turn: TURN,
  leave: LEAVE,
  note: NOTE,
  link: LINK,
  now: `${NOW}\nreturn now`,
};

/** For the check at the start. */
export const keyScripts: readonly string[] = Object.values(scripts);

export type KeyScripts = Readonly<Record<keyof typeof scripts, Script>>;

export function defineKeyScripts(connection: RedisConnection): KeyScripts {
  const defined = Object.entries(scripts).map(([name, lua]) => [
    name,
    defineScript(connection, `catalogKey_${name}`, lua),
  ]);
  return Object.fromEntries(defined) as KeyScripts;
}

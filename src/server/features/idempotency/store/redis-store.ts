/** The keys that replicas share, in Redis: a hash for each row, and one for the sums of each account. */
import { setTimeout as sleep } from 'node:timers/promises';
import { NOW, defineScript } from '../../../../upstream/redis/scripts/script.ts';
import type { RedisConnection } from '../../../../upstream/redis/connection/connection.ts';
import {
  type Claim,
  type FoundRow,
  type Held,
  type KeyStore,
  type Row,
  LOCK_MS,
  NEW_ACCOUNT,
  RESPONSES_SHARE,
  STORE_LIMITS,
  accountsOf,
} from './key-store.ts';

/** Rows are counted by parts of their life: a sum forgets a part when its rows are over. */
const PARTS = 24;

/**
 * KEYS: the row; the sums of its token, of all, of new tokens. ARGV: holder, life of a row in ms, '1' for a new token, the most rows of each
 * account, the most characters of each, then the members of the row that is written.
 */
const COMMON = `${NOW}
local info = redis.pcall('INFO', 'server')
local run = type(info) == 'string' and string.match(info, 'run_id:(%x+)') or ''
local sums = {KEYS[2], KEYS[3], KEYS[4]}
local holder, life, isNew = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local fingerprint, token, person, state, text = unpack(ARGV, 10, 14)
local part = math.floor(now / life * ${PARTS})
local row, names = {}, {'fingerprint', 'token', 'person', 'state', 'text', 'savedAt', 'run', 'holder', 'until', 'part', 'new'}
for at, value in ipairs(redis.call('HMGET', KEYS[1], unpack(names))) do row[names[at]] = value or nil end
local exists = row.fingerprint ~= nil
local size = exists and #row.text or 0
local isHeld = row.holder ~= nil and tonumber(row['until']) > now

local function fits(rows, characters)
  for at = 1, isNew == '1' and 3 or 2 do
    local sum = {r = rows, t = characters}
    local all = redis.call('HGETALL', sums[at])
    for field = 1, #all, 2 do
      local of = string.sub(all[field], 1, 1)
      if tonumber(string.sub(all[field], 2)) < part - ${PARTS} then redis.call('HDEL', sums[at], all[field])
      else sum[of] = sum[of] + all[field + 1] end
    end
    if rows > 0 and sum.r > tonumber(ARGV[at + 3]) then return false end
    if characters > 0 and sum.t > tonumber(ARGV[at + 6]) then return false end
  end
  return true
end
local function count(rows, characters, of, new)
  if of < part - ${PARTS} then return end
  for at = 1, new == '1' and 3 or 2 do
    redis.call('HINCRBY', sums[at], 'r' .. of, rows)
    redis.call('HINCRBY', sums[at], 't' .. of, characters)
    redis.call('PEXPIRE', sums[at], 2 * life)
  end
end
local function remove()
  if not exists then return end
  redis.call('DEL', KEYS[1])
  count(-1, 0 - size, tonumber(row.part), row.new)
end
local function put(state, text)
  remove()
  redis.call('HSET', KEYS[1], 'fingerprint', fingerprint, 'token', token, 'person', person, 'state', state, 'text', text,
    'savedAt', now, 'run', run, 'part', part, 'new', isNew)
  redis.call('PEXPIRE', KEYS[1], life)
  count(1, #text, part, isNew)
end
local function lock() redis.call('HSET', KEYS[1], 'holder', holder, 'until', now + ${LOCK_MS}) end
`;

/** Returns the kind of the claim, and the row as it was found, in JSON. */
const CLAIM = `${COMMON}
local isUncertain = row.run ~= run
-- Of a row that is claimed, and whose lock is over, certainly nothing was sent.
if not exists or (row.state == 'claimed' and not isUncertain and not isHeld) then
  if not fits(exists and 0 or 1, 0) then return {'full'} end
  put('claimed', '')
  lock()
  return {'locked'}
end
local found = cjson.encode({fingerprint = row.fingerprint, token = row.token, person = row.person, state = row.state,
  text = row.text, savedAt = tonumber(row.savedAt), isUncertain = isUncertain})
local isOwn = row.token == token or (person ~= '' and row.person == person)
if row.state == 'done' or row.fingerprint ~= fingerprint or not isOwn then return {'found', found} end
if isHeld then return {'held'} end
lock()
return {'locked', found}`;

/** How long it is remembered that a run has ended and left no row: a save of it may come later, by another connection. */
const ENDED_MS = 10_000;

/** ARGV[15]: '' renews the lock, else it is given back: 'row' leaves the row, 'nothing' removes it. Puts back a row that has gone. */
const SAVE = `${COMMON}
local how = ARGV[15]
if row.state and row.holder ~= holder then return 'lost' end
if how == 'nothing' then
  remove()
  redis.call('HSET', KEYS[1], 'state', 'ended')
  redis.call('PEXPIRE', KEYS[1], ${ENDED_MS})
  return now
end
if exists and not fits(0, #text - size) then
  if state ~= 'done' then return 'full' end
  text = ''
end
put(state, text)
if how == '' then lock() end
return now`;

/** An end without an answer is repeated: the row may be of a write that was not sent. */
const END_TRIES = 60;
const END_PAUSE_MS = 500;

export function createRedisStore(connection: RedisConnection, ttlMs: number, limits = STORE_LIMITS): KeyStore {
  // Without an answer a write is not sent.
  const call = connection.channel({ what: 'idempotency keys', timeoutMs: 1_000 });
  const claim = defineScript(connection, 'catalogKey_claim', CLAIM);
  const save = defineScript(connection, 'catalogKey_save', SAVE);
  const { key } = connection;
  const shared = [key('keys:all'), key(`keys:${NEW_ACCOUNT}`)];
  const keysOf = ({ name, account }: Held) => [key(`key:${name}`), key(`keys:${account.name}`), ...shared];
  const accounts = accountsOf({ name: '', isNew: true }, limits);
  const mostOf = (share: number) => [...accounts.map(({ rows }) => rows), ...accounts.map(({ text }) => share * text)];
  const [most, mostOfResponses] = [mostOf(1), mostOf(RESPONSES_SHARE)];
  const valuesOf = ({ holder, account }: Held, row: Partial<Row> = {}, isEnd = false) => {
    const { fingerprint = '', token = '', person = '', state = 'claimed', text = '' } = row;
    const all = isEnd && state === 'done' ? mostOfResponses : most;
    return [holder, ttlMs, account.isNew ? '1' : '', ...all, fingerprint, token, person, state, text];
  };
  async function repeat(end: () => Promise<unknown>): Promise<void> {
    for (let left = END_TRIES; left > 0; left--) {
      await sleep(END_PAUSE_MS, undefined, { ref: false });
      if ((await end()) !== undefined) return;
    }
  }
  return {
    async claim(held, sender) {
      const reply = await call(() => claim(keysOf(held), valuesOf(held, sender)));
      const [kind, found] = (reply ?? []) as [Claim['kind'], string?] | [];
      return kind && { kind, ...(found !== undefined && { found: JSON.parse(found) as FoundRow }) };
    },
    async save(held, row) {
      const reply = await call(() => save(keysOf(held), [...valuesOf(held, row), '']));
      return reply as number | 'lost' | 'full' | undefined;
    },
    async end(held, row) {
      const values = valuesOf(held, row, true);
      const end = () => call(() => save(keysOf(held), [...values, row ? 'row' : 'nothing']));
      if ((await end()) === undefined) void repeat(end);
    },
  };
}

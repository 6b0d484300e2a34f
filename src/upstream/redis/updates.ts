/** Writes entries and ends leases: all of a turn in one command. */
import { atEndOfTurn } from '../../lib/event-loop.ts';
import type { CacheEntry, CacheKey, VersionToken } from '../cache/memory.ts';
import type { RedisCall } from './connection/channel.ts';
import type { RedisConnection } from './connection/connection.ts';
import { createRoom } from './connection/room.ts';
import { ABSENT_LINE, encodeEntry } from './entries.ts';
import { INVALIDATION_LIFE_MS, LEASE_MS, LIFE_MS, RECORDS_MAX, type RedisKeys, randomStep } from './keys.ts';
import { COMMON } from './scripts/log.ts';
import { defineScript } from './scripts/script.ts';

/** Lines of an entry; with more, it begins anew. */
const LINES_MAX = 16;

/**
 * ARGV: owner of leases, step, life of a log, ms of a lease, records; then of each record its places, what to do, version, for how many ms it
 * is fresh, ms to keep, text.
 */
const UPDATE = `${COMMON}
local head, refusal = headOf(KEYS[1], '', ARGV[2], ARGV[3]), nil
for record = 0, ARGV[5] - 1 do
  local at, arg = 2 + 3 * record, 6 + 6 * record
  local entry, lease, tag, places = KEYS[at], KEYS[at + 1], KEYS[at + 2], ARGV[arg]
  local what, version, fresh, life, text = ARGV[arg + 1], ARGV[arg + 2], ARGV[arg + 3], tonumber(ARGV[arg + 4]), ARGV[arg + 5]
  local isMine = string.match(get(lease), '^%S+') == ARGV[1]
  -- A response is older than an invalidation since its version. Fields of a record are added to those of a fresh entry.
  local isStored = what == 'add' or what == 'set'
  if isStored and version == head then addVersions(head, tag, places, ARGV[3]) end
  if isStored and isCurrent(version, head, tag, places) then
    text, fresh = string.format('%.0f ', now) .. text, string.format('%.0f', now + fresh)
    local oldVersion, oldFresh
    if what == 'add' and not string.find(get(entry), '\\n${ABSENT_LINE}') then oldVersion, oldFresh = headingOf(entry) end
    if oldFresh and tonumber(oldFresh) > now and isCurrent(oldVersion, head, tag, places) then
      local lines = string.match(get(entry), '\\n(.*)$')
      local _, breaks = string.gsub(lines, '\\n', '')
      if breaks < ${LINES_MAX} - 1 then
        text = lines .. '\\n' .. text
        life = math.min(life, redis.call('PTTL', entry))
        if tonumber(oldFresh) < tonumber(fresh) then fresh = oldFresh end
      end
    end
    if life > 0 then
      local set = redis.pcall('SET', entry, head .. ' ' .. fresh .. '\\n' .. text, 'PX', life)
      -- A full Redis stores nothing, and nobody waits for what it does not store.
      if set.err then refusal = set end
    end
    for _, key in ipairs(namesOf(tag, places)) do redis.call('PEXPIRE', key, ARGV[3]) end
  end
  -- Other replicas may have it in memory too.
  if what == 'delete' and redis.call('DEL', entry) == 1 then head = append(KEYS[1], head, ARGV[2], text) end
  if what == 'discard' then redis.call('DEL', entry) end
  if what == 'renew' then
    if isMine then redis.call('PEXPIRE', lease, ARGV[4]) end
  elseif isMine and what ~= 'delete' and what ~= 'discard' then redis.call('DEL', lease) end
end
return refusal or head`;

interface Update {
  key: CacheKey;
  what: 'add' | 'set' | 'delete' | 'discard' | 'release' | 'renew';
  version: string;
  entry: CacheEntry | undefined;
}

export type Updates = ReturnType<typeof createUpdates>;

/** `owner`: of this process's leases. */
export function createUpdates(connection: RedisConnection, keys: RedisKeys, call: RedisCall, owner: string) {
  const update = defineScript(connection, 'catalogUpdate', UPDATE);
  const room = createRoom(connection, call);
  const updates = atEndOfTurn<Update>((all) => {
    for (let at = 0; at < all.length; at += RECORDS_MAX) send(all.slice(at, at + RECORDS_MAX));
  });
  function send(sent: readonly Update[]): void {
    const { names, placesOf } = keys.tableOf(sent.map(({ key }) => key));
    const common = [owner, randomStep(), INVALIDATION_LIFE_MS, LEASE_MS];
    const values = [...common, sent.length];
    for (const { key, what, version, entry } of sent) {
      const life = entry ? Math.min(LIFE_MS, Math.round(entry.keptUntil - performance.now())) : 0;
      const text = entry ? encodeEntry(entry) : key.tag;
      const isStored = !entry || room.take(text.length);
      values.push(
        placesOf(key),
        isStored ? what : 'release',
        version,
        entry ? Math.floor(entry.freshUntil - performance.now()) : 0,
        life,
        text,
      );
    }
    // The cache is optional: leases end by themselves, and entries that were not stored are read again.
    void call(() => update(names, values));
  }
  return {
    owner,
    store: (key: CacheKey, { shared }: VersionToken, entry: CacheEntry): void =>
      updates.add({ key, what: key.isRecord && !entry.isAbsent ? 'add' : 'set', version: shared, entry }),
    delete: (key: CacheKey): void => updates.add({ key, what: 'delete', version: '', entry: undefined }),
    discard: (key: CacheKey): void => updates.add({ key, what: 'discard', version: '', entry: undefined }),
    release: (key: CacheKey): void => updates.add({ key, what: 'release', version: '', entry: undefined }),
    renew: (key: CacheKey): void => updates.add({ key, what: 'renew', version: '', entry: undefined }),
  };
}

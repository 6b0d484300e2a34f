/** The entries that replicas share. */
import { NOW, defineScript } from '../../../../upstream/redis/scripts/script.ts';
import type { RedisAccess } from '../../../../upstream/redis/shared-state.ts';
import { CLOCK_MS, type SwapEntries } from './swap.ts';

/**
 * KEYS: entries. ARGV: time of the decision, life in ms; of each entry its version and what is written ('': nothing, '-': it is deleted).
 * Returns the time, and what is there if nothing was written.
 */
const SWAP = `${NOW}
local changed = math.abs(now - ARGV[1]) > ${CLOCK_MS}
local found = {}
for at, key in ipairs(KEYS) do
  found[at] = redis.call('GET', key) or ''
  if string.match(found[at], '^%S*') ~= ARGV[2 * at + 1] then changed = true end
end
if changed then return {now, found} end
for at, key in ipairs(KEYS) do
  local text = ARGV[2 * at + 2]
  if text == '-' then redis.call('DEL', key) elseif text ~= '' then redis.call('SET', key, text, 'PX', ARGV[2]) end
end
return {now}`;

/** For the check at the start. */
export const keyScripts: readonly string[] = [SWAP];

export function swapInRedis({ connection, call }: RedisAccess, ttlMs: number): SwapEntries {
  const script = defineScript(connection, 'catalogKey_swap', SWAP);
  return async ({ at, version, entries }) => {
    const keys = entries.map(({ name }) => connection.key(`key:${name}`));
    const values = entries.flatMap(({ version: read, next }) => [
      read,
      next === undefined ? '' : next === '' ? '-' : `${version} ${next}`,
    ]);
    const reply = await call(() => script(keys, [at, ttlMs, ...values]));
    if (!Array.isArray(reply)) return undefined;
    const [now, found] = reply as [number, string[]?];
    return { now, found: found?.map(versionedIn) };
  };
}

function versionedIn(stored: string) {
  const at = Math.max(0, stored.indexOf(' '));
  return { version: stored.slice(0, at), text: stored.slice(at + 1) };
}

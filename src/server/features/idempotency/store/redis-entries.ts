/** The entries that replicas share. */
import { NOW, defineScript } from '../../../../upstream/redis/scripts/script.ts';
import type { RedisAccess } from '../../../../upstream/redis/shared-state.ts';
import type { Entry } from './entries.ts';
import type { EntryStore } from './entry-table.ts';
import { createRemoteEntries } from './remote-entries.ts';
import { CLOCK_MS, type Swapped } from './swap.ts';

/**
 * KEYS: entries. ARGV: time of the decision, life in ms; of each entry its version ('*': any) and what is written ('': nothing, '-': it is
 * deleted). Returns the time, and what is there if nothing was written.
 */
const SWAP = `${NOW}
local changed = math.abs(now - ARGV[1]) > ${CLOCK_MS}
local found = {}
for at, key in ipairs(KEYS) do
  local version = ARGV[2 * at + 1]
  found[at] = version ~= '*' and redis.call('GET', key) or ''
  if version ~= '*' and string.match(found[at], '^%S*') ~= version then changed = true end
end
if changed then return {now, found} end
for at, key in ipairs(KEYS) do
  local text = ARGV[2 * at + 2]
  if text == '-' then redis.call('DEL', key) elseif text ~= '' then redis.call('SET', key, text, 'PX', ARGV[2]) end
end
return {now}`;

/** For the check at the start. */
export const keyScripts: readonly string[] = [SWAP];

export function createRedisEntries({ connection, call }: RedisAccess, ttlMs: number): EntryStore {
  const script = defineScript(connection, 'catalogKey_swap', SWAP);
  return createRemoteEntries(ttlMs, async ({ at, version, entries }) => {
    const keys = entries.map(({ name }) => connection.key(`key:${name}`));
    const values = entries.flatMap(({ version: before = '*', next }) => [
      before,
      next === undefined ? '' : next === null ? '-' : `${version} ${JSON.stringify(next)}`,
    ]);
    const reply = await call(() => script(keys, [at, ttlMs, ...values]));
    return Array.isArray(reply) ? swappedIn(reply as [number, string[]?]) : undefined;
  });
}

const swappedIn = ([now, found]: [number, string[]?]): Swapped => ({
  now,
  found: found?.map((text) => {
    const at = text.indexOf(' ');
    return {
      version: text.slice(0, Math.max(0, at)),
      entry: at < 0 ? undefined : (JSON.parse(text.slice(at)) as Entry),
    };
  }),
});

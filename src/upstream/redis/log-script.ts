/**
 * What the scripts of the shared cache have in common.
 *
 * The log of invalidations is a stream. Its ids are versions, `<generation>-<number>`: the generation is random and new whenever the log is,
 * and numbers grow by random steps, so that no version exists twice, not even after a failover that lost the last ones.
 * An entry, and a lease, has the version at which it was written; it is void in another generation, and if one of its names was invalidated
 * at a later version.
 *
 * KEYS of each script are the log, then of each record its entry, its lease and the version of its tag, then the versions of the groups and
 * partitions, which records share. ARGV has the places of the two of a record.
 */
export const COMMON = `
local function get(key)
  local value = redis.pcall('GET', key)
  return type(value) == 'string' and value or ''
end
local function split(version)
  local generation, number = string.match(version, '^(%d+)-(%d+)$')
  return generation, tonumber(number)
end
-- The latest version. Makes the log if there is none.
local function headOf(log, generation, life)
  local last = redis.pcall('XREVRANGE', log, '+', '-', 'COUNT', 1)
  if last.err then redis.call('DEL', log) end
  if last[1] then return last[1][1] end
  redis.call('XADD', log, generation .. '-1', 'names', '')
  redis.call('PEXPIRE', log, life)
  return generation .. '-1'
end
-- The names invalidated since the version, which the log must still have: otherwise false.
local function since(log, version, head, max)
  if version == head then return {} end
  if not split(version) then return false end
  local found = redis.call('XRANGE', log, version, '+', 'COUNT', max + 1)
  if #found == 0 or #found > max or found[1][1] ~= version then return false end
  local names = {}
  for i = 2, #found do names[i - 1] = found[i][2][2] end
  return names
end
-- Records have names in common.
local versions = {}
local function versionOf(key)
  local version = versions[key]
  if not version then
    version = {split(get(key))}
    versions[key] = version
  end
  return version[1], version[2]
end
-- Whether none of the names of the record was invalidated since the version: its tag, group and partition.
local function isCurrent(version, head, tag, places)
  local generation, number = split(version)
  if not generation or generation ~= split(head) then return false end
  local group, partition = string.match(places, '^(%d+) (%d+)')
  for _, key in ipairs({tag, KEYS[tonumber(group)], KEYS[tonumber(partition)]}) do
    local other, later = versionOf(key)
    if other == generation and later > number then return false end
  end
  return true
end
-- The version of an entry, and until when it is fresh: without its text.
local function headingOf(entry)
  local value = redis.pcall('GETRANGE', entry, 0, 63)
  if type(value) ~= 'string' then return nil end
  return string.match(value, '^(%S+) (%d+)\\n')
end
local function append(log, head, step, names)
  local generation, number = split(head)
  local version = generation .. '-' .. string.format('%.0f', number + step)
  redis.call('XADD', log, 'MAXLEN', '~', 10000, version, 'names', names)
  return version
end
`;

/** How many versions behind a process may be before it drops all that it has in memory. */
export const CHANGES_MAX = 1_000;

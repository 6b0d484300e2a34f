/**
 * What the scripts of the shared cache have in common.
 *
 * The log of invalidations is a stream. Its ids are versions, `<generation>-<number>`: each new log has a later generation, made of the time
 * of Redis, and numbers grow by random steps, so that no version exists twice, not even after a failover that lost the last ones.
 * An entry, and a lease, has the version at which it was written; it is void in another generation, if one of its names was invalidated at
 * a later version, and if Redis has evicted the version of one of its names.
 *
 * KEYS of each script are the log, then of each record its entry, its lease and the version of its tag, then the versions of the groups and
 * partitions, which records share. ARGV has the places of the two of a record.
 */
import { NOW } from './script.ts';

export const COMMON = `${NOW}
local function get(key)
  local value = redis.pcall('GET', key)
  return type(value) == 'string' and value or ''
end
local function split(version)
  local generation, number = string.match(version, '^(%d+)-(%d+)$')
  return generation, tonumber(number)
end
-- Whether the version is later than another; false if either is none.
local function isLater(version, other)
  local generation, number = split(version)
  local otherGeneration, otherNumber = split(other)
  if not generation or not otherGeneration then return false end
  if generation == otherGeneration then return number > otherNumber end
  return tonumber(generation) > tonumber(otherGeneration)
end
-- Of this run of this server; empty if the user of Redis may not ask for it.
local function idOfRun()
  local info = redis.pcall('INFO', 'server')
  return type(info) == 'string' and string.match(info, 'run_id:(%w+)') or ''
end
local run = idOfRun()
local function addNames(log, version, names)
  redis.call('XADD', log, 'MAXLEN', '~', 10000, version, 'names', names, 'run', run)
end
-- A new log. Its generation is later than the known version.
local function begin(log, known, random, life)
  local generation = math.max(time[1] * 1000000 + time[2], tonumber((split(known))) or 0) + random
  local version = string.format('%.0f-1', generation)
  redis.call('DEL', log)
  addNames(log, version, '')
  redis.call('PEXPIRE', log, life)
  return version
end
-- The latest version. A log that ends before a version that a process knows has lost notes. So may one whose last note another run or another
-- server made: it was restored from a snapshot, or a replica took over. A new log begins then, as if there was none.
local function headOf(log, known, random, life)
  local last = redis.pcall('XREVRANGE', log, '+', '-', 'COUNT', 1)[1]
  if not last then return begin(log, known, random, life) end
  local head, writer = last[1], last[2][4] or run
  if (run ~= '' and writer ~= run) or isLater(known, head) then return begin(log, known, random, life) end
  return head
end
-- The latest version, and the names invalidated since the known one; false if the log does not say which.
local function readLog(log, known, random, life, max)
  local head = headOf(log, known, random, life)
  if known == head then return head, {} end
  if split(known) ~= split(head) then return head, false end
  local found = redis.call('XRANGE', log, known, '+', 'COUNT', max + 1)
  if found[1][1] ~= known then
    -- It was added to a log that was replaced by an older one, to which others have added since.
    local isLost = isLater(known, redis.call('XRANGE', log, '-', '+', 'COUNT', 1)[1][1])
    return isLost and begin(log, head, random, life) or head, false
  end
  if #found > max then return head, false end
  local names = {}
  for i = 2, #found do names[i - 1] = found[i][2][2] end
  return head, names
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
local function namesOf(tag, places)
  local group, partition = string.match(places, '^(%d+) (%d+)')
  return {tag, KEYS[tonumber(group)], KEYS[tonumber(partition)]}
end
-- Whether it is known that no name of the record was invalidated since the version.
local function isCurrent(version, head, tag, places)
  local generation, number = split(version)
  if not generation or generation ~= split(head) then return false end
  for _, key in ipairs(namesOf(tag, places)) do
    local other, later = versionOf(key)
    if other ~= generation or later > number then return false end
  end
  return true
end
-- Gives the names of a record versions where they have none: entries of before are void then.
local function addVersions(head, tag, places, life)
  local generation = split(head)
  for _, key in ipairs(namesOf(tag, places)) do
    if versionOf(key) ~= generation then
      -- A full Redis can still be read.
      if redis.pcall('SET', key, head, 'PX', life).err then return end
      versions[key] = {split(head)}
    end
  end
end
-- The version of an entry, and until when it is fresh by the clock of Redis: without its text.
local function headingOf(entry)
  local value = redis.pcall('GETRANGE', entry, 0, 63)
  if type(value) ~= 'string' then return nil end
  return string.match(value, '^(%S+) (%d+)\\n')
end
local function append(log, head, step, names)
  local generation, number = split(head)
  local version = generation .. '-' .. string.format('%.0f', number + step)
  addNames(log, version, names)
  return version
end
`;

/** How many versions behind a process may be before it drops all that it has in memory. */
export const CHANGES_MAX = 1_000;

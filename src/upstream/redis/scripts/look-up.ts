/** The script that looks up entries, and takes leases of what is not fresh. */
import { CHANGES_MAX, COMMON } from './log.ts';

/** Whether a lookup takes the lease if there is no fresh entry; `anyway`: also if there is one, because it lacks fields. */
export const MODES = { noLease: 0, lease: 1, anyway: 2 } as const;
/** The lease in a reply: not needed, taken by this process, or held by another. */
export const NONE = 0;
export const GRANTED = 1;
export const HELD = 2;
/** Undefined if the entry was not looked up. */
export type LeaseReply = typeof NONE | typeof GRANTED | typeof HELD | undefined;

/**
 * ARGV: known version, step, life of a log, owner of leases, ms of a lease, records; then of each record its places, the mode, and for how
 * many ms the entry is fresh that the process has with all members that are needed, or nothing. Returns head and names of the log, the time
 * of Redis, then of each record its entry and its lease. An expired entry that is hardly newer than that of the process is not sent.
 */
export const LOOK_UP = `${COMMON}
local head, names = readLog(KEYS[1], ARGV[1], ARGV[2], ARGV[3], ${CHANGES_MAX})
local reply = {head, names, now}
for record = 0, ARGV[6] - 1 do
  local at, arg = 2 + 3 * record, 7 + 3 * record
  local entry, lease, tag = KEYS[at], KEYS[at + 1], KEYS[at + 2]
  local places, mode, known = ARGV[arg], tonumber(ARGV[arg + 1]), tonumber(ARGV[arg + 2])
  local version, fresh = headingOf(entry)
  local text, taken = '', 0
  fresh = tonumber(fresh or 0)
  if version and isCurrent(version, head, tag, places) then
    if fresh > now or not known or fresh > now + known + 1000 then text = get(entry) end
  else fresh = 0 end
  if mode == ${MODES.anyway} or (mode == ${MODES.lease} and fresh <= now) then
    local owner, leased = string.match(get(lease), '^(%S+) (%S+)$')
    -- A lease from before an invalidation leads to an old response.
    if owner and owner ~= ARGV[4] and isCurrent(leased, head, tag, places) then taken = ${HELD} else
      taken = ${GRANTED}
      local set = redis.pcall('SET', lease, ARGV[4] .. ' ' .. head, 'PX', ARGV[5])
      -- A full Redis can still be read.
      if set.err and not string.find(set.err, 'OOM') then return set end
      addVersions(head, tag, places, ARGV[3])
    end
  end
  reply[4 + 2 * record] = text
  reply[5 + 2 * record] = taken
end
return reply`;

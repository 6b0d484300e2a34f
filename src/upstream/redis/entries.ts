/**
 * How an entry is written in Redis. The first line has the version and the time until which it is fresh, for the scripts; each further line
 * has the time of Redis at which it was written, and some fields of a record, or a response. Clocks of processes are never compared.
 */
import { type CacheEntry, type CacheKey, mergedEntry } from '../cache/memory.ts';

/** The JSON of a line. Its names stay, because replicas of other versions read it. Times are in ms since it was written. */
interface StoredEntry {
  /** There is no such record. This member comes first: see `ABSENT_LINE`. */
  absent?: true;
  value: object;
  bytes: number;
  /** Fields known to be absent: JSON has no undefined. */
  none: string[];
  since: number;
  fresh: number;
  served: number;
  kept: number;
}

/** How the line of an absence begins, after the time of Redis, as a pattern of Lua. */
export const ABSENT_LINE = '%d+ {"absent"';

/** One line, without the time of Redis. */
export function encodeEntry({ value, bytes, since, freshUntil, servedUntil, keptUntil, isAbsent }: CacheEntry): string {
  const members = value as Record<string, unknown>;
  const none: string[] = [];
  for (const name in members) if (members[name] === undefined) none.push(name);
  const now = performance.now();
  const from = (time: number) => Math.round(time - now);
  const times = { since: from(since), fresh: from(freshUntil), served: from(servedUntil), kept: from(keptUntil) };
  return JSON.stringify({ ...(isAbsent && { absent: true }), value, bytes, none, ...times } satisfies StoredEntry);
}

/** The entry, of all lines together; undefined if its time is over. `aheadMs`: how far the clock of this process is ahead of that of Redis. */
export function decodeEntry(text: string, aheadMs: number): CacheEntry | undefined | 'unreadable' {
  try {
    const [, ...lines] = text.split('\n');
    const entry = lines.map((line) => decodeLine(line, aheadMs)).reduce(mergedEntry);
    return entry.keptUntil > performance.now() ? entry : undefined;
  } catch {
    return 'unreadable'; // not an entry of this program
  }
}

function decodeLine(line: string, aheadMs: number): CacheEntry {
  const blank = line.indexOf(' ');
  const at = Number(line.slice(0, blank)) + aheadMs;
  const stored = JSON.parse(line.slice(blank + 1)) as StoredEntry;
  const { absent, value, bytes, none, since, fresh, served, kept } = stored;
  for (const name of none) if (!(name in value)) (value as Record<string, unknown>)[name] = undefined;
  const numbers = [at, bytes, since, fresh, served, kept];
  if (typeof value !== 'object' || value === null || !numbers.every(Number.isFinite))
    throw new Error('This is not a line of an entry.');
  const times = { since: at + since, freshUntil: at + fresh, servedUntil: at + served, keptUntil: at + kept };
  return { value, bytes, ...times, ...(absent && { isAbsent: true }) };
}

/** Whether `own` is fresh for as long as the entry, and the entry adds no field to it that is fresh. */
export function isCovered(entry: CacheEntry, own: CacheEntry | undefined, { isRecord }: CacheKey): boolean {
  if (!own || own.freshUntil < entry.freshUntil) return false;
  const isStale = entry.freshUntil <= performance.now() && own.freshUntil > performance.now();
  return isStale || !isRecord || Object.keys(entry.value).every((name) => name in own.value);
}

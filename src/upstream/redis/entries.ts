/**
 * How an entry is written in Redis. The first line has the version and the time until which it is fresh, for the scripts; each further line
 * has some fields of a record, or a response.
 */
import { type CacheEntry, type CacheKey, mergedEntry } from '../cache/memory.ts';

/** As JSON. Replicas of other versions of this program read it too: its names stay. */
interface StoredEntry extends Omit<CacheEntry, 'servedUntil' | 'isAbsent'> {
  servedUntil?: number;
  /** Fields known to be absent: JSON has no undefined. */
  none?: string[];
}

/** That there is no such record: the times alone, which other versions do not take for an entry. */
interface StoredAbsence {
  absent: Pick<CacheEntry, 'since' | 'freshUntil' | 'servedUntil' | 'keptUntil'>;
}
/** How the line of an absence begins. */
export const ABSENT_LINE = '{"absent"';

/** One line. */
export function encodeEntry(entry: CacheEntry): string {
  const { value, bytes, since, freshUntil, servedUntil, keptUntil } = entry;
  if (entry.isAbsent)
    return JSON.stringify({ absent: { since, freshUntil, servedUntil, keptUntil } } satisfies StoredAbsence);
  const members = value as Record<string, unknown>;
  const none: string[] = [];
  for (const name in members) if (members[name] === undefined) none.push(name);
  return JSON.stringify({ value, bytes, since, freshUntil, servedUntil, keptUntil, none } satisfies StoredEntry);
}

/** The entry, of all lines together. */
export function decodeEntry(text: string): CacheEntry | undefined {
  try {
    const [, ...lines] = text.split('\n');
    const entry = lines.map(decodeLine).reduce(mergedEntry);
    return entry.keptUntil > Date.now() ? entry : undefined;
  } catch {
    return undefined; // not an entry of this program
  }
}

function decodeLine(line: string): CacheEntry {
  if (line.startsWith(ABSENT_LINE)) {
    const { absent } = JSON.parse(line) as StoredAbsence;
    return { value: {}, bytes: 0, isAbsent: true, ...absent };
  }
  const {
    value,
    bytes,
    since,
    freshUntil,
    servedUntil = freshUntil,
    keptUntil,
    none = [],
  } = JSON.parse(line) as StoredEntry;
  for (const name of none) if (!(name in value)) (value as Record<string, unknown>)[name] = undefined;
  return { value, bytes, since, freshUntil, servedUntil, keptUntil };
}

/** Whether `own` is fresh for as long as the entry, and the entry adds no field to it that is fresh. */
export function isCovered(entry: CacheEntry, own: CacheEntry | undefined, { isRecord }: CacheKey): boolean {
  if (!own || own.freshUntil < entry.freshUntil) return false;
  const isStale = entry.freshUntil <= Date.now() && own.freshUntil > Date.now();
  return isStale || !isRecord || Object.keys(entry.value).every((name) => name in own.value);
}

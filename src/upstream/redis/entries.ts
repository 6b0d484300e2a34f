/**
 * How an entry is written in Redis: its stamp and the time until which it is fresh, for the scripts; then the time of Redis at which it was
 * written, and the fields of a record, or a response. Clocks of processes are never compared.
 */
import type { CacheEntry } from '../cache/memory.ts';

/** Its names stay, because replicas of other versions read it. Times are in ms since it was written. */
interface StoredEntry {
  /** There is no such record. */
  absent?: true;
  value: object;
  bytes: number;
  /** Fields known to be absent: JSON has no undefined. */
  none: string[];
  since: number;
  fresh: number;
  kept: number;
}

/** Without what the script writes before it. */
export function encodeEntry({ value, bytes, since, freshUntil, keptUntil, isAbsent }: CacheEntry): string {
  const members = value as Record<string, unknown>;
  const none: string[] = [];
  for (const name in members) if (members[name] === undefined) none.push(name);
  const now = performance.now();
  const from = (time: number) => Math.round(time - now);
  const times = { since: from(since), fresh: from(freshUntil), kept: from(keptUntil) };
  return JSON.stringify({ ...(isAbsent && { absent: true }), value, bytes, none, ...times } satisfies StoredEntry);
}

const HEADING = /^\S+ \d+\n(\d+) /;

/** Undefined if its time is over, or it is not an entry of this program. `aheadMs`: how far the clock of this process is ahead of that of Redis. */
export function decodeEntry(text: string, aheadMs: number): CacheEntry | undefined {
  try {
    const [heading, writtenAt] = HEADING.exec(text)!;
    const at = Number(writtenAt) + aheadMs;
    const stored = JSON.parse(text.slice(heading.length)) as StoredEntry;
    const { absent, value, bytes, none, since, fresh, kept } = stored;
    for (const name of none) if (!(name in value)) (value as Record<string, unknown>)[name] = undefined;
    const numbers = [at, bytes, since, fresh, kept];
    if (typeof value !== 'object' || value === null || !numbers.every(Number.isFinite)) return undefined;
    if (at + kept <= performance.now()) return undefined;
    const times = { since: at + since, freshUntil: at + fresh, keptUntil: at + kept };
    return { value, bytes, ...times, ...(absent && { isAbsent: true }) };
  } catch {
    return undefined;
  }
}

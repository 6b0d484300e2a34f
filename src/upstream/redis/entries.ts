/**
 * How an entry is written in Redis: its stamp and the time until which it is fresh, for the scripts; then the time of Redis at which it was
 * written, and the rest. Clocks of processes are never compared.
 */
import type { CacheEntry } from '../cache/memory.ts';

/** In ms since it was written. */
const TIMES = ['since', 'freshUntil', 'keptUntil'] as const;

interface StoredEntry extends Omit<CacheEntry, 'shared'> {
  /** Fields known to be absent: JSON has no undefined. */
  none: string[];
}

/** Without what the script writes before it. */
export function encodeEntry({ shared: _, ...entry }: CacheEntry): string {
  const now = performance.now();
  const members = entry.value;
  const none = Object.keys(members).filter((name) => members[name] === undefined);
  const stored: StoredEntry = { ...entry, none };
  for (const name of TIMES) stored[name] = Math.round(entry[name] - now);
  return JSON.stringify(stored);
}

const HEADING = /^\S+ \d+\n(\d+) /;

/** Undefined if its time is over, or it is not an entry of this program. `aheadMs`: how far the clock of this process is ahead of that of Redis. */
export function decodeEntry(text: string, aheadMs: number): CacheEntry | undefined {
  try {
    const [heading, writtenAt] = HEADING.exec(text)!;
    const { none, ...entry } = JSON.parse(text.slice(heading.length)) as StoredEntry;
    if (!(entry.value instanceof Object)) return undefined;
    // A time that is null would be 0.
    for (const name of TIMES) entry[name] = Number(writtenAt) + aheadMs + (entry[name] ?? NaN);
    for (const name of none) if (!(name in entry.value)) entry.value[name] = undefined;
    const numbers = [entry.bytes, ...TIMES.map((name) => entry[name])];
    return numbers.every(Number.isFinite) && entry.keptUntil > performance.now() ? entry : undefined;
  } catch {
    return undefined;
  }
}

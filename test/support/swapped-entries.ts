/** Entries that several processes share, as Redis keeps them. */
import {
  CLOCK_MS,
  type Swap,
  type Swapped,
  type Versioned,
  absentEntry,
} from '../../src/server/features/idempotency/store/swap.ts';

export function createSwappedEntries(): (swap: Swap) => Swapped {
  const kept = new Map<string, Versioned>();
  return ({ at, version, entries }) => {
    const now = performance.now();
    const found = entries.map(({ name }) => kept.get(name) ?? absentEntry);
    if (Math.abs(now - at) > CLOCK_MS || entries.some((entry, which) => entry.version !== found[which]!.version))
      return { now, found };
    for (const { name, next } of entries)
      if (next) kept.set(name, { version, text: next });
      else if (next === '') kept.delete(name);
    return { now };
  };
}

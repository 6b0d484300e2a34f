/**
 * Values by names that begin with their owner, for a while. An owner with too many loses those that were written first; of too many in all,
 * the owner with the most does. Pinned values count for nobody, and stay for their time.
 */
import { ownerOf } from './names.ts';

interface Stored<Value> {
  readonly value: Value;
  readonly until: number;
  readonly size: number;
}

/** In the order in which they were written. */
interface Owned<Value> {
  readonly values: Map<string, Stored<Value>>;
  size: number;
}

const SWEEP_MS = 1_000;

export function createBounded<Value>(limits: { ofOwner: number; ofAll: number }) {
  /** The first is over first. */
  const pinned = new Map<string, Stored<Value>>();
  const owners = new Map<string, Owned<Value>>();
  let size = 0;
  let nextSweep = 0;

  function remove(name: string): void {
    const owner = ownerOf(name);
    const owned = owners.get(owner);
    const found = owned?.values.get(name);
    if (pinned.delete(name) || !owned || !found) return;
    owned.values.delete(name);
    owned.size -= found.size;
    size -= found.size;
    if (owned.values.size === 0) owners.delete(owner);
  }

  const removeOldest = ({ values }: Owned<Value>): void => remove(values.keys().next().value!);
  const largest = () => [...owners.values()].reduce((most, each) => (each.size > most.size ? each : most));

  function own(owner: string, name: string, stored: Stored<Value>): void {
    let owned = owners.get(owner);
    if (!owned) owners.set(owner, (owned = { values: new Map(), size: 0 }));
    owned.values.set(name, stored);
    owned.size += stored.size;
    size += stored.size;
    while (owned.size > limits.ofOwner) removeOldest(owned);
    while (size > limits.ofAll) removeOldest(largest());
  }

  return {
    get(name: string, now: number): Value | undefined {
      const found = pinned.get(name) ?? owners.get(ownerOf(name))?.values.get(name);
      return found && found.until > now ? found.value : undefined;
    },
    set(name: string, value: Value, until: number, characters: number, isPinned = false): void {
      remove(name);
      const stored = { value, until, size: characters };
      if (isPinned) pinned.set(name, stored);
      else own(ownerOf(name), name, stored);
    },
    delete: remove,
    pinned: (): number => pinned.size,
    /** Removes pinned values that are over; not at each call, because the first of a map is behind all that were deleted. */
    sweep(now: number): void {
      if (now < nextSweep) return;
      nextSweep = now + SWEEP_MS;
      for (const [name, { until }] of pinned) {
        if (until > now) return;
        pinned.delete(name);
      }
    },
  };
}

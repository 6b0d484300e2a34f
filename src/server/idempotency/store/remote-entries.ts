/**
 * Entries of another process, which swaps them. What was read last is tried first, so most changes take one call. What that process has
 * forgotten, or was not told, is what this one wrote last.
 */
import { sizeOf } from './entries.ts';
import { type EntryStore, type Swap, type SwapEntries, type Versioned, absentEntry, ownerIn } from './entry-table.ts';
import { unstoredName } from './names.ts';
import { createOwnedCache } from './owned-cache.ts';

interface Known extends Versioned {
  readonly until: number;
  readonly size: number;
  /** This process wrote it. */
  readonly isOwn: boolean;
  /** The version that it replaces, if the store has not confirmed it. */
  readonly replaces?: string | undefined;
}

/** Characters of what is known. */
const KNOWN = { ofOwner: 2_000_000, ofAll: 16_000_000 };

export function createRemoteEntries(ttlMs: number, send: SwapEntries): EntryStore {
  const known = createOwnedCache<Known>({ ...KNOWN, sizeOf: ({ size }) => size });
  /** What the clock of the store is ahead of that of this process. */
  let aheadMs = 0;

  function recall(name: string): Known | undefined {
    const found = known.get(ownerIn(name), name);
    return found && found.until > performance.now() ? found : undefined;
  }
  function remember(name: string, { version, entry }: Versioned, isOwn: boolean, replaces?: string): void {
    if (!entry) return known.delete(ownerIn(name), name);
    const until = performance.now() + ttlMs;
    known.set(ownerIn(name), name, { version, entry, until, size: sizeOf(entry), isOwn, replaces });
  }
  /** What counts of what the store has. */
  function merge(name: string, found: Versioned): void {
    const own = recall(name);
    if (own?.isOwn && (!found.entry || found.version === own.replaces))
      remember(name, { version: found.version, entry: own.entry }, true, found.version);
    else remember(name, found, own?.isOwn === true && own.version === found.version);
  }
  function rememberWrites({ version, entries }: Swap, isConfirmed: boolean): void {
    for (const { name, version: before = '', next } of entries) {
      if (next === undefined) continue;
      const written = { version: isConfirmed ? version : before, entry: next ?? undefined };
      remember(name, written, true, isConfirmed ? undefined : before);
      if (!isConfirmed && next?.response) remember(unstoredName(next.response.of), written, true);
    }
  }
  return {
    isShared: true,
    now: () => performance.now() + aheadMs,
    peek: (name) => recall(name) ?? absentEntry,
    async swap(swap, isLast = false) {
      const sentAt = performance.now();
      const reply = await send(swap);
      if (reply) aheadMs = reply.now - (sentAt + performance.now()) / 2;
      if (reply?.found)
        swap.entries.forEach(({ name, version }, at) => version !== undefined && merge(name, reply.found![at]!));
      else if (reply || isLast) rememberWrites(swap, reply !== undefined);
      return reply;
    },
    isFull: () => false,
  };
}

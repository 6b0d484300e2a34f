/**
 * Entries of another process, which swaps them. What was read last is tried first, so most changes take one call. What that process has
 * forgotten, or was not told, is what this one wrote last.
 */
import { randomBytes } from 'node:crypto';
import { type Entry, sizeOf } from './entries.ts';
import type { EntryStore } from './entry-table.ts';
import { unstoredName } from './names.ts';
import { createOwnedCache } from './owned-cache.ts';
import { type Swap, type SwapEntries, type Swapped, type Versioned, absentEntry, ownerIn } from './swap.ts';

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
/** Other processes may write between the attempts, but of those that try at once one succeeds. */
const ATTEMPTS = 100;

export function createRemoteEntries(ttlMs: number, send: SwapEntries): EntryStore {
  const known = createOwnedCache<Known>({ ...KNOWN, sizeOf: ({ size }) => size });
  const process = randomBytes(6).toString('base64url');
  let swaps = 0;
  /** What the clock of the store is ahead of that of this process. */
  let aheadMs = 0;

  function recall(name: string): Known | undefined {
    const found = known.get(name);
    return found && found.until > performance.now() ? found : undefined;
  }
  function remember(name: string, { version, entry }: Versioned, isOwn: boolean, replaces?: string): void {
    if (!entry) return known.delete(name);
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
  async function swap(swap: Swap, isLast: boolean): Promise<Swapped | undefined> {
    const sentAt = performance.now();
    const reply = await send(swap);
    if (reply) aheadMs = reply.now - (sentAt + performance.now()) / 2;
    if (reply?.found)
      swap.entries.forEach(({ name, version }, at) => version !== undefined && merge(name, reply.found![at]!));
    else if (reply || isLast) rememberWrites(swap, reply !== undefined);
    return reply;
  }
  const now = () => performance.now() + aheadMs;

  return {
    isShared: true,
    now: async () => (await swap({ at: now(), version: '', entries: [] }, false))?.now,
    async update(names, decide, isLast = false) {
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const read = new Map(names.map((name) => [name, recall(name) ?? absentEntry]));
        const next = new Map<string, Entry | null>();
        const get = (name: string) => (next.has(name) ? (next.get(name) ?? undefined) : read.get(name)?.entry);
        const at = now();
        const result = decide({ get, set: (name, entry) => void next.set(name, entry) }, at);
        const entries = [...new Set([...names, ...next.keys()])].map((name) => ({
          name,
          version: read.get(name)?.version,
          next: next.get(name),
        }));
        const reply = await swap({ at, version: `${process}${swaps++}`, entries }, isLast);
        if (!reply) return undefined;
        if (!reply.found) return result;
      }
      return undefined;
    },
    peek: (name) => recall(name)?.entry,
    isFull: () => false,
  };
}

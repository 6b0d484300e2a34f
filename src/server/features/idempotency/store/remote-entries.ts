/**
 * Entries of another process, which swaps them. What was read last is tried first, so most changes take one call. What that process has
 * forgotten, or never got, is what this one wrote last.
 */
import { randomBytes } from 'node:crypto';
import { createBounded } from './bounded.ts';
import { type Entry, isEmpty } from './entries.ts';
import type { EntryStore } from './entry-table.ts';
import { type Swap, type SwapEntries, type Swapped, type Versioned, absentEntry } from './swap.ts';

interface Known extends Versioned {
  /** This process wrote it. */
  readonly isOwn: boolean;
  /** The version that it replaces, if the store has not confirmed it. */
  readonly replaces?: string | undefined;
}

/** Characters of what is known. */
const LIMITS = { ofOwner: 2_000_000, ofAll: 16_000_000 };
/** What an entry takes beside its text. */
const ENTRY_CHARACTERS = 300;
/** Other processes may write between the attempts, but of those that try at once one succeeds. */
const ATTEMPTS = 100;

export function createRemoteEntries(ttlMs: number, send: SwapEntries): EntryStore {
  const known = createBounded<Known>(LIMITS);
  const process = randomBytes(6).toString('base64url');
  let swaps = 0;
  /** What the clock of the store is ahead of that of this process. */
  let aheadMs = 0;

  const recall = (name: string): Known | undefined => known.get(name, performance.now());
  function remember(name: string, entry: Known): void {
    if (entry.text === '') known.delete(name);
    else known.set(name, entry, performance.now() + ttlMs, ENTRY_CHARACTERS + entry.text.length);
  }
  /** What counts of what the store has. */
  function merge(name: string, found: Versioned): void {
    const own = recall(name);
    if (own?.isOwn && (found.text === '' || found.version === own.replaces))
      remember(name, { version: found.version, text: own.text, isOwn: true, replaces: found.version });
    else remember(name, { ...found, isOwn: own?.isOwn === true && own.version === found.version });
  }
  function rememberWrites({ version, entries }: Swap, isConfirmed: boolean): void {
    for (const { name, version: before, next } of entries) {
      if (next === undefined) continue;
      const written = isConfirmed ? { version } : { version: before, replaces: before };
      remember(name, { ...written, text: next, isOwn: true });
    }
  }
  async function swap(given: Swap, isLast: boolean): Promise<Swapped | undefined> {
    const sentAt = performance.now();
    const reply = await send(given);
    if (reply) aheadMs = reply.now - (sentAt + performance.now()) / 2;
    if (reply?.found) given.entries.forEach(({ name }, at) => merge(name, reply.found![at]!));
    else if (reply || isLast) rememberWrites(given, reply !== undefined);
    return reply;
  }

  return {
    isShared: true,
    isFull: () => false,
    async change(step, isLast = false) {
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const read = new Map<string, Versioned & { entry: Entry }>();
        const edit = (name: string): Entry => {
          let found = read.get(name);
          if (!found) {
            const { version, text } = recall(name) ?? absentEntry;
            read.set(name, (found = { version, text, entry: text === '' ? {} : (JSON.parse(text) as Entry) }));
          }
          return found.entry;
        };
        const at = performance.now() + aheadMs;
        const result = step({ now: at, get: edit, edit });
        const entries = [...read].map(([name, { version, text, entry }]) => {
          const next = isEmpty(entry) ? '' : JSON.stringify(entry);
          return { name, version, ...(next !== text && { next }) };
        });
        const reply = await swap({ at, version: `${process}${swaps++}`, entries }, isLast);
        if (!reply) return undefined;
        if (!reply.found) return result;
      }
      return undefined;
    },
  };
}

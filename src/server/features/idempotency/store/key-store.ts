/** What is known of keys and of the targets of their writes, in whatever store. */
import { type ChangeTarget, STORE_LIMITS, ownerIn } from './entries.ts';
import { type EntryStore, type Reply, type Waiting, createEntryTable } from './entry-table.ts';
import { type Claim, type KeyIdentity, type StoreParts, claimKey } from './key-run.ts';
import { createMemoryEntries } from './memory-entries.ts';
import { type Targets, credentialOwner, ownerName, personOwner } from './names.ts';
import { seal, unseal } from './seal.ts';
import { type Turn, changeTargets, takeTurn } from './turns.ts';

/** Each reply is undefined if the store cannot be reached, or the wait is cancelled. */
export interface KeyStore {
  /** The time of the clock that all processes share. */
  now: () => Reply<number | undefined>;
  /** The credential is one of this person. */
  link: (credential: string, person: string) => void;
  claim: (key: KeyIdentity, waiting: Waiting) => Promise<Claim | undefined>;
  takeTurn: (targets: Targets, waiting: Waiting) => Promise<Turn | undefined>;
  changeTargets: (targets: readonly string[], change: ChangeTarget) => Reply<unknown>;
}

/** Tokens of one person that are remembered. */
const LINKED_MAX = 20;

export const createMemoryStore = (ttlMs: number, limits = STORE_LIMITS): KeyStore =>
  createKeyStore(createMemoryEntries(ttlMs), ttlMs, limits);

export function createKeyStore(store: EntryStore, ttlMs: number, limits = STORE_LIMITS): KeyStore {
  const { isShared } = store;
  const table = createEntryTable(store);
  const parts: StoreParts = {
    table,
    ttlMs,
    limits,
    running: new Set<string>(),
    seal: isShared ? seal : (_, text) => text,
    unseal: isShared ? unseal : (_, text) => text,
  };
  return {
    now: () => table.change(({ now }) => now),
    link: (credential, person) =>
      void table.change(({ now, edit }) => {
        edit(ownerName(credentialOwner(credential))).person = parts.seal(credential, person);
        const owner = ownerIn(edit(ownerName(personOwner(person))), now, ttlMs);
        const others = owner.credentials.filter((each) => each !== credential);
        owner.credentials = [...others, credential].slice(-LINKED_MAX);
      }),
    claim: (key, waiting) => claimKey(parts, key, waiting),
    takeTurn: (targets, waiting) => takeTurn(table, targets, waiting),
    changeTargets: (targets, change) => changeTargets(table, targets, change),
  };
}

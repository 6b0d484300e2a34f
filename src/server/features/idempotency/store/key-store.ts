/**
 * The rules of keys, for every store. A run holds its key and the target that it writes to, by places that it renews: after a crash the next
 * request with the key takes over, and finds in the journal what was being sent.
 */
import { STORE_LIMITS, freshOwner } from './entries.ts';
import { type EntryStore, type Reply, after, createEntryTable } from './entry-table.ts';
import { type Claim, type KeyIdentity, type StoreParts, claimKey } from './key-run.ts';
import { createMemoryEntries } from './memory-entries.ts';
import { type Targets, credentialOwner, ownerName, personOwner } from './names.ts';
import { PLACE_MS, placesIn } from './places.ts';
import { seal, unseal } from './seal.ts';
import { type Turn, type Waiting, noteChange, takeTurn } from './turns.ts';

/** Each reply is undefined if the store cannot be reached. */
export interface KeyStore {
  /** The time of the clock that all processes share. */
  now: () => Reply<number | undefined>;
  /** Who may have claimed a key of this sender; the first is for new keys. */
  owners: (credential: string, person: string | undefined) => Reply<readonly string[] | undefined>;
  /** The credential is one of this person. */
  link: (credential: string, person: string) => void;
  claim: (key: KeyIdentity) => Reply<Claim | undefined>;
  /** Resolves when a busy key may be free, or a while later. */
  changed: (key: KeyIdentity) => Promise<void>;
  /** Undefined also if the wait is cancelled. */
  takeTurn: (targets: Targets, waiting: Waiting) => Promise<Turn | undefined>;
  noteChange: (targets: readonly string[], id: string | undefined) => Reply<void>;
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
    leaseMs: isShared ? PLACE_MS : Infinity,
    running: new Set<string>(),
    seal: isShared ? seal : (_, text) => text,
    unseal: isShared ? unseal : (_, text) => text,
  };
  return {
    now: table.now,
    owners(credential, person) {
      const own = credentialOwner(credential);
      const name = ownerName(own);
      const sealed = person === undefined ? table.update([name], (draft) => draft.get(name)?.person ?? '') : '';
      return after(sealed, (known) => {
        if (known === undefined) return undefined;
        const whose = person ?? (known === '' ? undefined : parts.unseal(credential, known));
        if (whose === undefined) return [own];
        const ofPerson = ownerName(personOwner(whose));
        const read = table.update([ofPerson], (draft) => draft.get(ofPerson)?.owner?.credentials ?? []);
        return after(
          read,
          (linked) => linked && [personOwner(whose), ...new Set([own, ...linked.map(credentialOwner)])],
        );
      });
    },
    link(credential, person) {
      const [own, ofPerson] = [ownerName(credentialOwner(credential)), ownerName(personOwner(person))];
      void table.update([own, ofPerson], (draft) => {
        const owner = draft.get(ofPerson)?.owner ?? freshOwner;
        const others = owner.credentials.filter((each) => each !== credential);
        draft.set(own, { ...draft.get(own), person: parts.seal(credential, person) });
        draft.set(ofPerson, {
          ...draft.get(ofPerson),
          owner: { ...owner, credentials: [...others, credential].slice(-LINKED_MAX) },
        });
      });
    },
    claim: (key) => claimKey(parts, key),
    async changed({ ids }) {
      const freed = table.freed(ids);
      const isBusy = await table.update(ids, (draft, now) => ids.some((id) => placesIn(draft.get(id), now).length > 0));
      if (isBusy !== false || ids.some((id) => parts.running.has(id))) await freed;
    },
    takeTurn: (targets, waiting) => takeTurn(table, targets, waiting),
    noteChange: (targets, id) => noteChange(table, targets, id),
  };
}

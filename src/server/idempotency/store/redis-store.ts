/**
 * Keys that replicas share. A run holds a lease, which it renews: after a crash the next request with the key takes over, and finds in the
 * journal what was being sent. Only a request with the key can read what is kept. The process that ran a key answers for it too, so that a
 * Redis that forgets does not make it run again here.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisAccess } from '../../../upstream/redis/shared-state.ts';
import { hashOf } from '../key.ts';
import { createOwnedCache } from './owned-cache.ts';
import { createOwners } from './redis-owners.ts';
import { defineKeyScripts } from './redis-scripts.ts';
import { RUN_LEASE_MS, createRun, secretOf, timeIn } from './redis-run.ts';
import { createSharedTurns } from './redis-turns.ts';
import { unseal } from './seal.ts';
import {
  REMEMBERED_CHANGES,
  type Claim,
  type KeyIdentity,
  type KeyStore,
  type Kept,
  STORE_LIMITS,
} from './key-store.ts';

/** Between two looks at what another process holds. */
const LOOK_MS = 100;

/** Characters that this process remembers of its own runs. */
const REMEMBERED = { ofOwner: 2_000_000, ofAll: 16_000_000 };

interface Remembered {
  readonly fingerprint: string;
  readonly kept: Exclude<Kept, { kind: 'nothing' }>;
  readonly until: number;
}

export function createRedisStore({ connection, call }: RedisAccess, ttlMs: number, limits = STORE_LIMITS): KeyStore {
  const { key: named } = connection;
  const scripts = defineKeyScripts(connection);
  /** Keys that run in this process. */
  const running = new Set<string>();
  const remembered = createOwnedCache<Remembered>({
    ...REMEMBERED,
    sizeOf: ({ kept }) => 200 + ('text' in kept ? kept.text.length : 0),
  });
  function recall({ owners, ids }: KeyIdentity, at: number): Remembered | undefined {
    const known = remembered.get(owners[at]!, ids[at]!);
    return known && known.until > performance.now() ? known : undefined;
  }
  const ofOwner = (what: string, owner: string) => named(`${what}:${hashOf(`caller ${owner}`)}`);

  /** Where several owners may have claimed the key: the one who has. */
  async function claimedBy({ ids }: KeyIdentity): Promise<number | undefined> {
    if (ids.length === 1) return 0;
    const found = await call(() => Promise.all(ids.map((id) => connection.redis.exists(named(`key:${id}`)))));
    return found && Math.max(0, found.indexOf(1));
  }

  /** Redis may have forgotten what this process remembers. */
  function startRun(key: KeyIdentity, at: number, claim: { holder: string; text: string; savedAt: string }): Claim {
    const id = key.ids[at]!;
    const owner = key.owners[at]!;
    const known = recall(key, at)?.kept;
    running.add(id);
    const onEnd = (kept: Kept) => {
      running.delete(id);
      if (kept.kind === 'nothing') remembered.delete(owner, id);
      else remembered.set(owner, id, { fingerprint: key.fingerprint, kept, until: performance.now() + ttlMs });
    };
    const run = createRun({ call, scripts, named, ofOwner, ttlMs, limits, onEnd }, key, at, claim);
    const journal = run.journal ?? (known?.kind === 'journal' ? known.text : undefined);
    return { kind: 'run', run: { ...run, journal } };
  }

  return {
    ...createOwners({ connection, call }, scripts, ofOwner, ttlMs),
    now: async () => timeIn(await call(() => scripts.now([], []))),
    async claim(key): Promise<Claim | undefined> {
      if (key.ids.some((id) => running.has(id))) return { kind: 'busy' };
      const own = key.ids.findIndex((_, at) => recall(key, at) !== undefined);
      const known = own >= 0 ? recall(key, own) : undefined;
      if (known && known.kept.kind !== 'journal') return claimRemembered(known, key.fingerprint);
      const at = own >= 0 ? own : await claimedBy(key);
      if (at === undefined) return undefined;
      const [id, owner] = [key.ids[at]!, key.owners[at]!];
      const holder = randomUUID();
      const lease = named(`key-run:${id}`);
      const values = [key.fingerprint, holder, RUN_LEASE_MS, ttlMs, id, limits.keys, limits.open];
      const keys = [named(`key:${id}`), lease, ofOwner('keys', owner), ofOwner('keys-open', owner)];
      const reply = (await call(
        () => scripts.claim(keys, values),
        (late) => {
          if ((late as string[])[0] === 'run') void call(() => scripts.release([lease], [holder]));
        },
      )) as [Claim['kind'], string?, string?] | undefined;
      if (!reply) return undefined;
      const [kind, text = '', savedAt = ''] = reply;
      if (kind === 'run') return startRun(key, at, { holder, text, savedAt });
      if (kind !== 'replay') return { kind };
      const response = unseal(secretOf(key, at), text);
      return response === undefined ? { kind: 'forgotten' } : { kind, response };
    },
    changed: async () => void (await sleep(LOOK_MS, undefined, { ref: false })),
    takeTurn: createSharedTurns({ connection, call }, scripts, ttlMs),
    noteChange(targets, id) {
      const keys = targets.map((target) => named(`changes:${target}`));
      void call(() => scripts.note(keys, [id ?? '', REMEMBERED_CHANGES, ttlMs]));
    },
  };
}

function claimRemembered({ fingerprint, kept }: Remembered, asked: string): Claim {
  if (fingerprint !== asked) return { kind: 'reused' };
  return kept.kind === 'response' ? { kind: 'replay', response: kept.text } : { kind: 'forgotten' };
}

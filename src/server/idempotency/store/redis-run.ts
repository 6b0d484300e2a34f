/** A run of a key of this process, from its claim to its end. It alone has its lease and its timer. */
import type { RedisCall } from '../../../upstream/redis/connection/channel.ts';
import type { KeyScripts } from './redis-scripts.ts';
import { type KeyIdentity, type KeyRun, type Kept, type StoreLimits } from './key-store.ts';
import { seal, unseal } from './seal.ts';

/** How soon after its process died a run is over. */
export const RUN_LEASE_MS = 3_000;
const RENEWED_MS = 1_000;

export interface RedisRunParts {
  call: RedisCall;
  scripts: KeyScripts;
  /** The full name of a key of Redis. */
  named: (name: string) => string;
  /** That of what belongs to an owner. */
  ofOwner: (what: string, owner: string) => string;
  ttlMs: number;
  limits: StoreLimits;
  onEnd: (kept: Kept) => void;
}

/** What is kept of the key of its owner at this position is encrypted with it. */
export const secretOf = ({ key, owners }: KeyIdentity, at: number): string =>
  `${owners[at]!.length} ${owners[at]!}${key}`;

export function createRun(
  { call, scripts, named, ofOwner, ttlMs, limits, onEnd }: RedisRunParts,
  key: KeyIdentity,
  at: number,
  { holder, text, savedAt }: { holder: string; text: string; savedAt: string },
): KeyRun {
  const [id, owner] = [key.ids[at]!, key.owners[at]!];
  const secret = secretOf(key, at);
  const [record, lease] = [named(`key:${id}`), named(`key-run:${id}`)];
  const [keys, open, kept] = [ofOwner('keys', owner), ofOwner('keys-open', owner), ofOwner('keys-kept', owner)];
  const head = [holder, key.fingerprint, ttlMs];
  let saved = text;
  const renew = () => void call(() => scripts.renew([record, lease], [...head, RUN_LEASE_MS, saved]));
  const renewal = setInterval(renew, RENEWED_MS).unref();
  return {
    id,
    owners: [owner, ...key.owners.filter((each) => each !== owner)],
    journal: text === '' ? undefined : unseal(secret, text),
    savedAt: savedAt === '' ? undefined : Number(savedAt),
    async save(journal, target, state) {
      const sealed = seal(secret, journal());
      const values = [...head, RUN_LEASE_MS, id, sealed, JSON.stringify(state)];
      const time = timeIn(await call(() => scripts.save([record, lease, open, named(`target:${target}`)], values)));
      if (time !== undefined) saved = sealed;
      return time;
    },
    async end(next) {
      clearInterval(renewal);
      onEnd(next);
      const sealed = 'text' in next ? seal(secret, next.text) : '';
      const values = [...head, id, next.kind, sealed, limits.kept, limits.keptCharacters];
      const dropped = await call(() => scripts.end([record, lease, keys, open, kept], values));
      if (!Array.isArray(dropped) || dropped.length === 0) return;
      await call(() =>
        scripts.drop(
          dropped.map((each) => named(`key:${String(each)}`)),
          [],
        ),
      );
    },
  };
}

/** Undefined for a refusal, or without a reply. */
export const timeIn = (reply: unknown): number | undefined =>
  typeof reply === 'number' && reply > 0 ? reply : undefined;

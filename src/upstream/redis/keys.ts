/** The keys of a cached record in Redis. */
import { createHash, randomInt } from 'node:crypto';
import type { CacheKey } from '../cache/memory.ts';
import type { RedisConnection } from './connection.ts';

/** The longest that an entry is kept. Invalidations are remembered a little longer. */
export const LIFE_MS = 7 * 86_400_000;
export const INVALIDATION_LIFE_MS = LIFE_MS + 60_000;
/** How soon after its holder died a lease ends. It is renewed while the holder waits for upstream. */
export const LEASE_MS = 2_000;
/** Records of one command: Redis does nothing else meanwhile. */
export const RECORDS_MAX = 100;
const KEY_MAX = 200;

export type RedisKeys = ReturnType<typeof createKeys>;

export function createKeys({ key: fullKey }: Pick<RedisConnection, 'key'>) {
  const versionKey = (name: string): string => fullKey(`cleared:${short(name)}`);
  return {
    log: fullKey('log'),
    versionKey,
    /** Entry, lease, and the versions of its three names: in this order in every script. */
    recordKeys({ text, tag, groupTag, partition }: CacheKey): readonly string[] {
      const name = short(text);
      return [
        fullKey(`kept:${name}`),
        fullKey(`lease:${name}`),
        versionKey(tag),
        versionKey(groupTag),
        versionKey(partition),
      ];
    },
  };
}

/** A search text may be long. */
const short = (key: string): string =>
  key.length <= KEY_MAX ? key : createHash('sha256').update(key).digest('base64url');

const NUMBER_MAX = 2 ** 47;
/** Of a new log. */
export const randomGeneration = (): number => randomInt(1, NUMBER_MAX);
/** From one version to the next. */
export const randomStep = (): number => randomInt(1, 1_000_000);

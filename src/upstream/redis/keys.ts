/** The keys of a cached record in Redis. */
import { createHash, randomInt } from 'node:crypto';
import type { CacheKey } from '../cache/memory.ts';
import type { RedisConnection } from './connection/connection.ts';

/** The longest that an entry is kept. Invalidations are remembered a little longer. */
export const LIFE_MS = 7 * 86_400_000;
export const INVALIDATION_LIFE_MS = LIFE_MS + 60_000;
/** How soon after its holder died a lease ends. It is renewed while the holder waits for upstream. */
export const LEASE_MS = 2_000;
/** Records of one command: Redis does nothing else meanwhile. */
export const RECORDS_MAX = 100;
const KEY_MAX = 200;

export type RedisKeys = ReturnType<typeof createKeys>;

/** The keys of records in a script: see `COMMON`. */
export interface RecordTable {
  /** Complete when `placesOf` was called for each record. */
  names: readonly string[];
  placesOf: (record: CacheKey) => string;
}

export function createKeys({ key: fullKey }: Pick<RedisConnection, 'key'>) {
  const log = fullKey('log');
  const versionKey = (name: string): string => fullKey(`cleared:${short(name)}`);
  return {
    log,
    versionKey,
    tableOf(records: readonly CacheKey[]): RecordTable {
      const names = [log];
      for (const { text, tag } of records) {
        const name = short(text);
        names.push(fullKey(`kept:${name}`), fullKey(`lease:${name}`), versionKey(tag));
      }
      const places = new Map<string, number>();
      const placeOf = (name: string): number => {
        const known = places.get(name);
        if (known !== undefined) return known;
        const place = names.push(versionKey(name));
        places.set(name, place);
        return place;
      };
      return { names, placesOf: ({ groupTag, partition }) => `${placeOf(groupTag)} ${placeOf(partition)}` };
    },
  };
}

/** A search text may be long. */
const short = (key: string): string =>
  key.length <= KEY_MAX ? key : createHash('sha256').update(key).digest('base64url');

/** From one version of the log to the next. */
export const randomStep = (): number => randomInt(1, 1_000_000);

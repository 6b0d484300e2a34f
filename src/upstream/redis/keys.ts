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

/** `events`: names the service of events. */
export function createKeys({ key: fullKey }: Pick<RedisConnection, 'key'>, events: string) {
  const log = fullKey('log');
  const versionKey = (name: string): string => fullKey(`cleared:${short(name)}`);
  return {
    log,
    versionKey,
    tableOf(records: readonly CacheKey[]): RecordTable {
      const names = [log];
      for (const record of records) {
        const name = entryName(record, events);
        names.push(fullKey(`entry:${name}`), fullKey(`lease:${name}`), versionKey(record.tag));
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

/** Names what is of the service of events alone: replicas that share the rest may read events from another. */
export const nameOfEvents = (events: string, name: string): string => `${digest(events)} ${name}`;

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url');
const short = (name: string): string => (name.length <= KEY_MAX ? name : digest(name));

/** A query may have a text that somebody searches for: whoever can list keys does not read it. */
function entryName({ text, service }: CacheKey, events: string): string {
  const queryAt = text.lastIndexOf('\n') + 1;
  const name = queryAt === text.length ? text : text.slice(0, queryAt) + digest(text);
  return short(service === 'events' ? nameOfEvents(events, name) : name);
}

/** From one version of the log to the next. */
export const randomStep = (): number => randomInt(1, 1_000_000);

/** The name of a service in what replicas share: the normal form of its address, however each replica spells it. */
export function serviceName(address: string): string {
  // Scheme and host in lower case, no port that the scheme implies.
  const { protocol, host, pathname, search } = new URL(address);
  return `${protocol}//${host}${pathname.replace(/(?<!\/)\/+$/, '')}${search}`;
}

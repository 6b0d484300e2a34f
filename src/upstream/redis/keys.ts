/** The keys of a cached record in Redis. */
import { createHash, randomBytes } from 'node:crypto';
import type { CacheKey } from '../cache/memory.ts';
import type { RedisConnection } from './connection/connection.ts';

/** The longest that an entry is kept. Counters live longer than any entry. */
export const LIFE_MS = 7 * 86_400_000;
export const COUNTER_LIFE_MS = LIFE_MS + 60_000;
/** A counter under which nothing is stored yet lives longer than a read takes. */
export const NEW_COUNTER_LIFE_MS = 60_000;
/** How soon after its holder died a lease ends. It is renewed while the holder waits for upstream. */
export const LEASE_MS = 2_000;
/** Records of one command: Redis does nothing else meanwhile. */
export const RECORDS_MAX = 100;
const KEY_MAX = 200;

/** Invalidates all entries. */
export const EVERYTHING = '*';

export type RedisKeys = ReturnType<typeof createKeys>;

/** `events`: names the service of events. */
export function createKeys({ key: fullKey }: Pick<RedisConnection, 'key'>, events: string) {
  const epochs = fullKey('epochs');
  const counter = (name: string): string => (name === EVERYTHING ? epochs : fullKey(`counter:${short(name)}`));
  return {
    epochs,
    counter,
    /** The keys of a script: the epochs, then of each record its entry, its lease and the counters of its names. */
    namesOf: (records: readonly CacheKey[]): string[] => [
      epochs,
      ...records.flatMap((record) => {
        const name = entryName(record, events);
        const { tag, groupTag, partition, isRecord } = record;
        // Other responses have the same tag: a response that is deleted leaves them.
        const names = [tag, groupTag, partition, isRecord ? tag : `entry ${name}`];
        return [fullKey(`entry:${name}`), fullKey(`lease:${name}`), ...names.map(counter)];
      }),
    ],
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

/** The last epoch that this process knows. */
export interface KnownEpoch {
  known: string;
}

const numberOf = (epoch: string): number => Number(epoch.slice(epoch.lastIndexOf('-') + 1));

/** Replies may overtake one another. */
export function laterEpoch(last: KnownEpoch, epoch: string): void {
  if (numberOf(epoch) > numberOf(last.known)) last.known = epoch;
}

/** The value of new counters. */
export const randomValue = (): string => randomBytes(8).toString('base64url');

/** The name of a service in what replicas share: the normal form of its address, however each replica spells it. */
export function serviceName(address: string): string {
  // Scheme and host in lower case, no port that the scheme implies.
  const { protocol, host, pathname, search } = new URL(address);
  return `${protocol}//${host}${pathname.replace(/(?<!\/)\/+$/, '')}${search}`;
}

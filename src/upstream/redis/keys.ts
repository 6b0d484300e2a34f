/** The keys of a cached record in Redis. */
import { createHash, randomBytes } from 'node:crypto';
import type { CacheKey } from '../cache/memory.ts';
import type { RedisConnection } from './connection/connection.ts';

/** The longest that an entry is kept. Counters live longer than any entry. */
export const LIFE_MS = 7 * 86_400_000;
export const COUNTER_LIFE_MS = LIFE_MS + 60_000;
/** A counter under which nothing is stored yet lives longer than a read takes. */
export const NEW_COUNTER_LIFE_MS = 60_000;
/** How soon a lease ends whose holder has died, or waits for upstream for long. */
export const LEASE_MS = 5_000;
/** Records of one command: Redis does nothing else meanwhile. */
export const RECORDS_MAX = 100;
/** How many counters the stamp of a record has. */
export const COUNTERS = 5;

/** The name of all entries. */
export const EVERYTHING = '*';

export type RedisKeys = ReturnType<typeof createKeys>;

/** `events`: names the service of events. */
export function createKeys({ key: fullKey }: Pick<RedisConnection, 'key'>, events: string) {
  const counters = fullKey('counter:');
  const counter = (name: string): string => counters + name;
  const epoch = fullKey('epoch');
  return {
    epoch,
    counter,
    /** The keys of a script. */
    namesOf: (records: readonly CacheKey[]): string[] => [
      epoch,
      ...records.flatMap(({ text, service, tag, groupTag, partition, isRecord }) => {
        // A query may have a text that somebody searches for: whoever can list keys does not read it. Replicas may read events from
        // different services.
        const name = digest(service === 'events' ? `${events} ${text}` : text);
        // All searches have the same tag: a response that is deleted leaves the others.
        const names = [EVERYTHING, groupTag, partition, tag, isRecord ? tag : name];
        return [fullKey(`entry:${name}`), fullKey(`lease:${name}`), ...names.map(counter)];
      }),
    ],
  };
}

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url');

/** The value of new counters. */
export const randomValue = (): string => randomBytes(8).toString('base64url');

/** The name of a service in what replicas share: the normal form of its address, however each replica spells it. */
export const serviceName = (address: string): string => new URL(address).href.replace(/(?<!\/)\/+$/, '');

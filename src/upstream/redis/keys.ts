/** The keys of cached records in Redis. */
import { hash, randomBytes } from 'node:crypto';
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

/** The name of all entries. */
export const EVERYTHING = '*';

export type RedisKeys = ReturnType<typeof createKeys>;

/** `events`: names the service of events. */
export function createKeys({ key: fullKey }: Pick<RedisConnection, 'key'>, events: string) {
  const prefixes = { counter: fullKey('counter:'), entry: fullKey('entry:'), lease: fullKey('lease:') };
  const counter = (name: string): string => prefixes.counter + name;
  const epoch = fullKey('epoch');
  /** Names this process. */
  const owner = randomBytes(9).toString('base64url');
  let made = 0;
  return {
    epoch,
    counter,
    /** What all scripts get, and of each record where its counters are: records have most of them in common. */
    argumentsOf(records: readonly CacheKey[]) {
      const [keys, ofRecords] = [[epoch], [] as string[]];
      const positions = new Map<string, number>();
      const positionOf = (name: string): number => {
        let position = positions.get(name);
        if (position === undefined) positions.set(name, (position = keys.push(counter(name))));
        return position;
      };
      const countersOf = records.map(({ text, service, tag, groupTag, partition, isRecord }) => {
        // A query may have a text that somebody searches for: whoever can list keys does not read it. Replicas may read events from
        // different services.
        const name = digest(service === 'events' ? `${events} ${text}` : text);
        ofRecords.push(prefixes.entry + name, prefixes.lease + name);
        const shared = [positionOf(EVERYTHING), positionOf(groupTag), positionOf(partition), positionOf(tag)];
        // All searches have the same tag: a response that is deleted leaves the others.
        return isRecord ? shared : [...shared, positionOf(name)];
      });
      // The value of new counters is one that no process makes again.
      const values = [`${owner}.${(made++).toString(36)}`, owner, keys.length];
      return { keys: [...keys, ...ofRecords], values, countersOf };
    },
  };
}

const digest = (text: string): string => hash('sha256', text, 'base64url').slice(0, 22);

/** The name of a service in what replicas share: the normal form of its address, however each replica spells it. */
export const serviceName = (address: string): string => new URL(address).href.replace(/(?<!\/)\/+$/, '');

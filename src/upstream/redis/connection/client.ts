/** Makes the client of ioredis for an address. */
import { createRequire } from 'node:module';
import type * as IORedis from 'ioredis';
import type { RedisAddress } from '../../../config/redis-address.ts';

/** Of one server, a Sentinel's primary, or a cluster: all commands of this program go to one slot, so they are the same for each. */
export type RedisClient = IORedis.Redis | IORedis.Cluster;

export const RECONNECT_MS = 500;
const CONNECT_MS = 2_000;

/** Calls are never queued or repeated by the client: their time may be over. `ca`: certificates in PEM, in place of those of Node. */
export function createRedisClient(address: RedisAddress, ca?: string): RedisClient {
  // Loaded here because most facades run without it.
  const { Redis, Cluster } = createRequire(import.meta.url)('ioredis') as typeof IORedis;
  const { kind, hosts, tls, username, password, database } = address;
  const retry = (times: number) => Math.min(RECONNECT_MS, 50 * times);
  const secure = tls && { tls: ca === undefined ? {} : { ca } };
  const options: IORedis.RedisOptions = {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...secure,
    // What servers before 6.0 and proxies know too: no reply of ours has a type that only RESP3 has.
    protocol: 2,
    connectTimeout: CONNECT_MS,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    // A primary that became a replica refuses writes: the address leads to the new primary.
    reconnectOnError: (error) => error.message.includes('READONLY'),
  };
  if (kind === 'cluster')
    return new Cluster([...hosts], {
      redisOptions: options,
      enableOfflineQueue: false,
      clusterRetryStrategy: retry,
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
      slotsRefreshInterval: REFRESH_MS,
      // A certificate is for the name, not for the address that it leads to.
      ...(tls && { dnsLookup: (name, onFound) => onFound(null, name) }),
    });
  const single = { ...options, db: database, enableOfflineQueue: false, retryStrategy: retry };
  if (kind === 'server') return new Redis({ ...single, ...hosts[0]! });
  const { sentinelUsername, sentinelPassword, primary } = address;
  return new Redis({
    ...single,
    sentinels: [...hosts],
    name: primary!,
    sentinelRetryStrategy: retry,
    // Sentinels say when there is a new primary: the connection to the old one may stay open.
    failoverDetector: true,
    ...(sentinelUsername !== undefined && { sentinelUsername }),
    ...(sentinelPassword !== undefined && { sentinelPassword }),
    ...(secure && { sentinelTLS: secure.tls, enableTLSForSentinelMode: true }),
  });
}

/** How soon a failover of a cluster is noticed that no MOVED tells of. */
const REFRESH_MS = 1_000;

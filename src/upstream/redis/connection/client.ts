/** Makes the client of ioredis for an address. */
import { createRequire } from 'node:module';
import type * as IORedis from 'ioredis';
import type { RedisAddress } from '../../../config/redis-address.ts';
import type { TlsFiles } from '../../../config/upstream-tls.ts';
import { createConnectors } from './connectors.ts';

/** A client of one server, a Sentinel's primary, or a cluster: all keys are in one slot, so the commands are the same for each. */
export type RedisClient = IORedis.Redis | IORedis.Cluster;

export const RECONNECT_MS = 500;
const CONNECT_MS = 2_000;
/** How long a socket may take to close before it is destroyed: an unreachable peer never closes it. */
const DISCONNECT_MS = 100;
/** When the system begins to probe a connection that nothing is sent on: a firewall forgets idle ones. */
const IDLE_MS = 10_000;
/** If a reply is due and no data arrives for so long, the connection is replaced. */
const SILENT_MS = 2_000;

/** Calls are never repeated by the client: their time may be over. */
export function createRedisClient(address: RedisAddress, tls: TlsFiles): RedisClient {
  // Loaded here because most facades run without it.
  const ioredis = createRequire(import.meta.url)('ioredis') as typeof IORedis;
  const { Redis, Cluster } = ioredis;
  const connectors = createConnectors(ioredis);
  const { kind, hosts, username, password, database } = address;
  const retry = (times: number) => Math.min(RECONNECT_MS, 50 * times);
  const options: IORedis.RedisOptions = {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(address.tls && { tls }),
    // What servers before 6.0 and proxies know too: no reply of ours has a type that only RESP3 has.
    protocol: 2,
    Connector: kind === 'sentinel' ? connectors.OfSentinels : connectors.Direct,
    connectTimeout: CONNECT_MS,
    disconnectTimeout: DISCONNECT_MS,
    socketTimeout: SILENT_MS,
    keepAlive: IDLE_MS,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    // A primary that became a replica refuses writes: the address leads to the new primary.
    reconnectOnError: (error) => error.message.includes('READONLY'),
  };
  if (kind === 'cluster') {
    const cluster = new Cluster([...hosts], {
      redisOptions: options,
      // A redirection may lead to a node whose connection is still to be made.
      enableOfflineQueue: true,
      clusterRetryStrategy: retry,
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
      // While the slot is being moved most scripts are refused.
      retryDelayOnTryAgain: TRY_AGAIN_MS,
      maxRedirections: REDIRECTIONS_MAX,
      slotsRefreshInterval: REFRESH_MS,
      // Names are looked up for each connection; a certificate is for the name, too.
      dnsLookup: (name, onFound) => onFound(null, name),
    });
    cluster.on('+node', catchAll);
    return cluster;
  }
  const redis = new Redis({
    ...options,
    db: database,
    enableOfflineQueue: false,
    retryStrategy: retry,
    ...(kind === 'server' ? hosts[0]! : sentinelOptions(address, tls, retry)),
  });
  catchAll(redis);
  return redis;
}

/** The client itself sends commands whose promises nobody has, like ASKING: their rejection would end the process. */
function catchAll(node: IORedis.Redis): void {
  const send = node.sendCommand.bind(node);
  node.sendCommand = (command, stream) => {
    const reply = send(command, stream);
    (reply as Promise<unknown>).catch(() => undefined);
    return reply;
  };
}

function sentinelOptions(
  { hosts, primary, tls: isSecure, sentinelUsername, sentinelPassword }: RedisAddress,
  tls: TlsFiles,
  retry: (times: number) => number,
): IORedis.RedisOptions {
  return {
    sentinels: [...hosts],
    name: primary!,
    sentinelRetryStrategy: retry,
    sentinelCommandTimeout: CONNECT_MS,
    // Sentinels say when there is a new primary: the connection to the old one may stay open.
    failoverDetector: true,
    ...(sentinelUsername !== undefined && { sentinelUsername }),
    ...(sentinelPassword !== undefined && { sentinelPassword }),
    ...(isSecure && { sentinelTLS: tls, enableTLSForSentinelMode: true }),
  };
}

/** How soon a failover of a cluster is noticed that causes no MOVED. */
const REFRESH_MS = 1_000;
const TRY_AGAIN_MS = 20;
const REDIRECTIONS_MAX = 4;

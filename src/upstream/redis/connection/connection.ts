/** The connection to the Redis that replicas share, and the names of its keys. */
import { createHash } from 'node:crypto';
import { type RedisAddress, readRedisAddress } from '../../../config/redis-address.ts';
import { settlesWithin } from '../../../lib/promises.ts';
import {
  type AvailabilityMonitor,
  type OnAvailabilityChange,
  createAvailabilityMonitor,
  errorCodeOf,
} from '../../availability.ts';
import { type RedisCall, createChannel } from './channel.ts';
import { RECONNECT_MS, type RedisClient, createRedisClient } from './client.ts';
import { checkRedis } from './start-check.ts';
import { type Pause, createPause } from './pause.ts';

export interface RedisConnection {
  /** The client of the address in use: read it for each command. */
  readonly redis: RedisClient;
  /** The full name of a key. All have one hash tag: in a cluster they are in one slot, so that a script may use several. */
  key: (name: string) => string;
  /** Calls of one kind, which are waited for so long. `what` names them in the log. */
  channel: (what: string, timeoutMs: number, pause?: Pause) => RedisCall;
  /** Refused commands, by the first word of the error. */
  refusals: ReadonlyMap<string, number>;
  isReachable: () => boolean;
  /** A sentence if it cannot be used as it is set. */
  check: () => Promise<string | undefined>;
  /** Changes the address, once there is a connection to the new one. A sentence if that cannot be used: the old one stays in use. */
  use: (url: string) => Promise<string | undefined>;
  close: () => Promise<void>;
}

const QUIT_MS = 200;

/** `namespace`: keys of other namespaces are not visible. */
export function openRedis(
  url: string,
  namespace: string,
  onAvailabilityChange?: OnAvailabilityChange,
  ca?: string,
): RedisConnection {
  const tag = createHash('sha256').update(namespace).digest('base64url').slice(0, 8);
  const key = (name: string) => `catalog:{${tag}}:${name}`;
  const report = (reason: string | undefined) => onAvailabilityChange?.('redis', reason);
  const availability = createAvailabilityMonitor(report);
  const refusals = new Map<string, number>();
  const onRefusal = (code: string) => void refusals.set(code, (refusals.get(code) ?? 0) + 1);
  const open = (address: RedisAddress) => openClient(address, ca, key('check'));
  let current = open(readAddress(url));
  current.follow(availability);
  /** With another address, until it is connected. */
  let next: OpenedClient | undefined;

  function changeTo(client: OpenedClient): void {
    if (client !== next) return;
    const old = current;
    next = undefined;
    current = client;
    client.follow(availability);
    void old.close();
  }

  const connection: RedisConnection = {
    get redis() {
      return current.redis;
    },
    key,
    channel: (what, timeoutMs, pause = createPause()) =>
      createChannel(connection, { what, timeoutMs, pause, availability, report, onRefusal }),
    refusals,
    isReachable: () => current.redis.status === 'ready' && availability.isAvailable(),
    check: () => current.check(),
    async use(url) {
      const client = open(readAddress(url));
      void next?.close();
      next = client;
      const refusal = await client.check();
      if (refusal === undefined && (client.redis.status === 'ready' || current.redis.status !== 'ready'))
        changeTo(client);
      else if (refusal === undefined) client.redis.once('ready', () => changeTo(client));
      else if (client === next) {
        next = undefined;
        await client.close();
      }
      return refusal;
    },
    async close(): Promise<void> {
      await Promise.all([current.close(), next?.close()]);
    },
  };
  return connection;
}

type OpenedClient = ReturnType<typeof openClient>;

/** A client of one address, which connects again until it is closed. */
function openClient(address: RedisAddress, ca: string | undefined, checkKey: string) {
  const redis = createRedisClient(address, ca);
  let availability: AvailabilityMonitor | undefined;
  let closing = false;
  // Without a listener an outage would end the process.
  redis.on('error', (error: unknown) => availability?.onFailure(errorCodeOf(error), true));
  redis.on('close', () => {
    if (!closing) availability?.onFailure('closed', true);
  });
  redis.on('ready', () => availability?.onSuccess());
  // ioredis gives up for good if the news of a failover comes while it looks for the primary; and without a word, at `close`, if the last
  // node of a cluster disconnects while it looks up the names of the nodes.
  for (const event of ['end', 'close'])
    redis.on(event, () => {
      const again = () => {
        if (!closing && redis.status === event) redis.connect().catch(() => undefined);
      };
      setTimeout(again, RECONNECT_MS).unref();
    });
  return {
    redis,
    check: () => checkRedis(redis, address, checkKey),
    /** From now on it tells whether Redis is reachable. */
    follow(monitor: AvailabilityMonitor): void {
      availability = monitor;
      if (redis.status === 'ready') monitor.onSuccess();
    },
    async close(): Promise<void> {
      closing = true;
      availability = undefined;
      const ended = redis.quit().catch(() => undefined);
      await settlesWithin(QUIT_MS, ended);
      redis.disconnect();
    },
  };
}

function readAddress(url: string): RedisAddress {
  const address = readRedisAddress(url);
  if (!address) throw new Error('This is not an address of Redis.'); // the settings are checked before
  return address;
}

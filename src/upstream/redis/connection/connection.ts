/** The connection to the Redis that replicas share, and the names of its keys. */
import { createHash } from 'node:crypto';
import { type RedisAddress, readRedisAddress } from '../../../config/redis-address.ts';
import type { TlsFiles } from '../../../config/upstream-tls.ts';
import { settlesWithin } from '../../../lib/promises.ts';
import { type ReportAvailability, errorCodeOf } from '../../availability.ts';
import { type Channel, type ChannelOptions, type RedisCall, createChannel } from './channel.ts';
import { RECONNECT_MS, type RedisClient, createRedisClient } from './client.ts';
import { CONNECTION, createOutages } from './outages.ts';
import { type CheckedRedis, checkRedis } from './start-check.ts';

export interface RedisSettings {
  url: string;
  /** The setting that has the address, for messages. */
  variable?: string;
  /** Keys of other namespaces are not visible. */
  namespace: string;
  /** Certificates and a key in PEM. */
  tls?: TlsFiles;
  report?: ReportAvailability;
}

/** For metrics. */
export interface RedisState {
  isReachable: boolean;
  /** Refused commands, by the first word of the error. */
  refusals: Readonly<Record<string, number>>;
  /** Replies that were late, by the kind of call. */
  lateReplies: Readonly<Record<string, number>>;
}

export interface RedisConnection {
  /** The client of the address in use: read it for each command. */
  readonly redis: RedisClient;
  /** The full name of a key. All have one hash tag: in a cluster they are in one slot, so that a script may use several. */
  key: (name: string) => string;
  /** Calls of one kind. */
  channel: (options: ChannelOptions) => RedisCall;
  /** Ends the pauses of all channels. */
  retryNow: () => void;
  state: () => RedisState;
  /** Why the last connection was lost, or could not be made; undefined if there is one, or while the first is made. */
  lossReason: () => string | undefined;
  /** The scripts that it runs, by name: whoever defines one adds it. */
  scripts: Map<string, string>;
  /** A sentence if it cannot be used as it is set. `more`: scripts that are not defined yet. */
  check: (more?: readonly string[]) => Promise<string | undefined>;
  /**
   * Changes the address, once there is a connection to the new one. `onOutcome` gets nothing once it is in use; a sentence if it cannot be
   * used, or not yet: the old one stays in use.
   */
  use: (url: string, onOutcome: (problem: string | undefined) => void) => Promise<void>;
  close: () => Promise<void>;
}

const QUIT_MS = 200;

export function openRedis(settings: RedisSettings): RedisConnection {
  const { url, variable = 'REDIS_URL', namespace, tls = {}, report = () => undefined } = settings;
  const tag = createHash('sha256').update(namespace).digest('base64url').slice(0, 8);
  const key = (name: string) => `catalog:{${tag}}:${name}`;
  const outages = createOutages(report);
  const channels: Channel[] = [];
  const scripts = new Map<string, string>();
  const refusals: Record<string, number> = {};
  const lateReplies: Record<string, number> = {};
  const open = (url: string) => openClient(readAddress(url), tls, { variable, key });
  const retryNow = () => channels.forEach(({ restart }) => restart());
  const watch: ConnectionWatch = {
    onLost: (reason) => outages.begin(CONNECTION, reason),
    onReady: () => (retryNow(), outages.end(CONNECTION)),
  };
  let current = open(url);
  current.follow(watch);
  /** With another address, until it is connected. */
  let next: OpenedClient | undefined;

  /** Checks the next client once it is connected, and changes to it. */
  async function change(client: OpenedClient, onOutcome: (problem: string | undefined) => void): Promise<void> {
    const problem = await client.check([...scripts.values()]);
    if (client !== next) return;
    if (problem !== undefined) {
      next = undefined;
      onOutcome(problem);
      return client.close();
    }
    if (client.redis.status !== 'ready') {
      onOutcome(`Nothing answers at the new address of ${variable}: it is used once Redis does.`);
      return void client.redis.once('ready', () => void change(client, onOutcome));
    }
    const old = current;
    next = undefined;
    current = client;
    client.follow(watch);
    onOutcome(undefined);
    await old.close();
  }

  const connection: RedisConnection = {
    get redis() {
      return current.redis;
    },
    key,
    channel(options) {
      const parts = { connection, outages, onRefusal: countIn(refusals), onLate: countIn(lateReplies) };
      return (channels[channels.length] = createChannel(parts, options)).call;
    },
    retryNow,
    state: () => ({
      isReachable: current.redis.status === 'ready' && !outages.isUnreachable(),
      refusals,
      lateReplies,
    }),
    lossReason: () => current.lossReason(),
    scripts,
    check: (more = []) => current.check([...scripts.values(), ...more]),
    async use(url, onOutcome) {
      void next?.close();
      next = open(url);
      await change(next, onOutcome);
    },
    async close(): Promise<void> {
      await Promise.all([current.close(), next?.close()]);
    },
  };
  return connection;
}

const countIn =
  (counts: Record<string, number>) =>
  (name: string): void =>
    void (counts[name] = (counts[name] ?? 0) + 1);

type OpenedClient = ReturnType<typeof openClient>;

interface ConnectionWatch {
  onLost: (reason: string) => void;
  onReady: () => void;
}

/** A client of one address, which connects again until it is closed. */
function openClient(address: RedisAddress, tls: TlsFiles, { variable, key }: Pick<CheckedRedis, 'variable' | 'key'>) {
  let watch: ConnectionWatch | undefined;
  let closing = false;
  let reason: string | undefined;
  const redis = createRedisClient(address, tls);
  // Without a listener an outage would end the process.
  redis.on('error', (error: unknown) => {
    if (redis.status === 'ready') return;
    reason = reasonOf(error);
    watch?.onLost(reason);
  });
  redis.on('close', () => watch?.onLost((reason ??= 'closed')));
  redis.on('ready', () => {
    reason = undefined;
    watch?.onReady();
  });
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
    lossReason: () => reason,
    check: (scripts: readonly string[]) => checkRedis({ redis, address, variable, key }, scripts),
    /** From now on this client shows whether Redis is reachable. */
    follow(by: ConnectionWatch): void {
      watch = by;
      if (redis.status === 'ready') by.onReady();
    },
    async close(): Promise<void> {
      closing = true;
      watch = undefined;
      const ended = redis.quit().catch(() => undefined);
      await settlesWithin(QUIT_MS, ended);
      redis.disconnect();
    },
  };
}

/** Never the message, which may have an address or be of a proxy. */
function reasonOf(error: unknown): string {
  // The error of a cluster contains that of the node which was tried last.
  const { lastNodeError = error as Error } = error as { lastNodeError?: Error };
  const { name, message } = lastNodeError;
  if (message.startsWith('Socket timeout')) return 'ETIMEDOUT';
  if (name === 'ReplyError') return /^[A-Z]{2,20}\b/.exec(message)?.[0] ?? 'ERR';
  return message.startsWith('All sentinels are unreachable') ? 'no Sentinel answers' : errorCodeOf(lastNodeError);
}

function readAddress(url: string): RedisAddress {
  const address = readRedisAddress(url);
  if (!address) throw new Error('This is not an address of Redis.'); // the settings are checked before
  return address;
}

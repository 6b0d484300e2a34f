/** The connection to the Redis that replicas share, and the names of its keys. */
import { createHash } from 'node:crypto';
import { readRedisAddress } from '../../../config/redis-address.ts';
import type { TlsFiles } from '../../../config/upstream-tls.ts';
import { settlesWithin } from '../../../lib/promises.ts';
import { type ReportAvailability, errorCodeOf } from '../../availability.ts';
import { type Channel, type ChannelOptions, type RedisCall, NO_ANSWER, createChannel, isRefusal } from './channel.ts';
import { RECONNECT_MS, type RedisClient, createRedisClient } from './client.ts';
import { NEEDS_OPERATOR, reportWhatLasts } from './outages.ts';
import { checkRedis } from './start-check.ts';

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
  readonly redis: RedisClient;
  /** The full name of a key. All have one hash tag: in a cluster they are in one slot, so that a script may use several. */
  key: (name: string) => string;
  /** Calls of one kind. */
  channel: (options: ChannelOptions) => RedisCall;
  state: () => RedisState;
  /** Why the last connection was lost, or could not be made; undefined if there is one, or while the first is made. */
  lossReason: () => string | undefined;
  /** A sentence if it cannot be used as it is set. */
  check: () => Promise<string | undefined>;
  close: () => Promise<void>;
}

const QUIT_MS = 200;

export function openRedis(settings: RedisSettings): RedisConnection {
  const { url, variable = 'REDIS_URL', namespace, tls = {}, report = () => undefined } = settings;
  const address = readRedisAddress(url)!; // the settings are checked before
  const tag = createHash('sha256').update(namespace).digest('base64url').slice(0, 8);
  const key = (name: string) => `catalog:{${tag}}:${name}`;
  const channels: Channel[] = [];
  const refusals: Record<string, number> = {};
  const lateReplies: Record<string, number> = {};
  const redis = createRedisClient(address, tls);
  let isClosing = false;
  let reason: string | undefined;
  // Without a listener an outage would end the process.
  redis.on('error', (error: unknown) => void (NEEDS_OPERATOR.test(reason ?? '') || (reason = reasonOf(error))));
  redis.on('close', () => (reason ??= 'closed'));
  redis.on('ready', () => {
    reason = undefined;
    for (const { restart } of channels) restart();
  });
  const troubles = () => channels.map((each) => each.trouble()).filter((each) => each !== undefined);
  const trouble = () => (redis.status === 'ready' ? troubles()[0] : reason);
  const endReports = reportWhatLasts(trouble, report);
  // ioredis gives up for good if the news of a failover comes while it looks for the primary; and without a word, at `close`, if the last
  // node of a cluster disconnects while it looks up the names of the nodes.
  for (const event of ['end', 'close'])
    redis.on(event, () => {
      const again = () => {
        if (!isClosing && redis.status === event) redis.connect().catch(() => undefined);
      };
      setTimeout(again, RECONNECT_MS).unref();
    });

  return {
    redis,
    key,
    channel(options) {
      return (channels[channels.length] = createChannel({ redis, refusals, lateReplies }, options)).call;
    },
    state: () => ({ isReachable: redis.status === 'ready' && troubles().every(isRefusal), refusals, lateReplies }),
    lossReason: () => reason,
    check: () => checkRedis({ redis, address, variable, key }),
    async close(): Promise<void> {
      isClosing = true;
      endReports();
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
  if (message.startsWith('Socket timeout')) return NO_ANSWER;
  if (name === 'ReplyError') return /^[A-Z]{2,20}\b/.exec(message)?.[0] ?? 'ERR';
  return message.startsWith('All sentinels are unreachable') ? 'no Sentinel answers' : errorCodeOf(lastNodeError);
}

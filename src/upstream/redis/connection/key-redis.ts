/** The Redis in which idempotency keys are kept. If it loses a key, a write may be made twice. */
import { memoryIn, writesToDisk } from './info.ts';
import type { TransportSettings } from '../../http/pool.ts';
import { type TlsFiles, readTlsFiles } from '../../../config/upstream-tls.ts';
import type { OnAvailabilityChange } from '../../availability.ts';
import type { ChannelOptions } from './channel.ts';
import { type RedisConnection, type RedisState, openRedis, stateOf } from './connection.ts';
import type { RedisAccess, SharedState } from '../shared-state.ts';

export interface KeyRedis {
  redisFor: (options: ChannelOptions) => RedisAccess;
  /** It is another Redis than the one that replicas share. */
  isOwn: boolean;
  /** Undefined for the shared one, whose state is read elsewhere. */
  state: (() => RedisState) | undefined;
  /** A sentence if it cannot be used as it is set; undefined for the shared one, which is checked elsewhere. */
  check: (scripts: readonly string[]) => Promise<string | undefined>;
  renewTls: (tls: TlsFiles) => boolean;
  /** Changes its own address, as that of the shared one is changed. */
  use: RedisConnection['use'];
  /** A sentence if it may forget keys. */
  warning: () => Promise<string | undefined>;
  close: () => Promise<void>;
}

/** Opens the Redis of IDEMPOTENCY_REDIS_URL, or returns the one that replicas share; undefined if neither is set. */
export function openKeyRedis(
  settings: TransportSettings,
  namespace: string,
  shared: SharedState | undefined,
  onOutage: OnAvailabilityChange | undefined,
): KeyRedis | undefined {
  const { idempotencyRedisUrl: url } = settings;
  if (url === undefined) {
    if (!shared) return undefined;
    const { redisFor } = shared;
    const { connection } = redisFor({ what: 'idempotency keys', timeoutMs: INFO_MS });
    return {
      redisFor,
      isOwn: false,
      state: undefined,
      check: async () => undefined,
      renewTls: () => false,
      use: async () => undefined,
      warning: () => lossWarning(connection),
      close: async () => undefined,
    };
  }
  const report = (reason: string | undefined) => onOutage?.('redis of idempotency keys', reason);
  const variable = 'IDEMPOTENCY_REDIS_URL';
  const connection = openRedis({ url, variable, namespace, tls: readTlsFiles('redis', settings), report });
  return {
    redisFor: (options) => ({ connection, call: connection.channel(options) }),
    isOwn: true,
    state: () => stateOf(connection),
    check: connection.check,
    renewTls: connection.renewTls,
    use: connection.use,
    warning: () => lossWarning(connection),
    close: connection.close,
  };
}

const INFO_MS = 1_000;

/** Undefined also if Redis does not answer. */
async function lossWarning({ redis, channel }: RedisConnection): Promise<string | undefined> {
  if (redis.status !== 'ready') return undefined;
  const call = channel({ what: 'its limits', timeoutMs: INFO_MS });
  const info = await call(async () => String(await redis.call('INFO').catch(emptyIfRefused)));
  const found = info === undefined ? undefined : keyLossIn(info);
  return found && `${found.problem} ${found.advice}`;
}

/** A user without the permission for INFO is no outage. */
function emptyIfRefused(error: Error): string {
  if (error.name === 'ReplyError') return '';
  throw error;
}

/** How the Redis of idempotency keys may lose them, and what to do about it; undefined if it may not. `info`: memory and persistence. */
export function keyLossIn(info: string): { problem: string; advice: string } | undefined {
  const { maxBytes, policy = 'noeviction' } = memoryIn(info);
  const losses = [
    ...(maxBytes > 0 && policy !== 'noeviction' ? [`may evict them (${policy})`] : []),
    // Also with snapshots, which lack the last keys.
    ...(writesToDisk(info) === false ? ['may lose them at a restart (appendonly no)'] : []),
  ];
  if (losses.length === 0) return undefined;
  return {
    problem: `The Redis of the idempotency keys ${losses.join(' and ')}: writes that are sent again may be made twice.`,
    advice: 'Set IDEMPOTENCY_REDIS_URL to one with maxmemory-policy noeviction and appendonly yes.',
  };
}

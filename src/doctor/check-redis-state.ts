/** The Redis that replicas share: reachable, usable, and whether it has room. */
import { readRedisAddress } from '../config/redis-address.ts';
import type { Config } from '../config/settings.ts';
import { type TlsSettings, readTlsFiles } from '../config/upstream-tls.ts';
import { openRedis } from '../upstream/redis/connection/connection.ts';
import { infoField, memoryIn, writesToDisk } from '../upstream/redis/connection/info.ts';
import { keyLossIn } from '../upstream/redis/connection/key-redis.ts';
import { connectRedis } from '../upstream/redis/shared-state.ts';
import { type Diagnosis, connectionAdvice, failed, ok, warning } from './diagnosis.ts';

type RedisSettings = TlsSettings & Pick<Config, 'redisUrl' | 'idempotencyRedisUrl' | 'idempotencyTtlSeconds'>;

/** Evicts only what has a time to live, which all that the facade stores has. */
const POLICY = 'volatile-lru';

export async function checkRedisState(config: RedisSettings): Promise<Diagnosis> {
  const { redisUrl } = config;
  const check = 'redis';
  const address = redisUrl === undefined ? undefined : readRedisAddress(redisUrl);
  if (redisUrl === undefined || address === undefined) {
    const message = 'REDIS_URL is not set: records and the rate limit are kept in each process';
    return ok(check, message);
  }
  const place = address.hosts.map(({ host, port }) => `${host}:${port}`).join(',');
  const shared = connectRedis({ url: redisUrl, namespace: 'doctor', tls: readTlsFiles('redis', config) });
  const { redis } = shared.connection;
  try {
    const refusal = await shared.connection.check();
    if (refusal !== undefined) return refused(check, refusal, 'REDIS_URL');
    if (redis.status !== 'ready') return away(check, place, 'REDIS_URL', shared.connection.lossReason());
    const begun = performance.now();
    const info = `${await infoOf(redis, 'server')}\n${await infoOf(redis, 'memory')}`;
    return describeInfo(address.kind, place, info, { ms: performance.now() - begun, hasKeys: hasKeys(config) });
  } catch {
    return failed(
      check,
      `${place} does not answer INFO`,
      'Look at the log of Redis, and at what its user may do (docs/redis.md).',
    );
  } finally {
    await shared.close();
  }
}

/** Idempotency keys are kept beside what may be forgotten. */
const hasKeys = ({ idempotencyRedisUrl, idempotencyTtlSeconds }: RedisSettings): boolean =>
  idempotencyRedisUrl === undefined && idempotencyTtlSeconds > 0;

/** Whether idempotency keys are kept where nothing is lost. */
export async function checkKeyRedis(config: RedisSettings): Promise<Diagnosis> {
  const { redisUrl, idempotencyRedisUrl, idempotencyTtlSeconds } = config;
  const check = 'idempotency keys';
  const url = idempotencyRedisUrl ?? redisUrl;
  if (idempotencyTtlSeconds === 0) return ok(check, 'IDEMPOTENCY_TTL_SECONDS is 0: the header is ignored');
  if (url === undefined) {
    const message = 'they are kept in the process, and are lost with it';
    return ok(check, `${message}; several replicas need IDEMPOTENCY_REDIS_URL or REDIS_URL`);
  }
  const variable = idempotencyRedisUrl === undefined ? 'REDIS_URL' : 'IDEMPOTENCY_REDIS_URL';
  const connection = openRedis({ url, variable, namespace: 'doctor', tls: readTlsFiles('redis', config) });
  try {
    const refusal = await connection.check();
    if (refusal !== undefined) return refused(check, refusal, variable);
    if (connection.redis.status !== 'ready')
      return away(check, `the Redis of ${variable}`, variable, connection.lossReason());
    const info = `${await infoOf(connection.redis, 'memory')}\n${await infoOf(connection.redis, 'persistence')}`;
    return describeKeyRedis(variable, info);
  } catch {
    return warning(
      check,
      `the Redis of ${variable} does not answer INFO`,
      'Give its user +info (docs/redis.md): whether it may lose keys is not known.',
    );
  } finally {
    await connection.close();
  }
}

const refused = (check: string, refusal: string, variable: string): Diagnosis =>
  failed(check, refusal, `The facade does not start like this. Correct ${variable}, or the user in Redis.`);

function away(check: 'redis' | 'idempotency keys', place: string, variable: string, reason?: string): Diagnosis {
  const message = `${place} ${reason === undefined ? 'does not respond' : `cannot be reached: ${reason}`}`;
  const start = `Start Redis, look why it does not respond, or correct ${variable}.`;
  return failed(check, message, `${connectionAdvice(reason, variable, 'REDIS') ?? start} ${withoutRedis[check]}`);
}
const withoutRedis = {
  redis: 'The facade runs without it, and replicas share nothing.',
  'idempotency keys': 'Without it, writes with keys are refused.',
};

/** `info`: the sections memory and persistence. */
function describeKeyRedis(variable: string, info: string): Diagnosis {
  const check = 'idempotency keys';
  const loss = keyLossIn(info);
  if (loss) return warning(check, loss.problem, loss.advice);
  const { usedBytes, maxBytes } = memoryIn(info);
  const place = `in the Redis of ${variable}, which evicts nothing${writesToDisk(info) ? ' and writes to disk' : ''}`;
  if (maxBytes === 0 || usedBytes <= maxBytes * FULL) return ok(check, place);
  const size = `${mb(usedBytes)} of ${mb(maxBytes)}`;
  return warning(
    check,
    `${place}: ${size}`,
    'A full Redis refuses keys, and then writes with keys: give it more memory.',
  );
}

const infoOf = async (redis: { call: (...words: [string, string]) => Promise<unknown> }, section: string) =>
  String(await redis.call('INFO', section));

/** `info`: the sections server and memory. `hasKeys`: it has idempotency keys too, which no policy but noeviction keeps. */
export function describeInfo(
  kind: string,
  place: string,
  info: string,
  { ms, hasKeys = false }: { ms: number; hasKeys?: boolean },
): Diagnosis {
  const check = 'redis';
  const { usedBytes: used, maxBytes: max, policy = 'unknown' } = memoryIn(info);
  const version = infoField(info, 'redis_version') ?? 'unknown';
  const facts = { kind, place, version, usedBytes: used, maxBytes: max, policy, ms: Math.round(ms) };
  const size = max > 0 ? `${mb(used)} of ${mb(max)}` : `${mb(used)}, no maxmemory`;
  const setPolicy = hasKeys
    ? `set maxmemory-policy ${POLICY}, once the idempotency keys are in another Redis, that of IDEMPOTENCY_REDIS_URL`
    : `set maxmemory-policy ${POLICY}`;
  const message = `${kind} ${place}: version ${version}, ${size}, ${policy}`;
  if (max > 0 && policy === 'noeviction')
    return warning(check, message, `A full Redis refuses writes, and replicas share nothing new: ${setPolicy}.`, facts);
  if (max > 0 && /-(lfu|random)$/.test(policy))
    return warning(
      check,
      message,
      `It may evict what is new or in use: windows of the rate limit, and counters without which cached records are not used: ${setPolicy}.`,
      facts,
    );
  if (max > 0 && policy.startsWith('allkeys'))
    return warning(
      check,
      message,
      `It may evict keys of other programs that have no time to live, which the facade does not need: ${setPolicy}.`,
      facts,
    );
  if (max > 0 && used > max * FULL)
    return warning(
      check,
      message,
      hasKeys
        ? 'It is nearly full, and may evict idempotency keys: set IDEMPOTENCY_REDIS_URL to another Redis.'
        : 'It is nearly full: what it evicts is read from the service again. Give it more memory.',
      facts,
    );
  if (max === 0)
    return warning(
      check,
      message,
      `Without a limit it grows until the machine has no memory: set maxmemory, and ${setPolicy}.`,
      facts,
    );
  return ok(check, message, facts);
}

const FULL = 0.9;
const mb = (bytes: number): string => `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;

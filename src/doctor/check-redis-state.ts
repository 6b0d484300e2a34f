/** The Redis that replicas share, and that of idempotency keys: reachable, usable, and whether it has room and keeps what it has. */
import { readRedisAddress } from '../config/redis-address.ts';
import type { Config } from '../config/settings.ts';
import { type TlsSettings, readTlsFiles } from '../config/upstream-tls.ts';
import { openRedis } from '../upstream/redis/connection/connection.ts';
import { infoField, memoryIn, writesToDisk } from '../upstream/redis/connection/info.ts';
import { keyLossIn } from '../upstream/redis/connection/key-redis.ts';
import { type Diagnosis, connectionAdvice, failed, ok, warning } from './diagnosis.ts';

type RedisSettings = TlsSettings & Pick<Config, 'redisUrl' | 'idempotencyRedisUrl' | 'idempotencyTtlSeconds'>;

/** Evicts only what has a time to live, which all that the facade stores has. */
const POLICY = 'volatile-lru';
const FULL = 0.9;

export async function checkRedisState(config: RedisSettings): Promise<Diagnosis> {
  const check = 'redis';
  const { redisUrl: url, idempotencyRedisUrl, idempotencyTtlSeconds } = config;
  if (url === undefined) return ok(check, 'REDIS_URL is not set: records and the rate limit are kept in each process');
  const hasKeys = idempotencyRedisUrl === undefined && idempotencyTtlSeconds > 0;
  const asked = {
    check,
    url,
    variable: 'REDIS_URL',
    without: 'The facade runs without it, and replicas share nothing.',
  };
  return inspected(config, asked, (info, address) => {
    const { usedBytes, maxBytes, policy = 'unknown' } = memoryIn(info);
    const version = infoField(info, 'redis_version') ?? 'unknown';
    const size = maxBytes > 0 ? `${mb(usedBytes)} of ${mb(maxBytes)}` : `${mb(usedBytes)}, no maxmemory`;
    const message = `${readRedisAddress(url)!.kind} ${address}: version ${version}, ${size}, ${policy}`;
    const advice = sharedAdvice({ usedBytes, maxBytes, policy }, hasKeys);
    return advice === undefined ? ok(check, message) : warning(check, message, advice);
  });
}

/** `hasKeys`: it has idempotency keys too, which no policy but noeviction keeps. */
function sharedAdvice(
  { usedBytes, maxBytes, policy }: { usedBytes: number; maxBytes: number; policy: string },
  hasKeys: boolean,
): string | undefined {
  const first = hasKeys ? ', once the idempotency keys are in another Redis, that of IDEMPOTENCY_REDIS_URL' : '';
  const set = `set maxmemory-policy ${POLICY}${first}.`;
  if (maxBytes === 0) return `Without a limit it grows until the machine has no memory: set maxmemory, and ${set}`;
  if (policy === 'noeviction') return `A full Redis refuses writes, and replicas share nothing new: ${set}`;
  if (/^allkeys|-(?:lfu|random)$/.test(policy))
    return `It may evict what is new or in use, and keys of other programs: ${set}`;
  if (usedBytes <= maxBytes * FULL) return undefined;
  return hasKeys
    ? 'It is nearly full, and may evict idempotency keys: set IDEMPOTENCY_REDIS_URL to another Redis.'
    : 'It is nearly full: what it evicts is read from the service again. Give it more memory.';
}

/** Whether idempotency keys are kept where nothing is lost. */
export async function checkKeyRedis(config: RedisSettings): Promise<Diagnosis> {
  const check = 'idempotency keys';
  const { redisUrl, idempotencyRedisUrl, idempotencyTtlSeconds } = config;
  const url = idempotencyRedisUrl ?? redisUrl;
  if (idempotencyTtlSeconds === 0) return ok(check, 'IDEMPOTENCY_TTL_SECONDS is 0: the header is ignored');
  if (url === undefined) {
    const message = 'they are kept in the process, and are lost with it';
    return ok(check, `${message}; several replicas need IDEMPOTENCY_REDIS_URL or REDIS_URL`);
  }
  const variable = idempotencyRedisUrl === undefined ? 'REDIS_URL' : 'IDEMPOTENCY_REDIS_URL';
  const asked = { check, url, variable, without: 'Without it, writes with keys are refused.' };
  return inspected(config, asked, (info) => {
    const loss = keyLossIn(info);
    if (loss) return warning(check, loss.problem, loss.advice);
    const { usedBytes, maxBytes } = memoryIn(info);
    const address = `in the Redis of ${variable}, which evicts nothing${writesToDisk(info) ? ' and writes to disk' : ''}`;
    if (maxBytes === 0 || usedBytes <= maxBytes * FULL) return ok(check, address);
    const message = `${address}: ${mb(usedBytes)} of ${mb(maxBytes)}`;
    return warning(check, message, 'A full Redis refuses keys, and then writes with keys: give it more memory.');
  });
}

interface Asked {
  check: string;
  url: string;
  variable: string;
  /** What does not work without it. */
  without: string;
}

async function inspected(
  config: RedisSettings,
  { check, url, variable, without }: Asked,
  describe: (info: string, address: string) => Diagnosis,
): Promise<Diagnosis> {
  const address = readRedisAddress(url)!
    .hosts.map(({ host, port }) => `${host}:${port}`)
    .join(',');
  const connection = openRedis({ url, variable, namespace: 'doctor', tls: readTlsFiles('redis', config) });
  try {
    const refusal = await connection.check();
    if (refusal !== undefined)
      return failed(check, refusal, `The facade does not start like this. Correct ${variable}, or the user in Redis.`);
    if (connection.redis.status === 'ready') return describe(String(await connection.redis.call('INFO')), address);
    const reason = connection.lossReason();
    const message = `${address} ${reason === undefined ? 'does not respond' : `cannot be reached: ${reason}`}`;
    const start = `Start Redis, look why it does not respond, or correct ${variable}.`;
    return failed(check, message, `${connectionAdvice(reason, variable, 'REDIS') ?? start} ${without}`);
  } catch {
    return warning(check, `${address} does not answer INFO`, 'Give its user +info (docs/operations.md).');
  } finally {
    await connection.close();
  }
}

const mb = (bytes: number): string => `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;

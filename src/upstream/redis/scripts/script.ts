/** Scripts that Redis runs as one step. */
import type { RedisConnection } from '../connection/connection.ts';

/** Sets `now`, in ms. */
export const NOW = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

export type Script = (keys: readonly string[], values: readonly (string | number)[]) => Promise<unknown>;

/** ioredis sends the hash of the script, and the script itself where Redis does not have it (NOSCRIPT). */
export function defineScript({ redis }: Pick<RedisConnection, 'redis'>, name: string, lua: string): Script {
  redis.defineCommand(name, { lua });
  const command = Reflect.get(redis, name) as (...values: readonly unknown[]) => Promise<unknown>;
  return (keys, values) => command.call(redis, keys.length, ...keys, ...values);
}

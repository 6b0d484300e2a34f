/** Documents that clients have registered by their hashes, for all replicas. */
import type { RedisCall } from './connection/channel.ts';
import type { RedisConnection } from './connection/connection.ts';
import { defineScript } from './scripts/script.ts';

export interface SharedDocuments {
  find(hash: string): Promise<string | undefined>;
  store(hash: string, text: string): void;
}

const DOCUMENTS_MAX = 1_000;
/** Since the last was registered. */
const LIFE_MS = 7 * 86_400_000;

/** ARGV: hash, text, most documents, life. If there are too many, any one makes room: its clients register it again. */
const STORE = `
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then
  redis.call('HDEL', KEYS[1], redis.call('HRANDFIELD', KEYS[1]))
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1`;

export function createSharedDocuments(connection: RedisConnection, call: RedisCall): SharedDocuments {
  const store = defineScript(connection, 'catalogStoreDocument', STORE);
  const name = connection.key('documents');
  return {
    find: async (hash) => (await call(() => connection.redis.hget(name, hash))) ?? undefined,
    store(hash, text) {
      void call(() => store([name], [hash, text, DOCUMENTS_MAX, LIFE_MS]));
    },
  };
}

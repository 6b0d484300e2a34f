/**
 * The room for cached records in a Redis that evicts nothing. A full one refuses invalidations and idempotency keys too, so the cache leaves
 * a part of it to them.
 */
import { memoryIn } from './info.ts';
import type { RedisCall } from './channel.ts';
import type { RedisConnection } from './connection.ts';
import { defineScript } from '../script.ts';

const LOOK_MS = 500;
/** The part of the memory that the cache may fill. */
const SHARE = 0.75;

/** In a cluster, the server with the keys answers a script. Without permission, nothing is known. */
const MEMORY = `
local info = redis.pcall('INFO', 'memory')
return type(info) == 'string' and info or ''`;

export interface Room {
  /** Whether so many characters may be written, which then count as written. */
  take: (characters: number) => boolean;
}

export function createRoom(connection: RedisConnection, call: RedisCall): Room {
  const memory = defineScript(connection, 'catalogMemory', MEMORY);
  let left = Infinity;
  let lookedAt = -Infinity;

  async function look(): Promise<void> {
    const info = await call(() => memory([connection.key('memory')], []));
    if (typeof info === 'string') left = roomIn(info);
  }

  return {
    take(characters) {
      const now = performance.now();
      if (now - lookedAt >= LOOK_MS) {
        lookedAt = now;
        void look();
      }
      if (left < characters) return false;
      left -= characters;
      return true;
    },
  };
}

/** The bytes that the cache may still write; infinite if there is no limit, or if Redis evicts. `info`: the section memory. */
export function roomIn(info: string): number {
  const { usedBytes, maxBytes, policy } = memoryIn(info);
  return maxBytes === 0 || policy !== 'noeviction' ? Infinity : SHARE * maxBytes - usedBytes;
}

/**
 * The room for cached records in a Redis that evicts nothing. A full one refuses invalidations and idempotency keys too, so the cache leaves
 * a part of it to them.
 */
import { memoryIn } from './info.ts';
import type { RedisCall } from './channel.ts';
import type { RedisConnection } from './connection.ts';
import { defineScript } from '../scripts/script.ts';

/** How soon a process looks again at a Redis without room. */
const LOOK_MS = 500;
/** The part of the memory that the cache may fill. */
const SHARE = 0.75;
/** The part of the room that one process fills before it looks again: others fill it meanwhile, and a character has up to three bytes. */
const BETWEEN_LOOKS = 1 / 16;
/** Characters that a process may write before its first look. */
const BEFORE_LOOKS = 100_000;

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
  /** Characters until the next look. */
  let left = BEFORE_LOOKS;
  let isKnown = false;
  let lookAfter = -Infinity;

  async function look(): Promise<void> {
    const info = await call(() => memory([connection.key('memory')], []));
    if (typeof info !== 'string') return;
    isKnown = true;
    left = BETWEEN_LOOKS * roomIn(info);
    if (left > 0) lookAfter = performance.now();
  }

  return {
    take(characters) {
      const now = performance.now();
      if ((left < characters || !isKnown) && now >= lookAfter) {
        lookAfter = now + LOOK_MS;
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

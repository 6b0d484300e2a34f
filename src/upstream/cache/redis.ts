/**
 * What replicas share: kept records and the windows of the rate. Redis is never waited for long and never needed: while it is away, records
 * are read from upstream and rates are counted in this process.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import type * as IORedis from 'ioredis';
import type { Redis } from 'ioredis';
import { type Cache, type CacheEntry, type CacheLookup, type CacheKey } from './memory.ts';
import { afterPendingReads } from '../../lib/deadlines.ts';
import {
  type OnAvailabilityChange,
  type AvailabilityMonitor,
  createAvailabilityMonitor,
  errorCodeOf,
} from '../availability.ts';
import { type SharedSlidingWindows, WINDOW_MS } from '../limits/sliding-window.ts';

export interface RedisState {
  cache: Cache;
  windows: SharedSlidingWindows;
  close: () => Promise<void>;
}

/** Longest that a request waits for Redis, in ms. */
export interface RedisTimeouts {
  /** To tell of a record. */
  record: number;
  /** Longer for the rate, because replicas that count separately may cause a 429; and for clearings, because others would serve old entries. */
  window: number;
}
export const DEFAULT_TIMEOUTS: RedisTimeouts = { record: 50, window: 200 };
/** How long it is left alone after it made somebody wait in vain. */
const REST_MS = 1_000;
const RETRY_MS = 500;
/** Nothing is kept longer; what was cleared is remembered a little longer still. */
const LIFE_MS = 7 * 86_400_000;
const CLEARED_LIFE_MS = LIFE_MS + 60_000;
const OWED_MAX = 10_000;
const KEY_MAX = 200;
/** Clears everything; owed when too much else is. */
const EVERYTHING = '*';

/** `namespace`: what the kept is of; another's is never seen. */
export function connectRedis(
  url: string,
  namespace: string,
  onOutage?: OnAvailabilityChange,
  waits = DEFAULT_TIMEOUTS,
): RedisState {
  const keyPrefix = `catalog:${createHash('sha256').update(namespace).digest('base64url').slice(0, 8)}:`;
  // Most facades run without it.
  const { Redis: Client } = createRequire(import.meta.url)('ioredis') as typeof IORedis;
  const redis = new Client(url, {
    keyPrefix,
    enableOfflineQueue: false,
    enableAutoPipelining: true,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2_000,
    retryStrategy: (times) => Math.min(RETRY_MS, 50 * times),
  });
  const presence = createAvailabilityMonitor((reason) => onOutage?.('redis', reason));
  let closing = false;
  // Without a listener an outage would end the process; who asks notices by getting nothing.
  redis.on('error', (error) => presence.onFailure(errorCodeOf(error), true));
  redis.on('close', () => {
    if (!closing) presence.onFailure('closed', true);
  });
  redis.on('ready', () => presence.onSuccess());

  return {
    cache: createRedisCache(
      redis,
      withTimeout(redis, presence, waits.record),
      withTimeout(redis, presence, waits.window),
    ),
    windows: createRedisWindows(redis, withTimeout(redis, presence, waits.window)),
    close: async () => {
      closing = true;
      const ended = redis.quit().catch(() => undefined);
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, waits.window).unref())]);
      redis.disconnect();
    },
  };
}

/** What Redis says, in time; undefined where it does not. Late once, it is left alone for a while. */
type InTime = <T>(ask: () => Promise<T>) => Promise<T | undefined>;

function withTimeout(redis: Redis, presence: AvailabilityMonitor, waitMs: number): InTime {
  let restsUntil = 0;

  return async (ask) => {
    if (redis.status !== 'ready' || performance.now() < restsUntil) return undefined;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(afterPendingReads, waitMs, () => resolve(null));
    });
    const told = ask().then(
      (value) => ({ value }),
      () => ({ value: undefined }),
    );
    const came = await Promise.race([told, late]);
    clearTimeout(timer);
    if (came === null) {
      restsUntil = performance.now() + REST_MS;
      presence.onFailure('no answer in time');
    } else if (came.value !== undefined) presence.onSuccess();
    return came?.value;
  };
}

/**
 * Each clearing of a scope, group or partition writes a new random word under its key. An entry names the words that it was read under and
 * is void under any other. So a clearing is one write, reaches all replicas, and also voids responses still in flight.
 */
function createRedisCache(redis: Redis, inTime: InTime, clearedInTime: InTime): Cache {
  /** Clearings that Redis has not been told of: nothing is read from it before it has. */
  const owed = new Set<string>();
  let retry: NodeJS.Timeout | undefined;

  async function settle(): Promise<boolean> {
    if (owed.size === 0) return true;
    const names = [...owed];
    const told = await clearedInTime(() =>
      Promise.all(names.map((name) => redis.set(clearedKey(name), randomUUID().slice(0, 8), 'PX', CLEARED_LIFE_MS))),
    );
    if (!told) {
      tryLater();
      return false;
    }
    for (const name of names) owed.delete(name);
    return true;
  }

  /** Retries even without further requests: other replicas serve the old entries until Redis has the clearing. */
  function tryLater(): void {
    if (retry || redis.status === 'end') return;
    retry = setTimeout(() => {
      retry = undefined;
      void settle();
    }, RETRY_MS).unref();
  }

  const wordKeys = ({ tag, groupTag, partition }: CacheKey) => [EVERYTHING, tag, groupTag, partition].map(clearedKey);
  const markOf = (words: readonly (string | null)[]) => words.map((word) => word ?? '').join('.');

  async function look(key: CacheKey): Promise<CacheLookup> {
    const none: CacheLookup = { entry: undefined, version: undefined };
    if (!(await settle())) return none;
    const came = await inTime(() => redis.mget(entryKey(key), ...wordKeys(key)));
    if (!came) return none;
    const [text, ...words] = came;
    const mark = markOf(words);
    return { entry: text ? decodeEntry(text, mark) : undefined, version: mark };
  }

  return {
    get: look,
    set(key, mark, make) {
      void (async () => {
        const found = await look(key);
        // What is read now may be newer than the answer: its own mark counts, where it has one.
        const under = mark ?? found.version;
        if (found.version === undefined || under !== found.version) return;
        const entry = make(found.entry);
        const life = Math.min(LIFE_MS, Math.round(entry.keptUntil - Date.now()));
        if (life <= 0) return;
        await inTime(() => redis.set(entryKey(key), encodeEntry(entry, found.version!), 'PX', life));
      })().catch(() => undefined); // the cache is optional
    },
    delete(key) {
      void inTime(() => redis.del(entryKey(key)));
      return true;
    },
    async invalidate(name) {
      if (owed.size >= OWED_MAX) {
        owed.clear();
        owed.add(EVERYTHING);
      } else if (!owed.has(EVERYTHING)) owed.add(name);
      await settle();
    },
  };
}

const clearedKey = (name: string): string => `cleared:${short(name)}`;
const entryKey = (key: CacheKey): string => `kept:${short(key.text)}`;
/** A search text may be long. */
const short = (key: string): string =>
  key.length <= KEY_MAX ? key : createHash('sha256').update(key).digest('base64url');

interface StoredEntry {
  mark: string;
  since: number;
  freshUntil: number;
  keptUntil: number;
  bytes: number;
  value: object;
  /** Names known to be absent, which JSON has no word for. */
  none?: string[];
}

function encodeEntry({ value, bytes, since, freshUntil, keptUntil }: CacheEntry, mark: string | number): string {
  const none = Object.keys(value).filter((name) => (value as Record<string, unknown>)[name] === undefined);
  return JSON.stringify({ mark: String(mark), since, freshUntil, keptUntil, bytes, value, none } satisfies StoredEntry);
}

function decodeEntry(text: string, mark: string): CacheEntry | undefined {
  try {
    const { mark: under, none = [], ...entry } = JSON.parse(text) as StoredEntry;
    if (under !== mark || entry.keptUntil <= Date.now()) return undefined;
    for (const name of none) (entry.value as Record<string, unknown>)[name] = undefined;
    return entry;
  } catch {
    return undefined; // somebody else's, or an older version's
  }
}

const NOW = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;
/** ARGV[1]: the longest that a slot is held, in ms. A later end means that the clock of Redis was set back since. */
const TIDIED = `${NOW}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZREMRANGEBYSCORE', KEYS[1], string.format('(%.0f', now + ARGV[1]), '+inf')
`;
/** KEYS: the window. ARGV: hold in ms, slots, slots per address, address, slot. */
const TAKE = `${TIDIED}
local slots = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
local mine, mineBack = 0, nil
local owner = ARGV[4] .. ' '
for i = 1, #slots, 2 do
  if string.sub(slots[i], 1, #owner) == owner then
    mine = mine + 1
    mineBack = mineBack or slots[i + 1]
  end
end
if #slots / 2 >= tonumber(ARGV[2]) then return math.max(1, slots[2] - now) end
if mine >= tonumber(ARGV[3]) then return math.max(1, mineBack - now) end
redis.call('ZADD', KEYS[1], now + ARGV[1], owner .. ARGV[5])
redis.call('PEXPIRE', KEYS[1], ARGV[1] + 60000)
return 0`;
/** ARGV: the slot with its address, milliseconds until it comes back. */
const ANSWERED = `${NOW}
redis.call('ZADD', KEYS[1], 'XX', now + ARGV[2], ARGV[1])
return 0`;
/** ARGV: hold in ms. */
const STATE = `${TIDIED}
local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
if #first == 0 then return {0, 0} end
return {redis.call('ZCARD', KEYS[1]), math.max(1, first[2] - now)}`;

/** Sorted sets of slots by the time they come back, on the clock of Redis. */
function createRedisWindows(redis: Redis, inTime: InTime): SharedSlidingWindows {
  const windowKey = (of: string) => `window:${of}`;
  const member = (address: string, id: string) => `${address} ${id}`;
  return {
    async take({ window, id, address }, { slots, perAddress, holdMs }) {
      const wait = await inTime(() => redis.eval(TAKE, 1, windowKey(window), holdMs, slots, perAddress, address, id));
      return typeof wait === 'number' ? wait : undefined;
    },
    settle({ window, id, address }) {
      void inTime(() => redis.eval(ANSWERED, 1, windowKey(window), member(address, id), WINDOW_MS));
    },
    release({ window, id, address }) {
      void inTime(() => redis.zrem(windowKey(window), member(address, id)));
    },
    async state(of, holdMs) {
      const state = await inTime(() => redis.eval(STATE, 1, windowKey(of), holdMs));
      if (!Array.isArray(state)) return undefined;
      const [taken, backInMs] = state as [number, number];
      return { taken, backInMs: taken ? backInMs : undefined };
    },
  };
}

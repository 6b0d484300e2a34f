/**
 * Keys that replicas share. A run holds a lease, which it renews: after a crash the next request with the key takes over, and finds in the
 * journal what was being sent. Only a request with the token and the key can read what is kept.
 */
import { randomUUID } from 'node:crypto';
import type { CancellationToken } from '../../lib/cancellation.ts';
import type { RedisAccess } from '../../upstream/redis/shared-state.ts';
import { NOW, defineScript } from '../../upstream/redis/script.ts';
import { type KeyIdentity, hashOf } from './key.ts';
import { pauseUnlessCancelled } from './pause.ts';
import { seal, unseal } from './seal.ts';
import {
  type Claim,
  KEPT_MAX,
  KEYS_MAX,
  type Kept,
  type KeyStore,
  type ThingState,
  type Turn,
  freshState,
} from './store.ts';

/** How soon after its process died a run is over. */
const LEASE_MS = 3_000;
const RENEWED_MS = 1_000;
/** Between two looks at what another process holds. */
const LOOK_MS = 50;

/**
 * KEYS: key, lease, keys of the caller, whose token it is. ARGV: fingerprint, owner, lease in ms, life in ms, id, most keys. The set of the caller's keys also
 * tells a key that Redis evicted from a new one.
 */
const CLAIM = `${NOW}
local known = redis.call('HMGET', KEYS[1], 'fingerprint', 'kind', 'text')
if known[1] and known[1] ~= ARGV[1] then return {'reused'} end
if known[2] == 'response' then return {'replay', known[3]} end
if known[2] == 'mark' then return {'forgotten'} end
if redis.call('EXISTS', KEYS[2]) == 1 then return {'busy'} end
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now)
if not known[1] then
  if redis.call('ZSCORE', KEYS[3], ARGV[5]) then return {'forgotten'} end
  if redis.call('ZCARD', KEYS[3]) >= tonumber(ARGV[6]) then return {'full'} end
end
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
return {'run', known[3] or '', redis.call('GET', KEYS[4]) or ''}`;
/** KEYS: as above, thing in place of the last. ARGV: as above to the id, journal, state of the thing. */
const SAVE = `${NOW}
if redis.call('GET', KEYS[2]) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], 'fingerprint', ARGV[1], 'kind', 'journal', 'text', ARGV[6])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('ZADD', KEYS[3], now + ARGV[4], ARGV[5])
redis.call('PEXPIRE', KEYS[3], ARGV[4])
redis.call('SET', KEYS[4], ARGV[7], 'PX', ARGV[4])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return 1`;
/** KEYS: as of a claim. ARGV: as above to the id, kind, text, most responses, person or nothing. */
const END = `${NOW}
if redis.call('GET', KEYS[2]) ~= ARGV[2] then return 0 end
redis.call('DEL', KEYS[2])
if ARGV[9] ~= '' then redis.call('SET', KEYS[4], ARGV[9], 'PX', ARGV[4]) end
if ARGV[6] == 'nothing' then
  redis.call('DEL', KEYS[1])
  redis.call('ZREM', KEYS[3], ARGV[5])
  return 1
end
local kind, text = ARGV[6], ARGV[7]
if redis.call('ZCARD', KEYS[3]) > tonumber(ARGV[8]) then kind, text = 'mark', '' end
redis.call('HSET', KEYS[1], 'fingerprint', ARGV[1], 'kind', kind, 'text', text)
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('ZADD', KEYS[3], now + ARGV[4], ARGV[5])
redis.call('PEXPIRE', KEYS[3], ARGV[4])
return 1`;
/** KEYS: queue, ends of the leases of those in it, thing. ARGV: ticket, lease in ms. Returns whether it is the first, and the thing's state. */
const TURN = `${NOW}
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now)) do
  redis.call('ZREM', KEYS[1], gone)
  redis.call('ZREM', KEYS[2], gone)
end
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then
  local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
  redis.call('ZADD', KEYS[1], (last[2] or 0) + 1, ARGV[1])
end
redis.call('ZADD', KEYS[2], now + ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[1], 10 * ARGV[2])
redis.call('PEXPIRE', KEYS[2], 10 * ARGV[2])
return {redis.call('ZRANK', KEYS[1], ARGV[1]), redis.call('GET', KEYS[3]) or ''}`;
/** KEYS: as above. ARGV: ticket, state or nothing, life in ms. */
const LEAVE = `
if ARGV[2] ~= '' and redis.call('ZRANK', KEYS[1], ARGV[1]) == 0 then redis.call('SET', KEYS[3], ARGV[2], 'PX', ARGV[3]) end
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
return 1`;
const RENEW = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;

export function createRedisStore({ connection, call }: RedisAccess, ttlMs: number): KeyStore {
  const { key: named } = connection;
  const scripts = {
    claim: defineScript(connection, 'catalogClaimKey', CLAIM),
    save: defineScript(connection, 'catalogSaveKey', SAVE),
    end: defineScript(connection, 'catalogEndKey', END),
    renew: defineScript(connection, 'catalogRenewKey', RENEW),
  };
  const takeTurn = createTurns({ connection, call }, ttlMs);
  /** The runs of this process: what renews each, by its secret. */
  const held = new Map<string, { owner: string; renewal: NodeJS.Timeout }>();
  const idOf = (secret: string) => hashOf(`key ${secret}`);
  const leaseKey = (secret: string) => named(`key-run:${idOf(secret)}`);
  const keysOf = ({ secret, token }: KeyIdentity) => [
    named(`key:${idOf(secret)}`),
    leaseKey(secret),
    named(`keys:${hashOf(`caller ${token}`)}`),
  ];
  const personKey = ({ token }: KeyIdentity) => named(`key-person:${hashOf(`person ${token}`)}`);
  const valuesOf = ({ secret, fingerprint }: KeyIdentity, owner: string) => [
    fingerprint,
    owner,
    LEASE_MS,
    ttlMs,
    idOf(secret),
  ];

  function hold(secret: string, owner: string): void {
    const renew = () => void call(() => scripts.renew([leaseKey(secret)], [owner, LEASE_MS]));
    held.set(secret, { owner, renewal: setInterval(renew, RENEWED_MS).unref() });
  }

  return {
    async claim(key): Promise<Claim | undefined> {
      const owner = randomUUID();
      const drop = () => void call(() => connection.redis.del(leaseKey(key.secret)));
      const reply = (await call(
        () => scripts.claim([...keysOf(key), personKey(key)], [...valuesOf(key, owner), KEYS_MAX]),
        (late) => {
          if ((late as string[])[0] === 'run') drop();
        },
      )) as [Claim['kind'], string?, string?] | undefined;
      if (!reply) return undefined;
      const [kind, sealed = '', person = ''] = reply;
      const text = sealed === '' ? undefined : unseal(key.secret, sealed);
      if (kind === 'run') {
        hold(key.secret, owner);
        return { kind, journal: text, person: person === '' ? undefined : unseal(key.token, person) };
      }
      if (kind !== 'replay') return { kind };
      return text === undefined ? { kind: 'forgotten' } : { kind, response: text };
    },
    async save(key, journal, thing, state) {
      const owner = held.get(key.secret)?.owner;
      if (owner === undefined) return false;
      const values = [...valuesOf(key, owner), seal(key.secret, journal()), JSON.stringify(state)];
      return (await call(() => scripts.save([...keysOf(key), thingKey(named, thing)], values))) === 1;
    },
    async end(key, kept: Kept, person) {
      const run = held.get(key.secret);
      if (!run) return;
      clearInterval(run.renewal);
      held.delete(key.secret);
      const text = 'text' in kept ? seal(key.secret, kept.text) : '';
      const sealed = person === undefined ? '' : seal(key.token, person);
      const values = [...valuesOf(key, run.owner), kept.kind, text, KEPT_MAX, sealed];
      await call(() => scripts.end([...keysOf(key), personKey(key)], values));
    },
    changed: () => new Promise((resolve) => setTimeout(resolve, LOOK_MS)),
    takeTurn,
  };
}

const thingKey = (named: (name: string) => string, thing: string): string => named(`thing:${hashOf(thing)}`);

function createTurns({ connection, call }: RedisAccess, ttlMs: number) {
  const { key: named } = connection;
  const turn = defineScript(connection, 'catalogTakeTurn', TURN);
  const leave = defineScript(connection, 'catalogLeaveTurn', LEAVE);

  return async (thing: string, cancellation: CancellationToken): Promise<Turn | undefined> => {
    const ticket = randomUUID();
    const hash = hashOf(thing);
    const keys = [named(`turns:${hash}`), named(`turns-held:${hash}`), thingKey(named, thing)];
    const look = () => call(() => turn(keys, [ticket, LEASE_MS])) as Promise<[number, string] | undefined>;
    const end = (state: string) => void call(() => leave(keys, [ticket, state, ttlMs]));
    for (;;) {
      const found = await look();
      if (!found || cancellation.reason) {
        end('');
        return undefined;
      }
      const [before, known] = found;
      if (before === 0) {
        const renewal = setInterval(() => void look(), RENEWED_MS).unref();
        return {
          // One that an older version has written may lack a member.
          state: { ...freshState, ...(known !== '' && (JSON.parse(known) as Partial<ThingState>)) },
          leave(state) {
            clearInterval(renewal);
            end(JSON.stringify(state));
          },
        };
      }
      await pauseUnlessCancelled(LOOK_MS, cancellation);
    }
  };
}

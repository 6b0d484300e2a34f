/**
 * The record cache: upstream records, not GraphQL answers, so that two different questions share one record.
 *
 * - public     the same for everybody, once `current_user_collection` is struck
 * - anonymous  as long as no token was sent
 * - tier       per credential
 * Whatever belongs to a viewer is never here.
 */
import { LRUCache } from 'lru-cache';
import type { Endpoint, Share } from '../contract/endpoint.ts';

type Record_ = Record<string, unknown>;

/** Seconds that a record may be used again, where upstream does not say. */
const timeToLive: Record<Share, number> = { public: 600, tier: 600, anonymous: 60, viewer: 0 };
/** What is kept beyond that, to stand in while upstream fails. */
const STALE_SECONDS = 3600;
const VIEWERS_OWN = 'current_user_collection';

export interface Kept {
  record: Record_;
  isFresh: boolean;
  ageSeconds: number;
}
export interface KeptAnswer {
  answer: unknown;
  isFresh: boolean;
  ageSeconds: number;
}

/** The cache as one operation's credential sees it. */
export interface Records {
  get: (endpoint: Endpoint, kind: string, key: string) => Promise<Kept | undefined> | Kept | undefined;
  /** `names`: what is known of it, also where it is absent. `maxAge`: seconds that upstream allows; undefined where it does not say. */
  put: (endpoint: Endpoint, kind: string, key: string, record: Record_, names: readonly string[], maxAge: number | undefined) => void;
  forget: (endpoint: Endpoint, kind: string, key: string) => void;
  getAnswer: (endpoint: Endpoint, request: string) => Promise<KeptAnswer | undefined> | KeptAnswer | undefined;
  putAnswer: (endpoint: Endpoint, request: string, answer: unknown, bytes: number, maxAge: number | undefined) => void;
}

/** Who asks, as far as the cache is concerned. */
export interface Partition {
  /** Stands for the credential that film calls are made with; never the token itself. */
  credential: string;
  hasToken: boolean;
}

export interface RecordStore {
  seenBy: (partition: Partition) => Records;
  /** Drops everything under a record, or a list path, whoever asked. */
  clear: (prefix: string) => void;
}

export function createRecords({ ttlSeconds, maxBytes = 64_000_000 }: { ttlSeconds?: number | undefined; maxBytes?: number }): RecordStore {
  const kept = new LRUCache<string, { value: Record_; since: number; ttl: number }>({
    maxSize: maxBytes,
    sizeCalculation: ({ value }, key) => key.length + weigh(value),
    ttl: STALE_SECONDS * 1000,
  });
  const ttlOf = (share: Share, maxAge?: number) => ttlSeconds ?? maxAge ?? timeToLive[share];

  return {
    seenBy({ credential, hasToken }) {
      const place = ({ share }: Endpoint): string | null => {
        if (ttlOf(share) === 0 || share === 'viewer' || (share === 'anonymous' && hasToken)) return null;
        return share === 'tier' ? `tier ${credential}` : share;
      };
      const read = (at: string | null) => {
        const entry = at === null ? undefined : kept.get(at);
        if (!entry) return undefined;
        const ageSeconds = (Date.now() - entry.since) / 1000;
        return { value: entry.value, isFresh: ageSeconds < entry.ttl, ageSeconds };
      };
      return {
        get(endpoint, kind, key) {
          const partition = place(endpoint);
          const found = read(partition && `${partition} ${kind}:${key}`);
          return found && { record: found.value, isFresh: found.isFresh, ageSeconds: Math.round(found.ageSeconds) };
        },
        put(endpoint, kind, key, record, names, maxAge) {
          const partition = place(endpoint);
          const ttl = ttlOf(endpoint.share, maxAge);
          if (partition === null || ttl === 0) return;
          const at = `${partition} ${kind}:${key}`;
          const before = kept.get(at);
          const isFresh = before && Date.now() - before.since < before.ttl * 1000;
          const value: Record_ = isFresh ? { ...before.value } : {};
          for (const name of names) value[name] = undefined; // asked for and not there: known to have none
          Object.assign(value, record);
          delete value[VIEWERS_OWN];
          // A merged record is as old as its oldest name.
          kept.set(at, { value, since: isFresh ? before.since : Date.now(), ttl });
        },
        forget(endpoint, kind, key) {
          const partition = place(endpoint);
          if (partition !== null) kept.delete(`${partition} ${kind}:${key}`);
        },
        getAnswer(endpoint, request) {
          const partition = place(endpoint);
          const found = read(partition && `${partition} ${request}`);
          return found && { answer: found.value.answer, isFresh: found.isFresh, ageSeconds: Math.round(found.ageSeconds) };
        },
        putAnswer(endpoint, request, answer, bytes, maxAge) {
          const partition = place(endpoint);
          const ttl = ttlOf(endpoint.share, maxAge);
          // A person's own answer may speak of the person.
          if (partition === null || ttl === 0 || (endpoint.share === 'public' && hasToken)) return;
          kept.set(`${partition} ${request}`, { value: { answer, bytes }, since: Date.now(), ttl });
        },
      };
    },
    clear(prefix) {
      for (const key of kept.keys()) if (key.slice(key.lastIndexOf(' ') + 1).startsWith(prefix)) kept.delete(key);
    },
  };
}

/** About how many bytes a record takes. */
function weigh(value: Record_): number {
  return typeof value.bytes === 'number' ? value.bytes : JSON.stringify(value).length;
}

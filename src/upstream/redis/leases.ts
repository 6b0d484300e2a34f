/**
 * The leases of this process. Who has the lease of an entry asks upstream for all replicas; the others wait for the entry. A lease ends when
 * the entry is stored, when nobody of this process needs it any more, or soon after the process died.
 */
import type { CacheKey } from '../cache/memory.ts';
import { LEASE_MS } from './keys.ts';
import type { Updates } from './updates.ts';

interface Lease {
  key: CacheKey;
  readers: Set<object>;
}

export type Leases = ReturnType<typeof createLeases>;

/** `owner`: unique over all processes. */
export function createLeases(owner: string, { release: end, renew }: Pick<Updates, 'release' | 'renew'>) {
  const held = new Map<string, Lease>();
  let timer: NodeJS.Timeout | undefined;

  function renewAll(): void {
    for (const { key } of held.values()) renew(key);
    if (held.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }
  function release(text: string, reader: object): void {
    const lease = held.get(text);
    if (!lease?.readers.delete(reader) || lease.readers.size > 0) return;
    held.delete(text);
    end(lease.key);
  }
  return {
    owner,
    /** Ends a granted lease that no reader holds. */
    end(key: CacheKey): void {
      if (!held.has(key.text)) end(key);
    },
    has: (key: CacheKey): boolean => held.has(key.text),
    size: (): number => held.size,
    /** The lease was granted for this reader too. Returns what ends it. */
    hold(key: CacheKey, reader: object): () => void {
      let lease = held.get(key.text);
      if (!lease) held.set(key.text, (lease = { key, readers: new Set() }));
      lease.readers.add(reader);
      timer ??= setInterval(renewAll, LEASE_MS / 2).unref();
      return () => release(key.text, reader);
    },
    /** The entry was stored, which ends the lease in Redis. */
    stored: (key: CacheKey): void => void held.delete(key.text),
  };
}

/** The keys of one process. */
import {
  type Account,
  type KeyStore,
  type Row,
  RESPONSES_SHARE,
  STORE_LIMITS,
  accountsOf,
  isSameSender,
} from './key-store.ts';

interface Stored {
  readonly row: Row;
  /** In which it counts. */
  readonly account: Account;
  /** The request that runs it. */
  readonly holder: string | undefined;
  readonly savedAt: number;
  readonly until: number;
}

const NOTHING = { rows: 0, text: 0 };

export function createMemoryStore(ttlMs: number, limits = STORE_LIMITS): KeyStore {
  /** The row that was written first is over first. */
  const rows = new Map<string, Stored>();
  /** What the rows of each account sum up to. */
  const sums = new Map<string, typeof NOTHING>();

  /** Whether so many more rows, or so much more text, has room. */
  function hasRoom(account: Account, rows: number, text: number, share = 1): boolean {
    for (const most of accountsOf(account, limits)) {
      const sum = sums.get(most.name) ?? NOTHING;
      if (sum.rows + rows > most.rows || (text > 0 && sum.text + text > share * most.text)) return false;
    }
    return true;
  }

  function count(account: Account, rows: 1 | -1, text: number): void {
    for (const { name } of accountsOf(account, limits)) {
      const sum = sums.get(name) ?? NOTHING;
      if (sum.rows + rows === 0) sums.delete(name);
      else sums.set(name, { rows: sum.rows + rows, text: sum.text + text });
    }
  }

  function remove(name: string): void {
    const stored = rows.get(name);
    if (!stored) return;
    rows.delete(name);
    count(stored.account, -1, -stored.row.text.length);
  }

  function put(name: string, account: Account, row: Row, holder: string | undefined): number {
    remove(name);
    const savedAt = performance.now();
    rows.set(name, { row, account, holder, savedAt, until: savedAt + ttlMs });
    count(account, 1, row.text.length);
    return savedAt;
  }

  function sweep(): void {
    const now = performance.now();
    for (const [name, { until, holder }] of rows) {
      if (until > now) return;
      if (holder === undefined) remove(name);
    }
  }

  return {
    async claim({ name, holder, account }, sender) {
      sweep();
      const stored = rows.get(name);
      if (!stored) {
        if (!hasRoom(account, 1, 0)) return { kind: 'full' };
        put(name, account, { ...sender, state: 'claimed', text: '' }, holder);
        return { kind: 'locked' };
      }
      const { row, savedAt } = stored;
      const found = { ...row, savedAt, isUncertain: false };
      if (row.fingerprint !== sender.fingerprint || !isSameSender(row, sender) || row.state === 'done')
        return { kind: 'found', found };
      if (stored.holder !== undefined) return { kind: 'held' };
      rows.set(name, { ...stored, holder });
      return { kind: 'locked', found };
    },
    async save({ name, holder, account }, row) {
      const stored = rows.get(name);
      if (stored?.holder !== holder) return 'lost';
      if (!hasRoom(account, 0, row.text.length - stored.row.text.length)) return 'full';
      return put(name, account, row, holder);
    },
    async end({ name, holder, account }, row) {
      const stored = rows.get(name);
      if (stored?.holder !== holder) return;
      if (!row) return remove(name);
      const more = row.text.length - stored.row.text.length;
      const hasIt = row.state !== 'done' || hasRoom(account, 0, more, RESPONSES_SHARE);
      put(name, account, hasIt ? row : { ...row, text: '' }, undefined);
    },
  };
}

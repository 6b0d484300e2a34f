/** The keys of one process. */
import {
  type Account,
  type KeyStore,
  type Row,
  type StoreLimits,
  RESPONSES_SHARE,
  STORE_LIMITS,
  accountsOf,
  isSameSender,
} from './key-store.ts';

interface Stored {
  readonly row: Row;
  readonly account: Account;
  /** The request that runs it. */
  readonly holder: string | undefined;
  readonly savedAt: number;
  readonly until: number;
}

/** What the rows of each account sum up to. */
function createSums(limits: StoreLimits) {
  const sums = new Map<string, { rows: number; text: number }>();
  const sumOf = (name: string) => sums.get(name) ?? { rows: 0, text: 0 };
  return {
    add: ({ account, row }: Pick<Stored, 'account' | 'row'>, sign: 1 | -1): void => {
      for (const { name } of accountsOf(account, limits)) {
        const { rows, text } = sumOf(name);
        if (rows + sign > 0) sums.set(name, { rows: rows + sign, text: text + sign * row.text.length });
        else sums.delete(name);
      }
    },
    /** Whether so many more rows, or so much more text, has room. */
    hasRoom: (account: Account, more: { rows: number; text: number }, share = 1): boolean =>
      accountsOf(account, limits).every(({ name, rows, text }) => {
        const sum = sumOf(name);
        return sum.rows + more.rows <= rows && (more.text <= 0 || sum.text + more.text <= share * text);
      }),
  };
}

export function createMemoryStore(ttlMs: number, limits = STORE_LIMITS): KeyStore {
  /** The row that was written first is over first. */
  const rows = new Map<string, Stored>();
  const { add, hasRoom } = createSums(limits);

  function remove(name: string): void {
    const stored = rows.get(name);
    if (!stored) return;
    rows.delete(name);
    add(stored, -1);
  }

  function put(name: string, account: Account, row: Row, holder: string | undefined): number {
    remove(name);
    const savedAt = performance.now();
    const stored = { row, account, holder, savedAt, until: savedAt + ttlMs };
    rows.set(name, stored);
    add(stored, 1);
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
        if (!hasRoom(account, { rows: 1, text: 0 })) return { kind: 'full' };
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
      const more = { rows: 0, text: row.text.length - stored.row.text.length };
      return hasRoom(account, more) ? put(name, account, row, holder) : 'full';
    },
    async end({ name, holder, account }, row) {
      const stored = rows.get(name);
      if (stored?.holder !== holder) return 'ended';
      if (!row) {
        remove(name);
        return 'ended';
      }
      const more = { rows: 0, text: row.text.length - stored.row.text.length };
      const kept = row.state === 'done' && !hasRoom(account, more, RESPONSES_SHARE) ? { ...row, text: '' } : row;
      put(name, account, kept, undefined);
      return 'ended';
    },
    now: async () => performance.now(),
  };
}

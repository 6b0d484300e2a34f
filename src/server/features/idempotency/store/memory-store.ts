/** The keys of one process. */
import {
  type Account,
  type KeyStore,
  type Limited,
  type Row,
  RESPONSES_SHARE,
  STORE_LIMITS,
  accountsOf,
  isSameSender,
} from './key-store.ts';

interface Stored {
  readonly row: Row;
  /** In which it counts. */
  readonly sums: readonly Sum[];
  /** The request that runs it. */
  readonly holder: string | undefined;
  readonly savedAt: number;
  readonly until: number;
}

/** What the rows of an account sum up to, and may sum up to. */
interface Sum {
  readonly most: Limited;
  rows: number;
  text: number;
}

/** Whether so many more rows, or so much more text, has room. */
const hasRoom = (sums: readonly Sum[], rows: number, text: number, share = 1): boolean =>
  sums.every((sum) => sum.rows + rows <= sum.most.rows && (text <= 0 || sum.text + text <= share * sum.most.text));

export function createMemoryStore(ttlMs: number, limits = STORE_LIMITS): KeyStore {
  /** The row that was written first is over first. */
  const rows = new Map<string, Stored>();
  /** The sums of the accounts that have rows, by name. */
  const sums = new Map<string, Sum>();
  const sumsOf = (account: Account): readonly Sum[] =>
    accountsOf(account, limits).map((most) => sums.get(most.name) ?? { most, rows: 0, text: 0 });

  function count(of: readonly Sum[], rows: number, text: number): void {
    for (const sum of of) {
      sum.rows += rows;
      sum.text += text;
      if (sum.rows > 0) sums.set(sum.most.name, sum);
      else sums.delete(sum.most.name);
    }
  }

  function remove(name: string): void {
    const stored = rows.get(name);
    if (!stored) return;
    rows.delete(name);
    count(stored.sums, -1, -stored.row.text.length);
  }

  function put(name: string, account: Account, row: Row, holder: string | undefined): number {
    remove(name);
    const savedAt = performance.now();
    const of = sumsOf(account);
    rows.set(name, { row, sums: of, holder, savedAt, until: savedAt + ttlMs });
    count(of, 1, row.text.length);
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
        if (!hasRoom(sumsOf(account), 1, 0)) return { kind: 'full' };
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
      if (!hasRoom(sumsOf(account), 0, row.text.length - stored.row.text.length)) return 'full';
      return put(name, account, row, holder);
    },
    async end({ name, holder, account }, row) {
      const stored = rows.get(name);
      if (stored?.holder !== holder) return;
      if (!row) return remove(name);
      const more = row.text.length - stored.row.text.length;
      const hasIt = row.state !== 'done' || hasRoom(sumsOf(account), 0, more, RESPONSES_SHARE);
      put(name, account, hasIt ? row : { ...row, text: '' }, undefined);
    },
    now: async () => performance.now(),
  };
}

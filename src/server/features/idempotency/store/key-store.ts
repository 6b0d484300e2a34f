/** Where keys are kept. A key is a row, and a lock for the one request that runs it. */

/** Who sent a request: hashes under its key, which say nothing without the key. */
interface KeySender {
  readonly token: string;
  /** Empty while the service has not named the person. */
  readonly person: string;
}

/** What is kept of a key. */
export interface Row extends KeySender {
  /** A hash under the key, equal for requests with the same document, variables and files. */
  readonly fingerprint: string;
  /**
   * `claimed`: a request runs, or has died before it sent anything. `sending`: a write may have been carried out. `done`: every write has
   * its outcome.
   */
  readonly state: 'claimed' | 'sending' | 'done';
  /** Encrypted: the journal of `sending`, the response of `done`. Empty if it was too large to be kept. */
  readonly text: string;
}

/** Who a row counts for. */
export interface Account {
  readonly name: string;
  /** The service has not accepted the token yet: all such tokens share a part of the rows. */
  readonly isNew: boolean;
}

/** A row as it was found. */
export interface FoundRow extends Row {
  /** When it was last written, by the clock of the store. */
  readonly savedAt: number;
  /** The store has been restarted, restored or failed over since: later changes of the row may be lost. */
  readonly isUncertain: boolean;
}

export interface Claim {
  /**
   * `locked`: the lock is the claimant's. `found`: the row is of another request or of another sender, or it is done, and nothing was
   * changed. `held`: another request runs it. `full`: no further row may be kept.
   */
  readonly kind: 'locked' | 'found' | 'held' | 'full';
  /** What an earlier request has left. */
  readonly found?: FoundRow;
}

/** Names a lock: the key, and who holds it. */
export interface Held {
  readonly name: string;
  readonly holder: string;
  readonly account: Account;
}

/** Replies are undefined if the store cannot be reached. */
export interface KeyStore {
  /**
   * Takes the lock of a key. Of a key with a row, only the same request of the same token or person gets it. A row of which certainly
   * nothing was sent is none.
   */
  claim: (held: Held, row: Pick<Row, 'fingerprint' | 'token' | 'person'>) => Promise<Claim | undefined>;
  /** Writes the row and renews the lock. Returns the time; `lost`: another request has the lock; `full`: it has no room. */
  save: (held: Held, row: Row) => Promise<number | 'lost' | 'full' | undefined>;
  /**
   * Gives the lock back; without a row the key is free. Nothing changes if another request has the lock. A store that cannot be reached
   * does it later, and a save that comes after it changes nothing.
   */
  end: (held: Held, row: Row | undefined) => Promise<void>;
}

export interface StoreLimits {
  /** Rows of one token, and of all. */
  readonly rowsOfOne: number;
  readonly rows: number;
  /** Characters of the texts in them. */
  readonly textOfOne: number;
  readonly text: number;
}

export const STORE_LIMITS: StoreLimits = { rowsOfOne: 2_000, rows: 200_000, textOfOne: 8_000_000, text: 64_000_000 };
/** Responses leave room for the journals of writes that are still to be sent. */
export const RESPONSES_SHARE = 0.75;
/** Tokens that the service has not accepted share so much of the rows and texts. */
const NEW_SHARE = 0.1;
/** How soon after its holder died a lock ends, and how often it is renewed. */
export const LOCK_MS = 3_000;
export const RENEWED_MS = 1_000;
/** Characters of a journal or a response: what is longer is not kept. */
export const TEXT_MAX = 256_000;

/** The account in which tokens that are not accepted count together. */
export const NEW_ACCOUNT = 'new';

/** The accounts that a row counts in, each with its limits: the one of its token, that of all, and that of all new tokens. */
export function accountsOf({ name, isNew }: Account, limits: StoreLimits) {
  const all = { name: 'all', rows: limits.rows, text: limits.text };
  const own = { name, rows: limits.rowsOfOne, text: limits.textOfOne };
  return isNew
    ? [own, all, { name: NEW_ACCOUNT, rows: NEW_SHARE * limits.rows, text: NEW_SHARE * limits.text }]
    : [own, all];
}

/** The token is the same, or both are known to be of one person. */
export const isSameSender = (row: KeySender, sender: KeySender): boolean =>
  row.token === sender.token || (row.person !== '' && row.person === sender.person);

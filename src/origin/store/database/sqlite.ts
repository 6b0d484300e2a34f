import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { UserError } from '../../../lib/user-error.ts';

/** The part of the API of `node:sqlite` that the store uses. */
export interface SqliteDatabase {
  readonly isTransaction: boolean;
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  close(): void;
}

/** Without `run`, which fails after a write to a full-text table whose row id is no safe integer. */
export interface SqliteStatement {
  all(...parameters: unknown[]): unknown[];
  get(...parameters: unknown[]): unknown;
}

interface SqliteModule {
  DatabaseSync: new (file: string, options?: { readOnly?: boolean }) => SqliteDatabase;
}

/** COMMIT failed in a way that leaves open whether the transaction will be found after a restart. */
export class CommitError extends Error {}

const PACKAGE = '@photostructure/sqlite';

/** Releases before it can damage a WAL database when two connections write and checkpoint at the same moment. */
const [MIN_MAJOR, MIN_MINOR] = [3, 53];
/** Older releases of Node warn on standard error that their SQLite is an experiment. */
const MIN_NODE = 24;

export function openSqlite(file: string, options: { readOnly?: boolean } = {}): SqliteDatabase {
  const { DatabaseSync } = hasBuiltIn(process.versions) ? builtIn() : fromPackage();
  return new DatabaseSync(file, options);
}

/** Whether this release of Node brings an SQLite that the store can use. */
export function hasBuiltIn({ node, sqlite }: NodeJS.ProcessVersions): boolean {
  const [major = 0, minor = 0] = (sqlite ?? '').split('.').map(Number);
  return parseInt(node) >= MIN_NODE && (major > MIN_MAJOR || (major === MIN_MAJOR && minor >= MIN_MINOR));
}

// By name at run time: an import would fail on Node 20, which does not know the module.
const builtIn = () => process.getBuiltinModule('node:sqlite') as unknown as SqliteModule;

function fromPackage(): SqliteModule {
  try {
    return createRequire(import.meta.url)(PACKAGE) as SqliteModule;
  } catch (error) {
    throw new UserError(
      `The origin needs SQLite 3.53, which Node ${process.versions.node} does not bring: install ${PACKAGE} 1.x, ` +
        'run Node 24.16 or newer, or name another service with BASE_URL and EVENT_BASE_URL.',
      { cause: error },
    );
  }
}

/** Runs `work` in a transaction, which is not nested. Whatever it throws but CommitError, nothing was changed. */
export function inTransaction<T>(db: SqliteDatabase, work: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  return finish(db, work);
}

/** How often a transaction is begun again while another program writes. */
const RETRY_MS = 10;

/** Runs `work` in a transaction, without blocking the thread while another program writes, for at most `waitMs`. Needs a `busy_timeout` of 0. */
export async function inTransactionWithin<T>(db: SqliteDatabase, waitMs: number, work: () => T): Promise<T> {
  const until = performance.now() + waitMs;
  for (;;) {
    try {
      db.exec('BEGIN IMMEDIATE');
      break;
    } catch (error) {
      if (resultCode(error) !== BUSY || performance.now() > until) throw error;
    }
    await sleep(RETRY_MS);
  }
  return finish(db, work);
}

function finish<T>(db: SqliteDatabase, work: () => T): T {
  let result: T;
  try {
    result = work();
  } catch (error) {
    rollBack(db);
    throw error;
  }
  try {
    db.exec('COMMIT');
    return result;
  } catch (error) {
    rollBack(db);
    if (isNotCommitted(error)) throw error;
    throw new CommitError('the transaction may or may not be stored', { cause: error });
  }
}

/** SQLite itself rolls back after some errors, such as a full disk. */
function rollBack(db: SqliteDatabase): void {
  if (db.isTransaction) db.exec('ROLLBACK');
}

const BUSY = 5;
const FULL = 13;
/** A violated constraint that is checked at the end. */
const CONSTRAINT = 19;
/** The frame that marks a transaction as committed is the last one written. */
const IOERR_WRITE = 778;
const NOT_COMMITTED: readonly (number | undefined)[] = [BUSY, FULL, CONSTRAINT];

const isNotCommitted = (error: unknown): boolean =>
  NOT_COMMITTED.includes(resultCode(error)) || (error as { errcode?: number }).errcode === IOERR_WRITE;

/** The primary result code, which is the low byte of an extended one. */
function resultCode(error: unknown): number | undefined {
  const { errcode } = error as { errcode?: number };
  return errcode === undefined ? undefined : errcode & 0xff;
}

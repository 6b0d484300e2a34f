import { createRequire } from 'node:module';

/** The part of the API of `node:sqlite` that the store uses. */
export interface SqliteDatabase {
  readonly isTransaction: boolean;
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  close(): void;
}

export interface SqliteStatement {
  all(...parameters: unknown[]): unknown[];
  get(...parameters: unknown[]): unknown;
  run(...parameters: unknown[]): { changes: number | bigint };
  setReadBigInts(enabled: boolean): void;
}

interface SqliteModule {
  DatabaseSync: new (file: string, options?: { readOnly?: boolean }) => SqliteDatabase;
}

export class SqliteMissingError extends Error {}

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
    throw new SqliteMissingError(
      `The origin needs SQLite 3.53, which Node ${process.versions.node} does not bring: install ${PACKAGE} 1.x, ` +
        'run Node 24.16 or newer, or name another service with BASE_URL and EVENT_BASE_URL.',
      { cause: error },
    );
  }
}

/**
 * A statement for writes. `run` also returns the last row id of the connection, and fails if a number cannot represent it: a
 * full-text table has such ids.
 */
export function prepareWrite(db: SqliteDatabase, sql: string): SqliteStatement {
  const statement = db.prepare(sql);
  statement.setReadBigInts(true);
  return statement;
}

/** Runs `work` in a transaction, which is not nested. */
export function inTransaction<T>(db: SqliteDatabase, work: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    // SQLite itself rolls back after some errors, such as a full disk.
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

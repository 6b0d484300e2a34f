import { resolve } from 'node:path';
import { ddl } from './schema.ts';
import type { SqliteDatabase } from './sqlite.ts';
import { UserError } from '../../../lib/user-error.ts';

/** The next number with every change of the tables. Files of before it had one have 0. */
export const DATABASE_VERSION = 1;

/** Refuses the file of a newer release: this one would write rows that the newer one does not expect. */
export function checkVersion(raw: SqliteDatabase, dataDir: string): void {
  const { user_version: found } = raw.prepare('PRAGMA user_version').get() as { user_version: number };
  if (found > DATABASE_VERSION)
    throw new UserError(
      `The database in ${resolve(dataDir)} is of a newer release: its version is ${found}, and this release knows ` +
        `${DATABASE_VERSION} at most. Start the newer release again, or restore a backup from before it (docs/operations.md).`,
    );
}

/** Creates missing tables, and notes the version. */
export function upgrade(raw: SqliteDatabase): void {
  raw.exec(ddl);
  raw.exec(`PRAGMA user_version = ${DATABASE_VERSION}`);
}

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ddl } from '../../src/origin/store/database/schema.ts';
import { openSqlite } from '../../src/origin/store/database/sqlite.ts';
import { DATABASE_VERSION } from '../../src/origin/store/database/upgrade.ts';
import { runProgram, startProgram } from '../support/program.ts';
import { filledDirectory, temporaryDirectory } from '../support/service.ts';

/** The tables of each version. A change of the tables is a new version, with a row of its own. */
const tablesOf: Record<number, string> = {
  1: '6edcbfdc81b2e42b',
};

test('the version of the database changes with its tables', () => {
  expect(createHash('sha256').update(ddl).digest('hex').slice(0, 16)).toBe(tablesOf[DATABASE_VERSION]);
});

async function filled(version?: number): Promise<string> {
  const dataDir = await filledDirectory();
  if (version !== undefined) setVersion(dataDir, version);
  return dataDir;
}

function setVersion(dataDir: string, version: number): void {
  const db = openSqlite(join(dataDir, 'origin.db'));
  db.exec(`PRAGMA user_version = ${version}`);
  db.close();
}

function versionOf(dataDir: string): unknown {
  const db = openSqlite(join(dataDir, 'origin.db'), { readOnly: true });
  try {
    return db.prepare('PRAGMA user_version').get();
  } finally {
    db.close();
  }
}

test.each([
  ['origin', ['origin']],
  ['facade with its origin', []],
  ['backup', ['backup', join(temporaryDirectory(), 'backup')]],
])('the database of a newer release is refused with a sentence, and not changed: %s', async (_, args) => {
  const dataDir = await filled(DATABASE_VERSION + 1);
  const before = readFileSync(join(dataDir, 'origin.db'));
  const { code, out, err } = await runProgram({ DATA_DIR: dataDir, PORT: '0', ORIGIN_PORT: '0' }, args);
  expect([code, out]).toEqual([1, '']);
  expect(err).toBe(
    `The database in ${dataDir} is of a newer release: its version is ${DATABASE_VERSION + 1}, and this release knows ` +
      `${DATABASE_VERSION} at most. Start the newer release again, or restore a backup from before it (docs/operations.md).\n`,
  );
  expect(readFileSync(join(dataDir, 'origin.db')).equals(before)).toBe(true);
});

test('a database from before versions is taken, and gets the version', async () => {
  const dataDir = await filled(0);
  const program = await startProgram({ DATA_DIR: dataDir, ORIGIN_PORT: '0' }, ['origin']);
  expect((await program.stop()).code).toBe(0);
  expect(versionOf(dataDir)).toEqual({ user_version: DATABASE_VERSION });
});

import { expect, onTestFinished, test } from 'vitest';
import { type Database, openDatabase } from '../../src/origin/store/database/database.ts';
import { fillOnce } from '../../src/origin/store/seed/seed.ts';
import { filledDirectory } from '../support/service.ts';

/** A database that the present version has filled. */
async function filled(): Promise<Database> {
  const db = openDatabase(await filledDirectory());
  onTestFinished(() => db.close());
  return db;
}

const countOf = ({ raw }: Database, table: string): number =>
  (raw.prepare(`SELECT count(*) AS n FROM ${table}`).get() as { n: number }).n;

test('what was deleted from a filled database stays deleted, also if its table is empty', async () => {
  const db = await filled();
  db.raw.exec('DELETE FROM note_likes');
  expect([fillOnce(db, 'demo'), countOf(db, 'note_likes')]).toEqual([false, 0]);
});

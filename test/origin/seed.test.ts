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

const countOf = ({ raw }: Database, table: string, where = '1'): number =>
  (raw.prepare(`SELECT count(*) AS n FROM ${table} WHERE ${where}`).get() as { n: number }).n;
const setVersion = ({ raw }: Database, version: number) =>
  void raw.exec(`UPDATE meta SET value = '${version}' WHERE key = 'filled_version'`);

test('a table that came after a database was filled gets its demo rows, but those of what was deleted', async () => {
  const db = await filled();
  const { id } = db.raw.prepare('SELECT note_id AS id FROM note_likes LIMIT 1').get() as { id: number };
  const [all, ofNote] = [countOf(db, 'note_likes'), countOf(db, 'note_likes', `note_id = ${id}`)];
  const notes = countOf(db, 'notes');
  db.raw.exec(`DELETE FROM notes WHERE id = ${id}; DELETE FROM note_likes`);
  setVersion(db, 0);
  expect(fillOnce(db, 'demo')).toBe(false);
  expect([ofNote > 0, countOf(db, 'note_likes'), countOf(db, 'notes')]).toEqual([true, all - ofNote, notes - 1]);
});

test('what was deleted from a database of the present version stays deleted, also if its table is empty', async () => {
  const db = await filled();
  db.raw.exec('DELETE FROM note_likes');
  expect([fillOnce(db, 'demo'), countOf(db, 'note_likes')]).toEqual([false, 0]);
  db.raw.exec("DELETE FROM meta WHERE key = 'filled_version'");
  expect([fillOnce(db, 'demo'), countOf(db, 'note_likes')]).toEqual([false, 0]);
});

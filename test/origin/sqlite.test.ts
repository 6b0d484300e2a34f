import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  CommitError,
  type SqliteDatabase,
  hasBuiltIn,
  inTransaction,
  openSqlite,
} from '../../src/origin/store/database/sqlite.ts';
import { temporaryDirectory } from '../support/service.ts';

function table() {
  const db = openSqlite(join(temporaryDirectory(), 'test.db'));
  onTestFinished(() => db.close());
  db.exec('CREATE TABLE words (word TEXT PRIMARY KEY)');
  const insert = db.prepare('INSERT INTO words (word) VALUES (?)');
  return {
    db,
    add: (word: string) => insert.all(word),
    words: () =>
      (db.prepare('SELECT word FROM words ORDER BY rowid').all() as { word: string }[]).map((row) => row.word),
  };
}

test('SQLite is at least 3.53 under every Node', () => {
  const { db } = table();
  const { version } = db.prepare('SELECT sqlite_version() AS version').get() as { version: string };
  expect(version).toMatch(/^3\.(5[3-9]|[6-9]\d)\./);
});

test.each([
  ['20.20.2', undefined, false],
  ['22.23.3', '3.51.3', false],
  ['22.99.0', '3.53.0', false], // it warns that its SQLite is an experiment
  ['24.14.0', '3.51.2', false],
  ['24.16.0', '3.53.0', true],
  ['26.10.0', '3.53.4', true],
  ['28.0.0', '4.0.0', true],
])('Node %s with SQLite %s: the built-in SQLite is used: %s', (node, sqlite, expected) => {
  expect(hasBuiltIn({ ...process.versions, node, sqlite })).toBe(expected);
});

test('a full-text table takes writes whose row ids are no safe integers, and so do the statements after them', () => {
  const { db, add, words } = table();
  db.exec("CREATE VIRTUAL TABLE texts USING fts5 (words, tokenize = 'trigram')");
  for (const rowid of [1, 2 ** 51, 2 ** 52]) {
    inTransaction(db, () => {
      db.prepare('INSERT INTO texts (rowid, words) VALUES (?, ?)').all(rowid, '百年孤独'.repeat(500));
      db.prepare('DELETE FROM texts WHERE rowid = ?').all(rowid);
      add(String(rowid));
    });
  }
  expect(words()).toHaveLength(3);
});

test('a transaction that throws is rolled back, and the next one works', () => {
  const { db, add, words } = table();
  const failing = () =>
    inTransaction(db, () => {
      add('one');
      throw new Error('no');
    });
  expect(failing).toThrow('no');
  expect([words(), db.isTransaction]).toEqual([[], false]);
  inTransaction(db, () => add('two'));
  expect(words()).toEqual(['two']);
});

test('a transaction that SQLite has rolled back itself fails with the first error', () => {
  const { db, add, words } = table();
  expect(() =>
    inTransaction(db, () => {
      add('lost');
      db.exec("INSERT OR ROLLBACK INTO words VALUES ('lost')");
    }),
  ).toThrow(/UNIQUE/);
  expect([words(), db.isTransaction]).toEqual([[], false]);
});

test.each([
  ['a disk that is full', 13, false],
  ['a write to the log that fails', 778, false],
  ['another writer', 5, false],
  ['a sync that fails', 1034, true],
  ['an unknown error', undefined, true],
])('a COMMIT that fails by %s leaves the outcome open: %s → %s', (_, errcode, isOpen) => {
  const done: string[] = [];
  const failure = Object.assign(new Error('failed'), { code: 'ERR_SQLITE_ERROR', errcode });
  const db = {
    isTransaction: true,
    exec(sql: string) {
      done.push(sql);
      if (sql === 'COMMIT') throw failure;
    },
  } as unknown as SqliteDatabase;
  const failed = () => inTransaction(db, () => 1);
  if (isOpen) expect(failed).toThrow(CommitError);
  else expect(failed).toThrow(failure);
  expect(done).toEqual(['BEGIN IMMEDIATE', 'COMMIT', 'ROLLBACK']);
});

/** A copy of the data of an origin, which may be running: `catalog-graphql backup`. */
import { copyFileSync, existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { makeDirectory } from '../data-directory.ts';
import { DATABASE_FILE } from './database.ts';
import { PICTURES, isPictureFile, syncToDisk } from '../pictures.ts';
import { openSqlite } from './sqlite.ts';
import { checkVersion } from './upgrade.ts';
import { UserError } from '../../../lib/user-error.ts';

/** A database without its pictures is no backup, so it gets its name at the end. */
const UNFINISHED = `${DATABASE_FILE}.unfinished`;
/** Pictures may be deleted between the copy of the database and theirs: then both are repeated. */
const ATTEMPTS = 5;

/** Writes the database as one file, and the pictures that its records refer to; returns their number. */
export function backUp(dataDir: string, target: string): number {
  const source = join(dataDir, DATABASE_FILE);
  if (!existsSync(source)) throw new UserError(`There is no database in ${resolve(dataDir)}. Set DATA_DIR.`);
  const unfinished = join(target, UNFINISHED);
  makeEmpty(target);
  const copied = new Set<string>();
  try {
    for (let attempt = 1; ; attempt++) {
      rmSync(unfinished, { force: true });
      const needed = copyDatabase(source, unfinished);
      const missing = [...needed].filter((file) => !copied.has(file) && !copyPicture(dataDir, target, file, copied));
      if (missing.length === 0) break;
      if (attempt === ATTEMPTS)
        throw new UserError(`Pictures of records are not in ${resolve(dataDir)}: ${missing.slice(0, 3).join(', ')}.`);
    }
    renameSync(unfinished, join(target, DATABASE_FILE));
    syncToDisk(target);
  } catch (error) {
    for (const name of [UNFINISHED, `${UNFINISHED}-journal`, PICTURES])
      rmSync(join(target, name), { recursive: true, force: true });
    if (error instanceof UserError) throw error;
    throw new UserError(`The copy of ${resolve(dataDir)} to ${resolve(target)} failed: ${(error as Error).message}.`);
  }
  return copied.size;
}

function makeEmpty(target: string): void {
  try {
    makeDirectory(resolve(target, PICTURES));
    const found = [...readdirSync(target).filter((file) => file !== PICTURES), ...readdirSync(join(target, PICTURES))];
    if (found.length === 0) return;
  } catch (error) {
    throw new UserError(`Cannot write to ${resolve(target)} (${(error as NodeJS.ErrnoException).code}).`);
  }
  throw new UserError(`${resolve(target)} is not empty. Name a new directory for each backup.`);
}

/** One read transaction: what other connections write meanwhile is not in the copy. Returns the pictures that it refers to. */
function copyDatabase(source: string, copy: string): Set<string> {
  const db = openSqlite(source);
  try {
    checkVersion(db, dirname(source));
    db.exec('PRAGMA busy_timeout = 5000');
    db.prepare('VACUUM INTO ?').all(copy);
  } finally {
    db.close();
  }
  syncToDisk(copy);
  const made = openSqlite(copy, { readOnly: true });
  try {
    const rows = made.prepare('SELECT picture FROM note_photos UNION SELECT picture FROM annotation_photos').all();
    return new Set((rows as { picture: string }[]).map(({ picture }) => picture).filter(isPictureFile));
  } finally {
    made.close();
  }
}

/** Whether the picture was there. */
function copyPicture(dataDir: string, target: string, file: string, copied: Set<string>): boolean {
  const copy = join(target, PICTURES, file);
  try {
    copyFileSync(join(dataDir, PICTURES, file), copy);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
  syncToDisk(copy);
  copied.add(file);
  return true;
}

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openOrigin } from '../../src/origin/server.ts';
import { backUp } from '../../src/origin/store/database/backup.ts';
import { openSqlite } from '../../src/origin/store/database/sqlite.ts';
import { made } from '../support/made.ts';
import { runProgram, startProgram } from '../support/program.ts';
import {
  authorization,
  demoDir,
  filledDirectory,
  form,
  picture,
  read,
  service,
  temporaryDirectory,
} from '../support/service.ts';

const PICTURE_BYTES = 20_000;

function noteForm(title: string): FormData {
  const pictures = { image_1: picture('png', PICTURE_BYTES), image_2: picture('jpg', PICTURE_BYTES) };
  return form({ title, content: '<图片p_1><图片p_2>', pids: 'p_1,p_2', ...pictures });
}

/** Opens an origin with these data, and closes it after the work. */
async function withOrigin<T>(dataDir: string, work: (url: string) => Promise<T>): Promise<T> {
  const origin = await openOrigin({ dataDir, port: 0, host: '127.0.0.1', demoDir, demoTokens: true });
  try {
    return await work(origin.url);
  } finally {
    await origin.close();
  }
}

const writeNote = async (url: string, title: string) => {
  const body = noteForm(title);
  return read(await fetch(`${url}/v2/notes`, { method: 'POST', headers: authorization('alice'), body }));
};
const getNote = async (url: string, id: string) =>
  read(await fetch(`${url}/v2/note/${id}`, { headers: authorization('alice') }));

test.each([['SIGTERM'], ['SIGINT']] as const)(
  'after %s all data are in one file, whose copy has the last write',
  async (signal) => {
    const dataDir = await filledDirectory();
    const program = await startProgram({ DATA_DIR: dataDir, ORIGIN_PORT: '0' }, ['origin']);
    const { body: note } = await writeNote(program.origin, '最后的');
    expect((await program.stop(signal)).code).toBe(0);
    expect(readdirSync(dataDir).sort()).toEqual(['origin.db', 'pictures']);

    const copy = temporaryDirectory();
    cpSync(join(dataDir, 'origin.db'), join(copy, 'origin.db'));
    expect(await withOrigin(copy, (url) => getNote(url, note.id))).toMatchObject({
      status: 200,
      body: { title: '最后的' },
    });
  },
);

test('an origin that shares its database with another program closes, and loses nothing', async () => {
  const dataDir = await filledDirectory();
  const other = () => openSqlite(join(dataDir, 'origin.db'));
  const opened: ReturnType<typeof other>[] = [];
  const note = await withOrigin(dataDir, async (url) => {
    const reader = other();
    opened.push(reader);
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM notes').get();
    return (await writeNote(url, '还在')).body;
  });
  for (const each of opened) each.close();
  expect(await withOrigin(dataDir, (url) => getNote(url, note.id))).toMatchObject({ body: { title: '还在' } });
});

test('a backup of a running origin is complete and consistent, whatever is written and deleted meanwhile', async () => {
  const { url, dataDir } = await service();
  const before = (await writeNote(url, '之前')).body;
  let isDone = false;
  let writes = 0;
  const write = async () => {
    while (!isDone) {
      const { body } = await writeNote(url, '期间');
      await fetch(`${url}/v2/note/${body.id}`, { method: 'DELETE', headers: authorization('alice') });
      await writeNote(url, '期间');
      writes++;
    }
  };
  const writing = [write(), write()];
  const folder = join(temporaryDirectory(), 'new', 'backup');
  const { code, out, err } = await runProgram({ DATA_DIR: dataDir }, ['backup', folder]);
  isDone = true;
  await Promise.all(writing);
  expect([code, err]).toEqual([0, '']);
  expect(out).toMatch(/^backup +the database and \d+ pictures? of /);
  expect(writes).toBeGreaterThan(0);

  expect(readdirSync(folder).sort()).toEqual(['origin.db', 'pictures']);
  const db = openSqlite(join(folder, 'origin.db'), { readOnly: true });
  expect(db.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
  expect(db.prepare('PRAGMA foreign_key_check').all()).toEqual([]);
  db.close();
  await withOrigin(folder, async (restored) => {
    expect(await getNote(restored, before.id)).toMatchObject({ status: 200, body: { title: '之前' } });
    const found = await fetch(`${restored}/v2/note/user_created/alice?count=100`, {
      headers: authorization('alice'),
    });
    const { notes } = (await read(found)).body;
    for (const { title, photos } of notes as { title: string; photos: Record<string, string> }[]) {
      if (title !== '期间') continue;
      expect(Object.keys(photos)).toEqual(['1', '2']);
      for (const photo of Object.values(photos))
        expect((await (await fetch(photo)).arrayBuffer()).byteLength).toBe(PICTURE_BYTES);
    }
    expect((await writeNote(restored, '之后')).status).toBe(201);
  });
});

describe('a backup is refused', () => {
  const refused = async (dataDir: string, folder: string) => {
    const { code, out, err } = await runProgram({ DATA_DIR: dataDir }, ['backup', folder]);
    expect([code, out]).toEqual([1, '']);
    return err;
  };

  test('if the folder holds anything, which stays as it was', async () => {
    const folder = await filledDirectory();
    expect(await refused(await filledDirectory(), folder)).toBe(
      `${folder} is not empty. Name a new directory for each backup.\n`,
    );
    expect(readdirSync(folder)).toContain('origin.db');
    expect(() => backUp(folder, folder)).toThrow('is not empty');
  });

  test('if there is no database, and none is made', async () => {
    const dataDir = temporaryDirectory();
    expect(await refused(dataDir, join(dataDir, 'backup'))).toBe(`There is no database in ${dataDir}. Set DATA_DIR.\n`);
    expect(readdirSync(dataDir)).toEqual([]);
  });

  test('if the folder cannot be written', async () => {
    const dataDir = await filledDirectory();
    expect(() => backUp(dataDir, '/dev/null/backup')).toThrow('Cannot write to /dev/null/backup (ENOTDIR).');
    expect(() => backUp(dataDir, '/proc/backup')).toThrow('Cannot write to /proc/backup (ENOENT).');
  });

  test.skipIf(process.platform === 'win32')('if the folder is full, and leaves nothing there', async () => {
    const dataDir = await filledDirectory();
    const folder = join(temporaryDirectory(), 'backup');
    // No file may have more than 64 blocks, which the database has.
    const limited = 'ulimit -f 64; exec "$@"';
    const { status, stdout, stderr } = spawnSync(
      'sh',
      ['-c', limited, 'sh', process.execPath, await made('program'), 'backup', folder],
      { env: { PATH: process.env.PATH, DATA_DIR: dataDir }, encoding: 'utf8' },
    );
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^The copy of \S+ to \S+ failed: .*(disk|full).*\.$/m);
    expect(stderr).toContain(folder);
    expect(readdirSync(folder)).toEqual([]);
    expect(backUp(dataDir, folder)).toBeGreaterThanOrEqual(0);
  });

  test('if a picture of a record is lost, without a database that would look complete', async () => {
    const dataDir = await filledDirectory();
    await withOrigin(dataDir, (url) => writeNote(url, '丢'));
    rmSync(join(dataDir, 'pictures'), { recursive: true });
    mkdirSync(join(dataDir, 'pictures'));
    const folder = join(temporaryDirectory(), 'backup');
    expect(() => backUp(dataDir, folder)).toThrow(/^Pictures of records are not in .*: [\w-]+\.(png|jpg)/);
    expect(readdirSync(folder)).not.toContain('origin.db');
  });
});

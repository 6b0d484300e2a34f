import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { openSqlite } from '../../src/origin/store/database/sqlite.ts';
import { journey } from '../support/journey.ts';
import { form, picture, rejection, service } from '../support/service.ts';

const onError = vi.fn();
const origin = await service({ onError });
const path = '/v2/book/26340138/collection';

test('a write that the database cannot finish is reported as not made, and stores nothing', async () => {
  await origin.delete(path, 'alice');
  const tags = (await origin.get('/v2/book/26340138/tags')).body;
  const db = openSqlite(join(origin.dataDir, 'origin.db'));
  db.exec(
    "CREATE TRIGGER full BEFORE INSERT ON collection_tags BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END",
  );
  expect(await origin.post(path, 'alice', { status: 'read', rating: 5, tags: '甲 乙' })).toMatchObject(
    rejection(503, 6009, 'function_error', `POST ${path}`),
  );
  expect(onError).toHaveBeenLastCalledWith(
    expect.objectContaining({ message: 'database or disk is full' }),
    `POST ${path}`,
  );
  expect((await origin.get(path, 'alice')).status).toBe(404);
  expect((await origin.get('/v2/book/26340138/tags')).body).toEqual(tags);

  db.exec('DROP TRIGGER full');
  db.close();
  expect((await origin.post(path, 'alice', { status: 'read', tags: '甲 乙' })).status).toBe(201);
});

test('a picture that cannot be stored is reported as a write that was not made, and no note is created', async () => {
  const arriving = join(origin.dataDir, 'pictures', 'arriving');
  renameSync(arriving, `${arriving}-away`);
  writeFileSync(arriving, '');
  const draft = () => form({ title: '图', content: '<图片p_1>', pids: 'p_1', image_1: picture('png', 500_000) });
  const { total } = (await origin.get('/v2/note/user_created/alice?count=0', 'alice')).body;
  expect(await origin.post('/v2/notes', 'alice', draft())).toMatchObject(
    rejection(503, 6009, 'function_error', 'POST /v2/notes'),
  );
  expect((await origin.get('/v2/note/user_created/alice?count=0', 'alice')).body.total).toBe(total);

  renameSync(arriving, `${arriving}-file`);
  renameSync(`${arriving}-away`, arriving);
  expect((await origin.post('/v2/notes', 'alice', draft())).status).toBe(201);
});

/** Another program that has begun to write. */
function otherWriter(dataDir: string) {
  const db = openSqlite(join(dataDir, 'origin.db'));
  db.exec('BEGIN IMMEDIATE');
  return () => {
    db.exec('ROLLBACK');
    db.close();
  };
}

test('while another program writes, reads are served and a write waits until it has ended', async () => {
  const end = otherWriter(origin.dataDir);
  let isWritten = false;
  const written = origin.put(path, 'alice', { status: 'wish' }).finally(() => (isWritten = true));
  const other = origin.put(path, 'alice', { status: 'wish' });
  for (let n = 0; n < 20; n++) expect((await origin.get('/v2/book/6082808')).status).toBe(200);
  expect(isWritten).toBe(false);
  end();
  expect([(await written).status, (await other).status]).toEqual([202, 202]);
});

test('a write that waits too long for another program is reported as not made, by the facade too', async () => {
  const { execute, origin: behind } = await journey({}, undefined, { onError });
  const query = `mutation { createNote(input: { title: "late", content: "late" }) { note { id } } }`;
  const notes = async () => (await behind.get('/v2/note/user_created/alice?count=0', 'alice')).body.total as number;
  const before = await notes();
  const end = otherWriter(behind.dataDir);
  const direct = behind.post('/v2/notes', 'alice', { title: 'late', content: 'late' });
  const { errors } = await execute(query, { token: 'demo-alice' });
  expect(errors?.[0]?.extensions).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  expect(await direct).toMatchObject(rejection(503, 6009, 'function_error', 'POST /v2/notes'));
  end();
  expect(await notes()).toBe(before);
  expect((await execute(query, { token: 'demo-alice' })).errors).toBeUndefined();
  expect(await notes()).toBe(before + 1);
});

import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { openSqlite } from '../../src/origin/store/database/sqlite.ts';
import { form, picture, rejection, service } from '../support/service.ts';

const onError = vi.fn();
const origin = await service({ onError });
const path = '/v2/book/26340138/collection';

test('a write that the database cannot finish is an error and stores nothing', async () => {
  await origin.delete(path, 'alice');
  const tags = (await origin.get('/v2/book/26340138/tags')).body;
  const db = openSqlite(join(origin.dataDir, 'origin.db'));
  db.exec(
    "CREATE TRIGGER full BEFORE INSERT ON collection_tags BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END",
  );
  expect(await origin.post(path, 'alice', { status: 'read', rating: 5, tags: '甲 乙' })).toMatchObject(
    rejection(500, 6009, 'function_error', `POST ${path}`),
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

test('a picture that cannot be stored is an error, and no note is created', async () => {
  const arriving = join(origin.dataDir, 'pictures', 'arriving');
  renameSync(arriving, `${arriving}-away`);
  writeFileSync(arriving, '');
  const draft = () => form({ title: '图', content: '<图片p_1>', pids: 'p_1', image_1: picture('png', 500_000) });
  const { total } = (await origin.get('/v2/note/user_created/alice?count=0', 'alice')).body;
  expect(await origin.post('/v2/notes', 'alice', draft())).toMatchObject(
    rejection(500, 6009, 'function_error', 'POST /v2/notes'),
  );
  expect((await origin.get('/v2/note/user_created/alice?count=0', 'alice')).body.total).toBe(total);

  renameSync(arriving, `${arriving}-file`);
  renameSync(`${arriving}-away`, arriving);
  expect((await origin.post('/v2/notes', 'alice', draft())).status).toBe(201);
});

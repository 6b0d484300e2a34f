import { expect, test } from 'vitest';
import { bookEndpoints } from '../../../src/api/book.ts';
import { type Cache, createMemoryCache } from '../../../src/upstream/cache/memory.ts';
import { createRecordCache } from '../../../src/upstream/cache/record-cache.ts';
import { redactOwner } from '../../../src/upstream/cache/redact.ts';
import { hostile, json } from '../../support/hostile.ts';
import { replica } from '../../support/replica.ts';

const { visibility, list } = bookEndpoints.annotations;
const [own, other] = [{ isOwn: true }, { isOwn: false }];
const itemsOf = (items: unknown[]) => ({ [list!]: items });

test('with the facade’s own token, private items are null, and no item has fields of its owner', () => {
  const { member, everybody } = visibility!;
  const isPublic = { id: '1', [member]: everybody };
  const isPublicAsText = { id: '4', [member]: String(everybody) };
  const isPrivate = { id: '2', [member]: 'x' };
  const isSilent = { id: '3' }; // the service leaves out defaults
  const items = [isPublic, isPublicAsText, isPrivate, isSilent, { ...isSilent, current_user_collection: {} }, null];
  expect(redactOwner(bookEndpoints.annotations, own, itemsOf(items))).toEqual(
    itemsOf([isPublic, isPublicAsText, null, isSilent, isSilent, null]),
  );
});

test('a response to a person’s own token is returned unchanged', () => {
  const response = () => itemsOf([{ id: '2', [visibility!.member]: 'x', current_user_collection: {} }]);
  expect(redactOwner(bookEndpoints.annotations, other, response())).toEqual(response());
});

test('a member of a record that no table knows is kept for nobody, whoever read it', async () => {
  const { url } = await hostile((socket, request) => {
    const of = request.path.includes('subject') ? 'film' : 'book';
    json(JSON.stringify({ id: '7', title: of, seen_by: 'alice', current_user_rating: 4 }))(socket, request);
  });
  const entries: string[] = [];
  const memory = createMemoryCache(1_000_000);
  const recording: Cache = {
    ...memory,
    set(key, version, entry) {
      entries.push(JSON.stringify(entry.value));
      memory.set(key, version, entry);
    },
  };
  const execute = await replica(url, { filmTier: 'basic' }, { records: createRecordCache({ cache: recording }) });
  const query = '{ book(id: "7") { title } subject(id: "7") { title } }';
  for (const token of ['alice', undefined])
    expect((await execute(query, token)).data).toEqual({ book: { title: 'book' }, subject: { title: 'film' } });
  expect(entries.join()).toContain('"title":"book"');
  expect(entries.join()).not.toMatch(/seen_by|current_user/);
});

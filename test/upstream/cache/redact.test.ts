import { expect, test } from 'vitest';
import { bookEndpoints } from '../../../src/api/book.ts';
import { redactOwner } from '../../../src/upstream/cache/redact.ts';

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

import { expect, test } from 'vitest';
import { bookEndpoints } from '../../../src/api/book.ts';
import { builder } from '../../../src/graph/builder.ts';
import '../../../src/graph/fields/declare.ts';
import { Book } from '../../../src/graph/book/book.ts';
import { User } from '../../../src/graph/types/user.ts';

/** Checked by the compiler, never run. */
const fields = () =>
  builder.objectFields(Book, (t) => ({
    // @ts-expect-error -- the title is no person
    author: t.record(User, { member: 'title' }, ''),
    // @ts-expect-error -- the images are no id
    owner: t.record(User, { id: 'images' }, ''),
    // @ts-expect-error -- the endpoint needs an id, and nothing is read from the book
    again: t.call({ type: Book, description: '', endpoint: bookEndpoints.byId }),
    // @ts-expect-error -- the response is a book, not a text
    text: t.call({ type: 'String', description: '', endpoint: bookEndpoints.byId, from: ['id'] }),
    copy: t.call({ type: Book, description: '', endpoint: bookEndpoints.byId, from: ['id'] }),
  }));

test('the compiler checks members, ids and defaults of declared fields', () => {
  expect(fields).toBeTypeOf('function');
});

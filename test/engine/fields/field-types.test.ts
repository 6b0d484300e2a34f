import SchemaBuilder from '@pothos/core';
import { expect, test } from 'vitest';
import { bookEndpoints } from '../../../src/api/book.ts';
import { builder } from '../../../src/engine/builder.ts';
import '../../../src/engine/fields/declare.ts';
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
    // @ts-expect-error -- the publisher is read and not declared
    computed: t.computed({ type: 'String', description: '', needs: ['title'], resolve: ({ publisher }) => publisher }),
    // @ts-expect-error -- what is read of the record is declared by t.computed alone
    plain: t.string({ description: '', needs: ['title'], resolve: ({ title }) => title }),
    // @ts-expect-error -- an id is no number
    number: t.computed({ type: 'Int', description: '', needs: ['id'], resolve: ({ id }) => id }),
    // @ts-expect-error -- a call is declared, so that the plan and the cost know it
    called: t.int({ description: '', resolve: (_, __, { upstream }) => Number(upstream.responses) }),
    copy: t.call({ type: Book, description: '', endpoint: bookEndpoints.byId, from: ['id'] }),
  }));

test('the compiler checks members, ids and defaults of declared fields', () => {
  expect(fields).toBeTypeOf('function');
});

test('a field of a record that reads it without saying what is rejected when the schema is built', () => {
  const other = new SchemaBuilder<{ DefaultFieldNullability: false }>({
    plugins: ['declarations'],
    defaultFieldNullability: false,
  });
  other.queryType({ fields: (t) => ({ n: t.int({ resolve: () => 1 }) }) });
  other.objectRef<{ title: string }>('Thing').implement({
    record: {} as never,
    fields: (t) => ({ title: t.string({ resolve: ({ title }) => title }) }),
  });
  expect(() => other.toSchema()).toThrow('Thing.title reads its record and does not say what: use t.computed.');
});

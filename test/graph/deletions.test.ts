import { type GraphQLObjectType, getNamedType, isObjectType } from 'graphql';
import { describe, expect, test } from 'vitest';
import { schema } from '../../src/graph/schema.ts';
import { facade } from '../support/facade.ts';

const token = 'alice';
/** A collection names the caller. */
const named = { id: 1, book_id: '7', user_id: '3', status: 'wish' };
/** A call of each deletion, by its name. */
const deletions: Record<
  string,
  { call: readonly [method: string, path: string]; reads?: string; input: string; parents: string }
> = {
  deleteAnnotation: {
    call: ['DELETE', '/v2/book/annotation/9'],
    reads: '/v2/book/annotation/9?fields=book_id,id&format=text',
    input: 'id: "9", bookId: "Book:7"',
    parents: 'book { id } author { id }',
  },
  deleteCollection: {
    call: ['DELETE', '/v2/book/7/collection'],
    input: 'bookId: "7"',
    parents: 'book { id } user { id }',
  },
  deleteEvent: { call: ['POST', '/event/9/delete'], input: 'id: "9", reason: "下雨"', parents: 'organizer { id }' },
  deleteNote: { call: ['DELETE', '/v2/note/9'], input: 'id: "9"', parents: 'author { id }' },
  deleteNoteComment: {
    call: ['DELETE', '/v2/note/9/comment/5'],
    input: 'noteId: "9", commentId: "5"',
    parents: 'note { id }',
  },
  deleteReview: {
    call: ['DELETE', '/v2/book/review/9'],
    input: 'id: "9"',
    parents: 'author { id }',
  },
};
const ids: Record<string, string> = {
  deleteAnnotation: 'Annotation:9',
  deleteCollection: 'Collection:3:7',
  deleteEvent: 'Event:9',
  deleteNote: 'Note:9',
  deleteNoteComment: 'NoteComment:9:5',
  deleteReview: 'Review:9',
};
const parentIds = {
  book: { id: 'Book:7' },
  author: { id: 'User:3' },
  user: { id: 'User:3' },
  organizer: { id: 'User:3' },
  note: { id: 'Note:9' },
};

const fields = Object.values(schema.getMutationType()!.getFields()).filter(({ name }) => name.startsWith('delete'));

/** A facade whose service deletes, and has told who alice is. */
async function facadeOf(name: string, isNamed = true) {
  const made = facade();
  const [method, path] = deletions[name]!.call;
  const { service, events } = made;
  service.intercept({ path: /^\/v2\/book\/annotation\/9\?/ }).reply(200, { id: '9', book_id: '7' });
  if (isNamed) {
    service.intercept({ path: /^\/v2\/book\/7\/collection/ }).reply(200, named);
    await made.execute('{ book(id: "7") { viewerCollection { tagNames } } }', { token });
  }
  made.calls.length = 0;
  (name === 'deleteEvent' ? events : service).intercept({ path, method }).reply(name === 'deleteEvent' ? 200 : 204, '');
  return made;
}

describe.each(fields.map(({ name, type }) => [name, getNamedType(type) as GraphQLObjectType] as const))(
  '%s',
  (name, payload) => {
    const { call, reads, input, parents } = deletions[name]!;
    const sent = [...(reads ? [`GET ${reads}`] : []), call.join(' ')];
    const text = `mutation { ${name}(input: { ${input} }) { deletedId ${parents} } }`;

    test('has the global id of what is gone, and each object that had it in its lists, for its own call alone', async () => {
      const { execute, calls } = await facadeOf(name);
      const shown = Object.values(payload.getFields()).filter(({ type }) => isObjectType(getNamedType(type)));
      const expected = shown.map((field) => [field.name, parentIds[field.name as keyof typeof parentIds]]);
      expect(expected).not.toEqual([]);
      const { data, errors } = await execute(text, { token });
      expect(errors).toBeUndefined();
      expect(data[name]).toEqual({ deletedId: ids[name], ...(Object.fromEntries(expected) as object) });
      expect(calls).toEqual(sent);
      const { extensions } = await execute(text, { token, explain: 'plan' });
      expect(extensions).toMatchObject({ upstream: { max: sent.length } });
    });

    test('has a call more in its price for another field of such an object', async () => {
      const { execute } = await facadeOf(name, false);
      for (const parent of parents.match(/\w+(?= \{)/g)!) {
        const field = { note: 'title', book: 'title' }[parent] ?? 'name';
        const more = `mutation { ${name}(input: { ${input} }) { ${parent} { ${field} } } }`;
        const { extensions } = await execute(more, { token, explain: 'plan' });
        expect(extensions, parent).toMatchObject({ upstream: { max: sent.length + 1 } });
      }
    });
  },
);

test('each deletion is tested', () => {
  expect(fields.map(({ name }) => name)).toEqual(Object.keys(deletions));
});

test('the caller is null in the payload of a deletion while no response has named the caller', async () => {
  const { execute } = await facadeOf('deleteCollection', false);
  const { data, errors } = await execute(
    'mutation { deleteCollection(input: { bookId: "7" }) { deletedId book { id } user { id } } }',
    { token },
  );
  expect([data, errors]).toEqual([
    { deleteCollection: { deletedId: null, book: { id: 'Book:7' }, user: null } },
    undefined,
  ]);
});

test('the book of a deleted annotation is null without its id in the input, and a wrong id is a violation', async () => {
  const { execute, calls } = await facadeOf('deleteAnnotation');
  const deleted = await execute('mutation { deleteAnnotation(input: { id: "9" }) { book { title } } }', { token });
  expect(deleted.data).toEqual({ deleteAnnotation: { book: null } });
  expect(calls).toHaveLength(1);
  const refused = await execute('mutation { deleteAnnotation(input: { id: "9", bookId: "Note:7" }) { deletedId } }', {
    token,
  });
  expect(refused.errors?.[0]?.extensions).toMatchObject({
    code: 'BAD_USER_INPUT',
    violations: [{ path: ['input', 'bookId'] }],
  });
  expect(calls).toHaveLength(1);
});

test('an annotation on the book that the input says is deleted, although its id is written as a number', async () => {
  const { service, execute } = facade();
  service.intercept({ path: deletions.deleteAnnotation!.reads! }).reply(200, { id: 9, book_id: 7 });
  service.intercept({ path: '/v2/book/annotation/9', method: 'DELETE' }).reply(204);
  const { data } = await execute(
    'mutation { deleteAnnotation(input: { id: "9", bookId: "7" }) { deletedId book { id } } }',
    { token },
  );
  expect(data.deleteAnnotation).toEqual({ deletedId: 'Annotation:9', book: { id: 'Book:7' } });
});

test('an annotation on another book than the input says is not deleted', async () => {
  const { execute, calls } = await facadeOf('deleteAnnotation');
  const input = 'input: { id: "9", bookId: "8" }';
  const { data, errors } = await execute(`mutation { deleteAnnotation(${input}) { book { id } } }`, { token });
  expect(data).toEqual({ deleteAnnotation: null });
  expect(errors?.[0]).toMatchObject({
    message: 'input.bookId: The annotation is on another book.',
    extensions: { code: 'BAD_USER_INPUT', violations: [{ path: ['input', 'bookId'] }] },
  });
  expect(calls).toEqual([`GET ${deletions['deleteAnnotation']!.reads}`]);
});

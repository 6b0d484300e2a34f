import { type GraphQLInputObjectType, getNamedType } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../../src/graph/schema.ts';
import { annotationPatch } from '../../../src/graph/book/annotation.patch.ts';
import { collectionPatch } from '../../../src/graph/book/collection.patch.ts';
import { eventPatch } from '../../../src/graph/event/event.patch.ts';
import { notePatch } from '../../../src/graph/note/note.patch.ts';
import { facade } from '../../support/facade.ts';

const kept = {
  updateAnnotation: annotationPatch,
  updateCollection: collectionPatch,
  updateEvent: eventPatch,
  updateNote: notePatch,
};
const mutations = schema.getMutationType()!.getFields();
const inputOf = (name: string) => getNamedType(mutations[name]!.args[0]!.type) as GraphQLInputObjectType;

test('each update says how it keeps each thing that its PUT writes', () => {
  const updates = Object.keys(mutations).filter((name) => name.startsWith('update'));
  expect(updates.sort()).toEqual(Object.keys(kept).sort());
  for (const [name, { columns }] of Object.entries(kept)) {
    const whole = Object.keys(inputOf(name.replace('update', 'replace')).getFields());
    const notKept = ['id', 'bookId', 'pictures'];
    const known = columns.flatMap(({ fields }) => fields as readonly string[]);
    expect(known.sort()).toEqual(whole.filter((field) => !notKept.includes(field)).sort());
  }
});

test('an update requires nothing but what it changes, and has no defaults', () => {
  for (const name of Object.keys(kept))
    for (const { name: field, type, defaultValue } of Object.values(inputOf(name).getFields()))
      expect([name, field, String(type).endsWith('!'), defaultValue]).toEqual([
        name,
        field,
        /^(?:id|bookId)$/.test(field),
        undefined,
      ]);
});

const odd = [5, '4', true, {}, [], ['x'], [{ name: 'x' }], { value: 8, max: 10 }, { value: 'abc' }, { value: 4.5 }];
const annotation = 'A text of more than fifteen characters.';
/** Records, the update of another field, and what may be written of odd members: each that is a text or a number. */
const updates = [
  {
    path: '/v2/book/9/collection',
    record: {
      id: 1,
      book_id: '9',
      user_id: '3',
      status: 'read',
      rating: { value: '4', max: 5 },
      tags: ['a'],
      comment: 'c',
    },
    mutation: (open: string) =>
      `updateCollection(input: { bookId: 9, isPrivate: false, ${open === 'status' ? 'comment: "n"' : 'status: WISH'} })`,
    readable: { rating: [5, '4'], tags: [5, '4', true, [], ['x']], comment: [5, '4', true] },
  },
  {
    path: '/v2/note/5',
    record: { id: '5', title: 'T', content: 'C', privacy: 'public', can_reply: true },
    mutation: () => 'updateNote(input: { id: 5, canReply: false })',
    readable: { title: [5, '4', true], content: [5, '4', true], privacy: [] },
  },
  {
    path: '/v2/book/annotation/5',
    record: { id: '5', content: annotation, page_no: 7, privacy: 2, book_id: '9' },
    mutation: () => 'updateAnnotation(input: { id: 5, isPrivate: true })',
    readable: { content: [], page_no: [5, '4'] },
  },
];

test.for(updates)('an update of $path writes nothing over what it cannot read', async (update) => {
  const { path, record, mutation, readable } = update;
  const { service, execute } = facade({ recordTtlSeconds: 0 });
  let read: object = record;
  let written: string[] = [];
  const reply = (data: object, statusCode = 200) => ({
    statusCode,
    data,
    responseOptions: { headers: { 'content-type': 'application/json' } },
  });
  service
    .intercept({ path: (line) => line.startsWith(path) })
    .reply(() => reply(read))
    .persist();
  service
    .intercept({ path, method: 'PUT' })
    .reply(({ body }) => {
      written.push(body as string);
      return reply(record, 202);
    })
    .persist();
  for (const [member, kept] of Object.entries(readable) as [string, unknown[]][])
    for (const value of odd) {
      read = { ...record, [member]: value };
      written = [];
      const given = [member, JSON.stringify(value)];
      const isReadable = kept.some((each) => JSON.stringify(each) === given[1]);
      const { errors } = await execute(`mutation { ${mutation(member)} { __typename } }`, { token: String(given) });
      const sent = written.map((body) => new URLSearchParams(body).get(member === 'page_no' ? 'page' : member) ?? '');
      expect([...given, ...sent]).toEqual(isReadable ? [...given, [value].flat().map(String).join(' ')] : given);
      // Of texts, a rule of the input may find that they are too short.
      const codes = isReadable ? [undefined] : ['PRESENT_VALUE_UNKNOWN', 'ANNOTATION_TOO_SHORT'];
      expect(codes).toContain(errors?.[0]?.extensions.code);
    }
});

test('an update is written if the record has an object where the id of its author is due', async () => {
  const { service, execute } = facade();
  const record = { id: '5', content: annotation, chapter: 'one', privacy: 2, author_id: { toString: 1 } };
  const path = /^\/v2\/book\/annotation\/5/;
  service.intercept({ path }).reply(200, record);
  service.intercept({ path, method: 'PUT' }).reply(202, record);
  const mutation = 'mutation { updateAnnotation(input: { id: 5, chapter: "two" }) { annotation { chapter } } }';
  expect(await execute(mutation, { token: 'alice' })).toEqual({
    data: { updateAnnotation: { annotation: { chapter: 'one' } } },
  });
});

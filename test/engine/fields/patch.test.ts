import { type GraphQLInputObjectType, getNamedType } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../../src/graph/schema.ts';
import { keptAnnotation } from '../../../src/graph/book/annotation.keeping.ts';
import { keptCollection } from '../../../src/graph/book/collection.keeping.ts';
import { keptEvent } from '../../../src/graph/event/event.keeping.ts';
import { keptNote } from '../../../src/graph/note/note.keeping.ts';

const kept = {
  updateAnnotation: keptAnnotation,
  updateCollection: keptCollection,
  updateEvent: keptEvent,
  updateNote: keptNote,
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

/** A query for each field that makes a call, with records of the demo. */
import { type GraphQLField, type GraphQLObjectType, getNamedType, isLeafType, isObjectType } from 'graphql';
import type { Endpoint } from '../../src/api/endpoint.ts';
import { allFields, fieldRule, nodeTypeOf } from '../../src/engine/plan/read-declarations.ts';
import { schema } from '../../src/graph/schema.ts';

type Field = GraphQLField<unknown, unknown>;

/** A record of each type that has lists; `NAME` is an id that the demo does not fix. */
const records: Readonly<Record<string, string>> = {
  Book: 'book(id: "6082808")',
  Series: 'series(id: "SERIES")',
  User: 'user(id: "alice")',
  Note: 'note(id: "NOTE")',
  Subject: 'subject(id: "26266893")',
  Celebrity: 'celebrity(id: "1000525")',
  City: 'city(id: "beijing")',
  Event: 'event(id: "EVENT")',
};
const argumentsOf: Readonly<Record<string, string>> = {
  searchBooks: 'tag: "小说", ',
  searchSubjects: 'tag: "剧情", ',
};
/** Their lists are those of the search, and those of a user. */
const withoutRecord = ['BookTag', 'FilmTag', 'UserBookTag', 'Organization'];

/** A query with the field as `it`. */
function queryOf(type: GraphQLObjectType, field: Field, page: string, selection: string): string {
  const it = `it: ${field.name}(${argumentsOf[field.name] ?? ''}${page}) ${selection}`;
  if (type === schema.getQueryType()) return `{ ${it} }`;
  const record = records[type.name];
  if (record === undefined) throw new Error(`test/support/example-records.ts has no record of ${type.name}`);
  return `{ ${record} { ${it} } }`;
}

/** What tells the items of a list apart: their id, or else all values and the ids of records. */
function identityOf(type: GraphQLObjectType): string {
  const fields = Object.values(type.getFields());
  if (fields.some(({ name }) => name === 'id')) return 'id';
  const withId = (field: Field) => {
    const named = getNamedType(field.type);
    return isObjectType(named) && named.getFields().id !== undefined;
  };
  return fields
    .filter((field) => isLeafType(getNamedType(field.type)) || withId(field))
    .map((field) => (withId(field) ? `${field.name} { id }` : field.name))
    .join(' ');
}

/** Every list, with a query of a page of it and the selection that tells its nodes apart. */
export const lists = [...allFields(schema)].flatMap(({ type, field, coordinate }) => {
  const nodeType = nodeTypeOf(field);
  if (!nodeType || fieldRule(field).tellsChanges || withoutRecord.includes(type.name)) return [];
  const query = (page: string, selection: string) => queryOf(type, field, page, selection);
  return [
    { coordinate, endpoint: fieldRule(field).endpoint as Endpoint | undefined, node: identityOf(nodeType), query },
  ];
});

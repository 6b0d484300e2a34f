import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  OverlappingFieldsCanBeMergedRule,
  getNamedType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
  parse,
  validate,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { schema } from '../../src/graph/schema.ts';

const objects = Object.values(schema.getTypeMap()).filter(isObjectType);
const withId = objects.filter((type) => !type.name.startsWith('__') && 'id' in type.getFields());

/** How far below a field the selections of two types are compared. */
const DEPTH = 3;

const fieldsOf = (type: GraphQLObjectType): GraphQLField<unknown, unknown>[] => Object.values(type.getFields());

/** A field with what two types have in common below it, for each of the two. */
function selections(of: readonly GraphQLObjectType[], name: string, depth: number): string[] {
  const fields = of.map((type) => type.getFields()[name]!);
  const below = common(
    fields.map(({ type }) => type),
    depth,
  );
  return fields.map(({ args }, at) => {
    const given = args.filter(isRequiredArgument).map((arg) => `${arg.name}: "1"`);
    return `${name}${given.length > 0 ? `(${given.join()})` : ''}${below[at]!}`;
  });
}

function common(types: readonly GraphQLOutputType[], depth: number): string[] {
  const named = types.map((type) => getNamedType(type));
  if (!named.every(isObjectType)) return named.map((type) => (isLeafType(type) ? '' : ' { __typename }'));
  const [first, second] = named as [GraphQLObjectType, GraphQLObjectType];
  const shared = fieldsOf(first).filter(
    (field) => field.name in second.getFields() && (depth > 1 || isLeafType(getNamedType(field.type))),
  );
  const inner = shared.map(({ name }) => selections([first, second], name, depth - 1));
  return [0, 1].map((at) => ` { __typename ${inner.map((each) => each[at]).join(' ')} }`);
}

/** The errors of a document that selects all that two types have in common. */
function conflicts(first: GraphQLObjectType, second: GraphQLObjectType): string[] {
  const shared = fieldsOf(first).filter(({ name }) => name in second.getFields());
  const pairs = shared.map(({ name }) => selections([first, second], name, DEPTH));
  const document = [first, second]
    .map((type, at) => `... on ${type.name} { ${pairs.map((pair) => pair[at]).join(' ')} }`)
    .join(' ');
  const query = parse(`{ nodes(ids: []) { ${document} } }`);
  return validate(schema, query, [OverlappingFieldsCanBeMergedRule], { maxErrors: 100 }).map(
    ({ message }) => `${first.name}, ${second.name}: ${message}`,
  );
}

describe('fields of one name', () => {
  test('merge over every pair of types with an id, and so does what the pair has in common below them', () => {
    const found = withId.flatMap((first, at) => withId.slice(at + 1).flatMap((second) => conflicts(first, second)));
    expect(withId.length).toBeGreaterThan(12);
    expect(found).toEqual([]);
  });
});

/** Adds to the descriptions of lists which fields of their items cost further calls, as the declared representations say. */
import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isListType,
  isObjectType,
} from 'graphql';
import { type Representation, isProvided } from '../../api/endpoint.ts';
import { allFields, fieldRule, nodeTypeOf, typeRule } from '../plan/read-declarations.ts';

export function describeItemCosts(schema: GraphQLSchema): GraphQLSchema {
  for (const { type, field } of allFields(schema)) {
    const text = itemCosts(type, field);
    if (text) field.description = withSentence(field.description, text);
  }
  return schema;
}

/** A description with one more sentence. */
export const withSentence = (description: string | null | undefined, sentence: string): string =>
  `${(description ?? '').replace(/[^.]$/, '$&.')} ${sentence}`.trim();

/** What to say of the items of a list; undefined for fields that are no lists, and if no field of an item costs a call. */
function itemCosts(parent: GraphQLObjectType, field: GraphQLField<unknown, unknown>): string | undefined {
  const { representation } = fieldRule(field);
  const item = itemTypeOf(parent, field);
  if (!representation || !item || !typeRule(item).record) return undefined;
  const { free, costly, costlyBelow } = itemFields(item, representation);
  if (costly.length === 0 && costlyBelow.length === 0) return undefined;
  if (costly.length <= free.length) return `${listed([...costly, ...costlyBelow])} cost a call for each item.`;
  const below = costlyBelow.length > 0 ? `, and so does ${listed(costlyBelow)}` : '';
  return `All fields but ${listed(free)} cost a call for each item${below}.`;
}

/** The type of the items of a connection, of a list, or of the entries of a chart. */
function itemTypeOf(parent: GraphQLObjectType, field: GraphQLField<unknown, unknown>): GraphQLObjectType | undefined {
  if (!isListType(getNullableType(field.type)) && !typeRule(parent).isWrapper) return nodeTypeOf(field);
  const named = getNamedType(field.type);
  return isObjectType(named) ? named : undefined;
}

/** The fields of a type that a representation provides, those that it does not, and the subfields that it does not. */
export function itemFields(
  type: GraphQLObjectType,
  representation: Representation,
): { free: string[]; costly: string[]; costlyBelow: string[] } {
  const { alternatives } = typeRule(type);
  const has = (member: string) =>
    isProvided(representation, member) ||
    (alternatives?.[member] !== undefined && isProvided(representation, alternatives[member]));
  const free: string[] = [];
  const costly: string[] = [];
  const costlyBelow: string[] = [];
  for (const field of Object.values(type.getFields())) {
    const { endpoint, embedded, needs = [], needsBelow = {} } = fieldRule(field);
    const isFree = endpoint ? embedded !== undefined && has(embedded.member) : needs.every(has);
    (isFree ? free : costly).push(field.name);
    if (isFree)
      for (const [below, members] of Object.entries(needsBelow))
        if (!members.every(has)) costlyBelow.push(`${field.name}.${below}`);
  }
  return { free, costly, costlyBelow };
}

const listed = (names: readonly string[]): string => {
  const quoted = names.map((name) => `\`${name}\``);
  return quoted.length === 1 ? quoted[0]! : `${quoted.slice(0, -1).join(', ')} and ${quoted.at(-1)}`;
};

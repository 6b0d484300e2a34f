/** Variables of an operation for which it costs least, and for which it costs most. */
import {
  type GraphQLInputType,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  typeFromAST,
} from 'graphql';
import type { Variables } from '../plan/document.ts';
import { FIRST_MAX } from '../values/paging.ts';

/** The cheapest value of each variable that must be given, as a client sends it. */
export function cheapestVariables(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
): Variables {
  const required = variableDefinitions.filter(
    ({ type, defaultValue }) => type.kind === Kind.NON_NULL_TYPE && !defaultValue,
  );
  return Object.fromEntries(
    required.map(({ variable, type }) => [
      variable.name.value,
      cheapest(typeFromAST(schema, type) as GraphQLInputType | undefined),
    ]),
  );
}

function cheapest(type: GraphQLInputType | undefined): unknown {
  const of = isNonNullType(type) ? type.ofType : type;
  if (isListType(of)) return [];
  if (isEnumType(of)) return of.getValues()[0]?.name;
  if (isInputObjectType(of)) {
    const fields = Object.values(of.getFields()).filter(isRequiredInputField);
    return Object.fromEntries(fields.map((field) => [field.name, cheapest(field.type)]));
  }
  const plain: Record<string, unknown> = { Int: 1, Float: 1, Boolean: false };
  return plain[of?.name ?? ''] ?? '1';
}

/** Coerced: `first` at its limit, and a value for the rest, because an argument with a value is never answered by an embedded first page. */
export function dearestVariables(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
): Record<string, unknown> {
  return Object.fromEntries(
    variableDefinitions.map(({ variable, type }) => {
      const named = getNamedType(typeFromAST(schema, type as never));
      const name = variable.name.value;
      if (isEnumType(named)) return [name, named.getValues()[0]?.value];
      if (named?.name === 'Int') return [name, FIRST_MAX];
      if (named?.name === 'Boolean') return [name, true];
      const given = type.kind === Kind.NON_NULL_TYPE ? type.type : type;
      return [name, given.kind === Kind.LIST_TYPE ? ['x'] : 'x'];
    }),
  );
}

/** Without those that may be left out: an update reads what it keeps. */
export const withoutNullable = (
  { variableDefinitions = [] }: OperationDefinitionNode,
  variables: Variables,
): Variables =>
  Object.fromEntries(
    variableDefinitions
      .filter(({ type, defaultValue }) => type.kind === Kind.NON_NULL_TYPE || defaultValue)
      .map(({ variable }) => [variable.name.value, variables[variable.name.value]]),
  );

/** The variables with all numbers so small: of a list whose `first` has a default, fewer items may be requested. */
export const withSmallNumbers = (
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  variables: Variables,
  number = 1,
): Variables => {
  const numbers = variableDefinitions.filter(
    ({ type }) => type.kind !== Kind.LIST_TYPE && getNamedType(typeFromAST(schema, type as never))?.name === 'Int',
  );
  if (numbers.length === 0) return variables;
  return { ...variables, ...Object.fromEntries(numbers.map(({ variable }) => [variable.name.value, number])) };
};

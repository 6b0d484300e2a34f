/** Arguments and variables, coerced by graphql-js, with errors whose size does not depend on the input. */
import {
  type FieldNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLSchema,
  type GraphQLType,
  type OperationDefinitionNode,
  getArgumentValues,
  getVariableValues,
  isNonNullType,
  print,
} from 'graphql';
import { type Variables, hasVariable } from './document.ts';

export const isText = (value: unknown): boolean => typeof value === 'string';
const checks = new Map<string, (value: unknown) => boolean>([
  ['ID', isText],
  ['String', isText],
  ['Int', (value) => typeof value === 'number' && (value | 0) === value],
  ['Float', (value) => typeof value === 'number' && Number.isFinite(value)],
  ['Boolean', (value) => typeof value === 'boolean'],
]);

/** A check whether a value of this type needs no coercion; undefined if each value needs it. */
export const plainlyOf = (type: GraphQLType | undefined): ((value: unknown) => boolean) | undefined =>
  checks.get(String(isNonNullType(type) ? type.ofType : type));

/** The arguments of one field. The default of `first` is for pages that go forward. */
export function argumentsOf(field: GraphQLField<unknown, unknown>, node: FieldNode): (variables: Variables) => object {
  const args = coercedArguments(field, node);
  const given = (name: string) => node.arguments?.find((argument) => argument.name.value === name)?.value;
  if (!given('last') && !given('before')) return args;
  const first = given('first');
  return (variables) => {
    const values = args(variables) as { first?: unknown; last?: unknown; before?: unknown };
    const isGiven = first && !(first.kind === 'Variable' && variables[first.name.value] === undefined);
    return isGiven || (values.last == null && values.before == null) ? values : { ...values, first: undefined };
  };
}

/** The arguments as graphql-js coerces them. It takes a microsecond, so texts from variables go into a copy of what it has coerced once. */
function coercedArguments(field: GraphQLField<unknown, unknown>, node: FieldNode): (variables: Variables) => object {
  const given = node.arguments?.filter(({ value }) => hasVariable(value)) ?? [];
  // A variable in a list or an object is not the whole argument: it has no name here, and so no text.
  const texts = given.map(({ name, value }) => ['name' in value ? value.name.value : '', name.value] as const);
  let coerced: object | undefined; // with names for texts: those of a client are not kept
  return (variables) => {
    if (!texts.every(([variable]) => isText(variables[variable]))) return getArgumentValues(field, node, variables);
    coerced ??= getArgumentValues(field, node, Object.fromEntries(texts));
    const values: Record<string, unknown> = { ...coerced };
    for (const [variable, name] of texts) values[name] = variables[variable];
    return values;
  };
}

/** The arguments; undefined if they are wrong, which the executor reports. */
export function argumentsIfValid<Args extends object>(
  args: (variables: Variables) => object,
  variables: Variables,
): Args | undefined {
  try {
    return args(variables) as Args;
  } catch {
    return undefined;
  }
}

export type CoercedVariables =
  { coerced: Record<string, unknown>; errors?: never } | { errors: readonly GraphQLError[]; coerced?: never };

/** A message of graphql-js contains the value, which the client has: the beginning of each text in it is enough, and both ends of the whole. */
const shortMessage = (message: string): string =>
  message.replace(/"([^"]{100})[^"]+"/gu, '"$1…"').replace(/^(.{250}).+(.{250})$/su, '$1…$2');

/** A function that coerces the variables of one operation. */
export function variablesOf(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: Pick<OperationDefinitionNode, 'variableDefinitions'>,
  options: { maxErrors: number; hideSuggestions: boolean },
): (given: Variables) => CoercedVariables {
  const names = variableDefinitions.map(({ variable }) => variable.name.value);
  const areTexts = variableDefinitions.every(({ type }) => /^(?:ID|String)!?$/.test(print(type)));
  return (given) => {
    // A query by an id takes 50 µs: graphql-js would take 0.8 of them to find that a text is one.
    const isEachText = areTexts && names.every((name) => Object.hasOwn(given, name) && isText(given[name]));
    if (isEachText && Object.keys(given).length === names.length) return { coerced: { ...given } };
    const { coerced, errors } = getVariableValues(schema, variableDefinitions, given, options);
    return errors ? { errors: errors.map(shortened) } : { coerced };
  };
}

const shortened = ({ message, nodes, extensions }: GraphQLError): GraphQLError =>
  new GraphQLError(shortMessage(message), { nodes: nodes ?? null, extensions });

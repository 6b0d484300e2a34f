/**
 * Arguments and variables, coerced as graphql-js does it, with errors whose size does not depend on the input. Values that need no coercion
 * are used as they are.
 */
import {
  type FieldNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
  type GraphQLType,
  type OperationDefinitionNode,
  type VariableDefinitionNode,
  coerceInputValue,
  getArgumentValues,
  isNonNullType,
  typeFromAST,
  valueFromAST,
} from 'graphql';
import { shownMessage, shownText, shownValue } from '../errors/shown-value.ts';
import { type Variables, hasVariables } from './document.ts';

export const isText = (value: unknown): boolean => typeof value === 'string';
const checks = new Map<string, (value: unknown) => boolean>([
  ['ID', isText],
  ['String', isText],
  ['Int', (value) => typeof value === 'number' && (value | 0) === value],
  ['Float', (value) => typeof value === 'number' && Number.isFinite(value)],
  ['Boolean', (value) => typeof value === 'boolean'],
]);

/** A check whether a value of this type needs no coercion; undefined if none may do without. */
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

/** The arguments as graphql-js coerces them; computed once if they contain no variable. */
function coercedArguments(field: GraphQLField<unknown, unknown>, node: FieldNode): (variables: Variables) => object {
  if (field.args.length === 0) return () => noArguments;
  if (hasVariables(node)) return (variables) => getArgumentValues(field, node, { ...variables });
  let constant: object | undefined;
  return () => (constant ??= getArgumentValues(field, node, {}));
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

export const noArguments: object = Object.freeze({});

export type CoercedVariables =
  { coerced: Record<string, unknown>; errors?: never } | { errors: readonly GraphQLError[]; coerced?: never };

interface CoercionOptions {
  maxErrors: number;
  hideSuggestions: boolean;
}

/** Thrown to end a coercion at `maxErrors`. */
class TooManyErrors extends Error {}

/** A variable of an operation. */
interface Variable {
  definition: VariableDefinitionNode;
  name: string;
  type: GraphQLInputType;
  /** Whether a value needs no coercion. */
  isPlain: ((value: unknown) => boolean) | undefined;
}

/** A function that coerces the variables of one operation. */
export function variablesOf(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: Pick<OperationDefinitionNode, 'variableDefinitions'>,
  options: CoercionOptions,
): (given: Variables) => CoercedVariables {
  const variables = variableDefinitions.map((definition): Variable => {
    const type = typeFromAST(schema, definition.type) as GraphQLInputType;
    return { definition, name: definition.variable.name.value, type, isPlain: plainlyOf(type) };
  });
  // In other objects this name would set the prototype.
  const hasProtoName = variables.some(({ name }) => name === '__proto__');
  return (given) => {
    const coerced = (hasProtoName ? Object.create(null) : {}) as Record<string, unknown>;
    const errors: GraphQLError[] = [];
    try {
      for (const variable of variables) {
        const { name, isPlain } = variable;
        if (Object.hasOwn(given, name) && isPlain?.(given[name])) coerced[name] = given[name];
        else coerce(variable, given, coerced, errors, options);
      }
    } catch (error) {
      if (!(error instanceof TooManyErrors)) throw error;
      errors.push(new GraphQLError('Too many errors processing variables, error limit reached. Execution aborted.'));
    }
    return errors.length > 0 ? { errors } : { coerced };
  };
}

/** Coerces a variable that has a value which is not plain, or none. */
function coerce(
  { definition, name, type }: Variable,
  given: Variables,
  coerced: Record<string, unknown>,
  errors: GraphQLError[],
  { maxErrors, hideSuggestions }: CoercionOptions,
): void {
  const add = (error: GraphQLError) => {
    if (errors.length === maxErrors) throw new TooManyErrors();
    errors.push(error);
  };
  // Each unknown member is an error of the same object: print that object once.
  let last: { value: unknown; shown: string } | undefined;
  const onError = (path: readonly (string | number)[], value: unknown, originalError: GraphQLError) => {
    const at = path.length > 0 ? ` at "${name}${path.map(shownKey).join('')}"` : '';
    if (!last || last.value !== value) last = { value, shown: shownValue(value) };
    const message = `Variable "$${name}" got invalid value ${last.shown}${at}; ${shownMessage(originalError.message, value)}`;
    add(new GraphQLError(message, { nodes: definition, originalError }));
  };
  const isGiven = Object.hasOwn(given, name);
  const missing = isGiven ? given[name] === null && 'null' : !definition.defaultValue && 'absent';
  if (missing && isNonNullType(type)) add(notGiven(definition, name, type, missing));
  else if (isGiven) coerced[name] = coerceInputValue(given[name], type, onError, hideSuggestions);
  else if (definition.defaultValue) coerced[name] = valueFromAST(definition.defaultValue, type);
}

const notGiven = (nodes: VariableDefinitionNode, name: string, type: GraphQLInputType, missing: 'null' | 'absent') =>
  new GraphQLError(
    missing === 'null'
      ? `Variable "$${name}" of non-null type "${String(type)}" must not be null.`
      : `Variable "$${name}" of required type "${String(type)}" was not provided.`,
    { nodes },
  );

const shownKey = (key: string | number): string => (typeof key === 'number' ? `[${key}]` : `.${shownText(key)}`);

/** Coerces variables as graphql-js does, with errors whose size does not depend on the input. */
import {
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  type VariableDefinitionNode,
  coerceInputValue,
  isInputType,
  isNonNullType,
  typeFromAST,
  valueFromAST,
} from 'graphql';
import type { Variables } from './document.ts';
import { shownMessage, shownText, shownValue } from '../errors/shown-value.ts';

export type CoercedVariables =
  { coerced: Record<string, unknown>; errors?: never } | { errors: readonly GraphQLError[]; coerced?: never };

export interface CoercionOptions {
  maxErrors: number;
  hideSuggestions: boolean;
}

/** Thrown to end a coercion at `maxErrors`. */
class TooManyErrors extends Error {}

export function coerceVariables(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
  given: Variables,
  { maxErrors, hideSuggestions }: CoercionOptions,
): CoercedVariables {
  const errors: GraphQLError[] = [];
  const coerced = Object.create(null) as Record<string, unknown>;
  const add = (error: GraphQLError) => {
    if (errors.length === maxErrors) throw new TooManyErrors();
    errors.push(error);
  };
  try {
    for (const definition of definitions) {
      const name = definition.variable.name.value;
      const type = typeFromAST(schema, definition.type);
      if (!isInputType(type)) throw new Error(`Variable $${name} is of no input type: the document was not validated.`);
      const isGiven = Object.hasOwn(given, name);
      const missing = isGiven ? given[name] === null && 'null' : !definition.defaultValue && 'absent';
      if (missing && isNonNullType(type)) add(notGiven(definition, name, type, missing));
      else if (isGiven) coerced[name] = coerceInputValue(given[name], type, onError(definition, name), hideSuggestions);
      else if (definition.defaultValue) coerced[name] = valueFromAST(definition.defaultValue, type);
    }
  } catch (error) {
    if (!(error instanceof TooManyErrors)) throw error;
    errors.push(new GraphQLError('Too many errors processing variables, error limit reached. Execution aborted.'));
  }
  return errors.length > 0 ? { errors } : { coerced };

  function onError(definition: VariableDefinitionNode, name: string) {
    // Each unknown member is an error of the same object: print that object once.
    let last: { value: unknown; shown: string } | undefined;
    return (path: readonly (string | number)[], value: unknown, error: GraphQLError) => {
      const at = path.length > 0 ? ` at "${name}${path.map(shownKey).join('')}"` : '';
      const message = shownMessage(error.message, value);
      if (!last || last.value !== value) last = { value, shown: shownValue(value) };
      add(
        new GraphQLError(`Variable "$${name}" got invalid value ${last.shown}${at}; ${message}`, {
          nodes: definition,
          originalError: error,
        }),
      );
    };
  }
}

const notGiven = (nodes: VariableDefinitionNode, name: string, type: GraphQLInputType, missing: 'null' | 'absent') =>
  new GraphQLError(
    missing === 'null'
      ? `Variable "$${name}" of non-null type "${String(type)}" must not be null.`
      : `Variable "$${name}" of required type "${String(type)}" was not provided.`,
    { nodes },
  );

const shownKey = (key: string | number): string => (typeof key === 'number' ? `[${key}]` : `.${shownText(key)}`);

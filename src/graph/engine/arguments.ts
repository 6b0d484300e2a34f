/**
 * Variables and arguments as graphql-js coerces them. What is plainly what it should be is taken as it is; anything else is left to
 * graphql-js, which knows what to make of it and what to say.
 */
import {
  type FieldNode,
  type GraphQLField,
  type GraphQLSchema,
  type GraphQLType,
  type OperationDefinitionNode,
  getArgumentValues,
  isNonNullType,
  typeFromAST,
  valueFromAST,
} from 'graphql';
import { shallowCopy } from '../../lib/objects.ts';
import { type Variables, hasVariable, hasVariables } from './document.ts';
import { type CoercedVariables, type CoercionOptions, coerceVariables } from './variables.ts';

const isText = (value: unknown): boolean => typeof value === 'string';
const checks = new Map<string, (value: unknown) => boolean>([
  ['ID', isText],
  ['String', isText],
  ['Int', (value) => typeof value === 'number' && (value | 0) === value],
  ['Float', (value) => typeof value === 'number' && Number.isFinite(value)],
  ['Boolean', (value) => typeof value === 'boolean'],
]);

const isNeverPlain = (): boolean => false;

/** Whether a value is plainly of the type, a built-in scalar: one that comes as it stays. Of no other type is it known. */
export const plainlyOf = (type: GraphQLType | undefined): ((value: unknown) => boolean) =>
  checks.get(String(isNonNullType(type) ? type.ofType : type)) ?? isNeverPlain;

/** Coerces the variables of one operation. */
export function variablesOf(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  options: CoercionOptions,
): (given: Variables) => CoercedVariables {
  if (variableDefinitions.length === 0) return () => noVariables;
  const known = variableDefinitions.map(({ variable, type }) => ({
    name: variable.name.value,
    isPlain: plainlyOf(typeFromAST(schema, type)),
  }));
  return (given) => {
    const coerced: Record<string, unknown> = {};
    for (const { name, isPlain } of known) {
      if (!Object.hasOwn(given, name) || !isPlain(given[name]) || name === '__proto__')
        return coerceVariables(schema, variableDefinitions, given, options);
      coerced[name] = given[name];
    }
    return { coerced };
  };
}
const noVariables: CoercedVariables = Object.freeze({ coerced: Object.freeze({}) });

/** The arguments of one field; worked out once where no variable is in them. */
export function argumentsOf(field: GraphQLField<unknown, unknown>, node: FieldNode): (variables: Variables) => object {
  if (field.args.length === 0) return () => noArguments;
  if (!hasVariables(node)) {
    let constant: object | undefined;
    return () => (constant ??= getArgumentValues(field, node, {}));
  }
  const byReference = (variables: Variables) => getArgumentValues(field, node, { ...variables });
  const parts = partsOf(field, node);
  if (!parts) return byReference;
  const { constants, taken } = parts;
  return (variables) => {
    const values = shallowCopy(constants);
    for (const [name, variable] of taken) {
      const value = variables[variable];
      if (value === null || value === undefined || !Object.hasOwn(variables, variable)) return byReference(variables);
      values[name] = value;
    }
    return values;
  };
}
const noArguments: object = Object.freeze({});

/** What of the arguments never changes, and what is a variable; undefined where a variable is within a value. */
function partsOf({ args }: GraphQLField<unknown, unknown>, node: FieldNode) {
  const constants: Record<string, unknown> = {};
  const taken: [name: string, variable: string][] = [];
  for (const { name, type, defaultValue } of args) {
    const given = node.arguments?.find((argument) => argument.name.value === name)?.value;
    if (given?.kind === 'Variable') taken.push([name, given.name.value]);
    else if (!given) {
      if (defaultValue !== undefined) constants[name] = defaultValue;
      else if (isNonNullType(type)) return undefined;
    } else {
      const value = hasVariable(given) ? undefined : valueFromAST(given, type);
      if (value === undefined) return undefined;
      constants[name] = value;
    }
  }
  return { constants, taken };
}

/** Arguments, coerced as graphql-js does it. Values that need no coercion are used as they are; graphql-js coerces the others. */
import {
  type FieldNode,
  type GraphQLField,
  type GraphQLType,
  getArgumentValues,
  isNonNullType,
  valueFromAST,
} from 'graphql';
import { shallowCopy } from '../../lib/objects.ts';
import { type Variables, hasVariable, hasVariables } from './document.ts';

const isText = (value: unknown): boolean => typeof value === 'string';
const checks = new Map<string, (value: unknown) => boolean>([
  ['ID', isText],
  ['String', isText],
  ['Int', (value) => typeof value === 'number' && (value | 0) === value],
  ['Float', (value) => typeof value === 'number' && Number.isFinite(value)],
  ['Boolean', (value) => typeof value === 'boolean'],
]);

const isNeverPlain = (): boolean => false;

/** A check whether a value of this type needs no coercion. Never true for types other than the built-in scalars. */
export const plainlyOf = (type: GraphQLType | undefined): ((value: unknown) => boolean) =>
  checks.get(String(isNonNullType(type) ? type.ofType : type)) ?? isNeverPlain;

/** The arguments of one field; computed once if they contain no variable. */
export function argumentsOf(field: GraphQLField<unknown, unknown>, node: FieldNode): (variables: Variables) => object {
  if (field.args.length === 0) return () => noArguments;
  if (!hasVariables(node)) {
    let constant: object | undefined;
    return () => (constant ??= getArgumentValues(field, node, {}));
  }
  const byReference = (variables: Variables) => getArgumentValues(field, node, { ...variables });
  const parts = partsOf(field, node);
  if (!parts) return byReference;
  const { constants, variableArgs } = parts;
  return (variables) => {
    const values = shallowCopy(constants);
    for (const [name, variable] of variableArgs) {
      const value = variables[variable];
      if (value === null || value === undefined || !Object.hasOwn(variables, variable)) return byReference(variables);
      values[name] = value;
    }
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

const noArguments: object = Object.freeze({});

/** The constant arguments and the variables; undefined if a value contains a variable. */
function partsOf({ args }: GraphQLField<unknown, unknown>, node: FieldNode) {
  const constants: Record<string, unknown> = {};
  const variableArgs: [name: string, variable: string][] = [];
  for (const { name, type, defaultValue } of args) {
    const given = node.arguments?.find((argument) => argument.name.value === name)?.value;
    if (given?.kind === 'Variable') variableArgs.push([name, given.name.value]);
    else if (!given) {
      if (defaultValue !== undefined) constants[name] = defaultValue;
      else if (isNonNullType(type)) return undefined;
    } else {
      const value = hasVariable(given) ? undefined : valueFromAST(given, type);
      if (value === undefined) return undefined;
      constants[name] = value;
    }
  }
  return { constants, variableArgs };
}

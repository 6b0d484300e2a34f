import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  type OperationDefinitionNode,
  execute,
  valueFromASTUntyped,
} from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import type { Context } from '../graph/builder.ts';
import type { Variables } from '../graph/document.ts';

/** Runs one operation of one document. */
export type Run = (context: Context, variables: Variables | undefined) => ExecutionResult | Promise<ExecutionResult>;

/**
 * The executor of a document: graphql-js, and from the second sight of a query on, the same compiled.
 *
 * graphql-js is the reference, and what mutations run by: in series is a promise that compiled code does not make.
 */
export function createRun(schema: GraphQLSchema, document: DocumentNode, definition: OperationDefinitionNode): Run {
  const { operation, name } = definition;
  const operationName = name?.value;
  const reference: Run = (contextValue, variableValues) =>
    execute({ schema, document, operationName, contextValue, variableValues });
  if (operation !== 'query') return reference;

  const defaults = defaultsOf(definition);
  let seen = 0;
  let compiled: Run | undefined;
  return (context, variables) => {
    if (compiled) return compiled(context, variables);
    if (++seen < 2) return reference(context, variables);
    compiled = compile() ?? reference;
    return compiled(context, variables);
  };

  /** Undefined for what cannot be compiled: the reference goes on. */
  function compile(): Run | undefined {
    let program;
    try {
      program = compileQuery(schema, document, operationName);
    } catch {
      return undefined;
    }
    if (!isCompiledQuery(program)) return undefined;
    return (context, variables) =>
      program.query(undefined, context, defaults ? { ...defaults, ...variables } : (variables ?? {}));
  }
}

/** Compiled code refuses a required variable whose default should stand in: so the defaults are given to it. */
function defaultsOf({ variableDefinitions = [] }: OperationDefinitionNode): Variables | undefined {
  const given = variableDefinitions.flatMap(({ variable, defaultValue }) =>
    defaultValue ? [[variable.name.value, valueFromASTUntyped(defaultValue)] as const] : [],
  );
  return given.length ? Object.fromEntries(given) : undefined;
}

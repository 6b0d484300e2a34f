import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  type OperationDefinitionNode,
  execute,
} from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import type { Context } from '../graph/builder.ts';
import type { Variables } from '../graph/plan.ts';

/** Runs one operation of one document. */
export type Run = (context: Context, variables: Variables | undefined) => ExecutionResult | Promise<ExecutionResult>;

/**
 * The executor of a document: graphql-js, and from the second sight of a query on, the same compiled.
 *
 * graphql-js is the reference, and what mutations run by: in series is a promise that compiled code does not make.
 */
export function createRun(
  schema: GraphQLSchema,
  document: DocumentNode,
  { operation, name }: OperationDefinitionNode,
): Run {
  const operationName = name?.value;
  const reference: Run = (contextValue, variableValues) =>
    execute({ schema, document, operationName, contextValue, variableValues });
  if (operation !== 'query') return reference;

  let seen = 0;
  let compiled: Run | undefined;
  return (context, variables) => {
    if (compiled) return compiled(context, variables);
    if (++seen < 2) return reference(context, variables);
    compiled = compile() ?? reference;
    return compiled(context, variables);
  };

  function compile(): Run | undefined {
    const program = compileQuery(schema, document, operationName);
    return isCompiledQuery(program)
      ? (context, variables) => program.query(undefined, context, variables ?? {})
      : undefined;
  }
}

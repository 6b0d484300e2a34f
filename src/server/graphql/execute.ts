import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  type OperationDefinitionNode,
  execute,
} from 'graphql';
import { limitResponse } from '../../graph/engine/response-size.ts';
import type { Context } from '../../graph/engine/builder.ts';
import type { Variables } from '../../graph/engine/document.ts';
import { type Execute, createExecutor } from '../../graph/engine/executor.ts';
import type { OperationPlan } from '../../graph/engine/operation-plan.ts';

/** Runs one operation of one document: with the variables as they came, and as they were coerced. */
export type ExecuteDocument = (
  context: Context,
  variables: Variables | undefined,
  coerced: Variables,
) => ExecutionResult | Promise<ExecutionResult>;

/** By its plan where that can be run, else by graphql-js: the reference, which a test may ask for always. */
export function createExecuteDocument(
  schema: GraphQLSchema,
  document: DocumentNode,
  { operation, name }: OperationDefinitionNode,
  byReference = false,
): ExecuteDocument {
  const operationName = name?.value;
  const reference: ExecuteDocument = (contextValue, variableValues) => {
    const result = execute({ schema, document, operationName, contextValue, variableValues });
    const { responseLimits } = contextValue;
    return result instanceof Promise
      ? result.then((came) => limitResponse(came, responseLimits))
      : limitResponse(result, responseLimits);
  };
  if (operation !== 'query' || byReference) return reference;

  const executes = new WeakMap<OperationPlan, Execute | 'reference'>();
  return (context, variables, coerced) => {
    let run = executes.get(context.plan);
    if (!run) executes.set(context.plan, (run = createExecutor(schema, context.plan) ?? 'reference'));
    return run === 'reference' ? reference(context, variables, coerced) : run(context, coerced);
  };
}

import { type DocumentNode, type ExecutionResult, type GraphQLSchema, execute } from 'graphql';
import { limitResponse } from '../../graph/engine/response-size.ts';
import type { Context } from '../../graph/engine/builder.ts';
import type { Variables } from '../../graph/engine/document.ts';
import { createExecutor } from '../../graph/engine/executor.ts';
import type { OperationPlan } from '../../graph/engine/operation-plan.ts';
import { oncePer } from '../../lib/remember.ts';

/** Executes one operation of one document. `variables` are those of the request; `coerced` have their types and defaults. */
export type ExecuteDocument = (
  context: Context,
  variables: Variables | undefined,
  coerced: Variables,
) => ExecutionResult | Promise<ExecutionResult>;

/** Executes the plan, or in tests the document by graphql-js, which is the reference. */
export function createExecuteDocument(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | undefined,
  useReference = false,
): ExecuteDocument {
  if (useReference)
    return async (contextValue, variableValues) => {
      const result = await execute({ schema, document, operationName, contextValue, variableValues });
      return limitResponse(result, contextValue.responseLimits);
    };
  const executorOf = oncePer((plan: OperationPlan) => createExecutor(schema, plan));
  return (context, _, coerced) => executorOf(context.plan)(context, coerced);
}

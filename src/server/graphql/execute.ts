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

/** Executes one operation of one document. `variables` are those of the request; `coerced` have their types and defaults. */
export type ExecuteDocument = (
  context: Context,
  variables: Variables | undefined,
  coerced: Variables,
) => ExecutionResult | Promise<ExecutionResult>;

/** Executes the plan if the executor supports it, else the document by graphql-js. Tests use graphql-js as the reference. */
export function createExecuteDocument(
  schema: GraphQLSchema,
  document: DocumentNode,
  { operation, name }: OperationDefinitionNode,
  useReference = false,
): ExecuteDocument {
  const operationName = name?.value;
  const reference: ExecuteDocument = (contextValue, variableValues) => {
    const result = execute({ schema, document, operationName, contextValue, variableValues });
    const { responseLimits } = contextValue;
    return result instanceof Promise
      ? result.then((completed) => limitResponse(completed, responseLimits))
      : limitResponse(result, responseLimits);
  };
  if (useReference) return reference;

  const executes = new WeakMap<OperationPlan, Execute | 'reference'>();
  return (context, variables, coerced) => {
    if (operation !== 'query' && !context.onError) return reference(context, variables, coerced);
    let run = executes.get(context.plan);
    if (!run) executes.set(context.plan, (run = createExecutor(schema, context.plan) ?? 'reference'));
    return run === 'reference' ? reference(context, variables, coerced) : run(context, coerced);
  };
}

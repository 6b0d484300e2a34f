/**
 * The tracing channels of graphql-js 17, on which agents that monitor applications see operations. graphql-js 16 has none, and the executor
 * is our own, so the same is published here: names, order of events and members are those of `diagnostics.ts` in graphql-js. Nothing is
 * published without a subscriber. There are no subscriptions, and no events of single fields.
 */
import { tracingChannel } from 'node:diagnostics_channel';
import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLError,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type ParseOptions,
  type Source,
  type ValidationRule,
  parse,
  validate,
} from 'graphql';
import { isPromise } from '../../lib/promises.ts';

interface Traced<Result> {
  result?: Result;
  error?: unknown;
}
interface ParseContext extends Traced<DocumentNode> {
  source: string | Source;
}
interface ValidateContext extends Traced<readonly GraphQLError[]> {
  schema: GraphQLSchema;
  document: DocumentNode;
}
interface ExecuteContext extends Traced<ExecutionResult> {
  schema: GraphQLSchema;
  document: DocumentNode;
  rawVariableValues: Readonly<Record<string, unknown>> | undefined;
  operationName: string | undefined;
  operationType: string;
}

const parseChannel = tracingChannel<unknown, ParseContext>('graphql:parse');
const validateChannel = tracingChannel<unknown, ValidateContext>('graphql:validate');
export const executeChannel = tracingChannel<unknown, ExecuteContext>('graphql:execute');

export const tracedParse = (source: string, options: ParseOptions): DocumentNode =>
  parseChannel.hasSubscribers
    ? parseChannel.traceSync(() => parse(source, options), { source })
    : parse(source, options);

export function tracedValidate(
  schema: GraphQLSchema,
  document: DocumentNode,
  rules: readonly ValidationRule[],
  options: Parameters<typeof validate>[3],
): readonly GraphQLError[] {
  const run = () => validate(schema, document, rules, options);
  return validateChannel.hasSubscribers ? validateChannel.traceSync(run, { schema, document }) : run();
}

/** Publishes the events of an execution, which may be synchronous. A result in parts is not shown. */
export function traceExecution<Result extends object>(
  schema: GraphQLSchema,
  { document, operation }: { document: DocumentNode; operation: OperationDefinitionNode },
  rawVariableValues: Readonly<Record<string, unknown>> | undefined,
  run: () => Result | Promise<Result>,
): Result | Promise<Result> {
  const { name, operation: operationType } = operation;
  const context: ExecuteContext = { schema, document, rawVariableValues, operationName: name?.value, operationType };
  const { start, end, asyncStart, asyncEnd, error } = executeChannel;
  const settle = (result: Result): Result => {
    if (!(Symbol.asyncIterator in result)) context.result = result;
    return result;
  };
  const fail = (cause: unknown): never => {
    context.error = cause;
    error.publish(context);
    throw cause;
  };
  const endAsync = (): void => {
    asyncStart.publish(context);
    asyncEnd.publish(context);
  };
  return start.runStores(context, () => {
    try {
      const result = run();
      if (isPromise(result)) return result.then(settle, fail).finally(endAsync);
      return settle(result);
    } catch (cause) {
      return fail(cause);
    } finally {
      end.publish(context);
    }
  });
}

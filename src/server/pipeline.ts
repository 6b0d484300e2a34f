import {
  execute,
  getOperationAST,
  GraphQLError,
  NoSchemaIntrospectionCustomRule,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import type { DocumentNode, ExecutionResult, GraphQLSchema, OperationTypeNode } from 'graphql';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { Metrics } from './metrics.ts';

/** A document made ready once; what is wrong with it is told instead of running it. */
export interface Prepared {
  /** Absent where the text could not be parsed. */
  document: DocumentNode | undefined;
  operation: OperationTypeNode | undefined;
  operationName: string | undefined;
  errors: readonly GraphQLError[] | undefined;
}

/** Who asks, as far as the request tells. */
export interface Caller {
  authorization: string | undefined;
  /** The x-explain header. */
  explain: string | undefined;
  address: string;
  requestId: string;
}

export interface Pipeline {
  prepare(text: string, operationName: string | undefined): Prepared;
  answer(
    prepared: Prepared,
    variables: Readonly<Record<string, unknown>> | undefined,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<ExecutionResult>;
}

export interface PipelineParts<Upstream = unknown> {
  schema: GraphQLSchema;
  config: Config;
  upstream: Upstream;
  log: Logger;
  metrics: Metrics;
}

/** What both doors call: nothing of ours happens to an operation outside these two functions. */
export function createPipeline({ schema, config, upstream, log, metrics }: PipelineParts): Pipeline {
  const rules = config.introspection ? specifiedRules : [...specifiedRules, NoSchemaIntrospectionCustomRule];
  const operations = metrics.counter('catalog_operations_total', 'Operations by type and outcome.');
  const errorCodes = metrics.counter('catalog_errors_total', 'Errors in answers by code.');
  const durations = metrics.histogram(
    'catalog_operation_seconds',
    'Time an operation took, by type.',
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
  );

  const count = (type: string, errors: readonly GraphQLError[] | undefined) => {
    for (const error of errors ?? []) errorCodes.add({ code: codeOf(error) });
    operations.add({ type, outcome: errors ? 'errors' : 'ok' });
  };

  return {
    prepare(text, operationName) {
      const failed = (document: DocumentNode | undefined, errors: readonly GraphQLError[]) => {
        count('none', errors);
        return { document, operation: undefined, operationName, errors };
      };
      let document: DocumentNode;
      try {
        document = parse(text, { maxTokens: config.maxTokens });
      } catch (error) {
        return failed(undefined, [coded(error as GraphQLError, 'GRAPHQL_PARSE_FAILED')]);
      }
      const errors = validate(schema, document, rules);
      if (errors.length > 0) {
        return failed(
          document,
          errors.map((error) => coded(error, 'GRAPHQL_VALIDATION_FAILED')),
        );
      }
      const operation = getOperationAST(document, operationName)?.operation;
      return { document, operation, operationName, errors: undefined };
    },

    async answer({ document, errors, operation, operationName }, variables, caller, signal) {
      const started = performance.now();
      const type = operation ?? 'none';
      const tell = (result: ExecutionResult) => {
        count(type, result.errors);
        durations.observe((performance.now() - started) / 1000, { type });
        return result;
      };
      if (!document || errors) return { errors: errors ?? [] };
      try {
        const contextValue = { caller, upstream, signal };
        return tell(await execute({ schema, document, variableValues: variables, operationName, contextValue }));
      } catch (error) {
        log.error({ err: error, requestId: caller.requestId }, 'an operation failed');
        const extensions = { code: 'INTERNAL_SERVER_ERROR', requestId: caller.requestId };
        return tell({ errors: [new GraphQLError('Something went wrong.', { extensions })] });
      }
    },
  };
}

function codeOf({ extensions }: GraphQLError): string {
  return typeof extensions.code === 'string' ? extensions.code : 'INTERNAL_SERVER_ERROR';
}

function coded(error: GraphQLError, code: string): GraphQLError {
  Object.assign(error.extensions, { code });
  return error;
}

/** The pipeline of every operation, on the fast path and through Yoga alike: prepare a document, then run an operation. */
import { type ExecutionResult, OperationTypeNode } from 'graphql';
import type { Variables } from '../../graph/plan/document.ts';
import type { CancellationToken } from '../../lib/cancellation.ts';
import type { Admission } from '../http/connections/admission.ts';
import type { BodyReader } from '../http/request/body.ts';
import type { Metrics } from '../observability/metrics.ts';
import { createOperationObserver } from '../observability/operations.ts';
import type { Tracing } from '../observability/tracing.ts';
import { type Prepared, createPrepare } from './prepare.ts';
import type { OperationRequest } from './request.ts';
import { type Result, type RunParts, createRunOperation } from './run-operation.ts';

export type Pipeline = ReturnType<typeof createPipeline>;

interface PipelineParts extends RunParts {
  metrics: Metrics;
  tracing?: Tracing | undefined;
  /** Names of operations that metrics may use as labels. */
  operationNames?: ReadonlySet<string> | undefined;
}

/** What the routes of GraphQL and MCP are made of. */
export interface RouteParts extends PipelineParts {
  pipeline: Pipeline;
  bodies: BodyReader;
  admission: Admission;
}

export function createPipeline(parts: PipelineParts) {
  const { schema, config, metrics, tracing, operationNames } = parts;
  const prepare = createPrepare(schema, config);
  const run = createRunOperation(parts);
  const cacheHits = metrics.tally(metrics.responseCacheHits);
  const observer = createOperationObserver(metrics, tracing, operationNames);

  return {
    prepare(text: string, operationName: string | undefined): Prepared {
      const prepared = prepare(text, operationName);
      if (prepared.errors) observer.invalidDocument(prepared.errors);
      return prepared;
    },

    async answer(
      { ready, errors }: Prepared,
      variables: Variables | undefined,
      request: OperationRequest,
      cancellation: CancellationToken,
    ): Promise<Result> {
      if (!ready) return { errors };
      const { operation: type, name } = ready.operation;
      const startedAt = performance.now();
      const span = (request.span = observer.start(type, request.parentSpan, startedAt));
      const end = (found: ExecutionResult['errors']) =>
        observer.end({ type, name: name?.value, startedAt, span }, found);
      try {
        const result = await run(ready, variables, request, cancellation, end);
        if (!(Symbol.asyncIterator in result)) end(result.errors);
        return result;
      } catch (error) {
        span?.span.end();
        throw error;
      }
    },

    /** Counts a query that was served from the response cache. */
    countCacheHit({ parentSpan }: OperationRequest, name: string | undefined, startedAt: number): void {
      cacheHits.inc();
      const type = OperationTypeNode.QUERY;
      observer.end({ type, name, startedAt, span: observer.start(type, parentSpan, startedAt) }, undefined);
    },
  };
}

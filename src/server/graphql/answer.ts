/** The pipeline that every operation passes, on the fast path and through Yoga alike: prepare a document, then answer an operation. */
import { type GraphQLError, OperationTypeNode } from 'graphql';
import { type CancellationToken, addListener, cancel } from '../../lib/cancellation.ts';
import { type Deadline, createDeadlineQueue } from '../../lib/deadlines.ts';
import type { Metrics } from '../observability/metrics.ts';
import { createOperationObserver } from '../observability/operations.ts';
import type { Tracing } from '../observability/tracing.ts';
import { type Prepared, createPreparation } from './prepare.ts';
import type { OperationRequest } from './request.ts';
import { type Result, type RunParts, createRunOperation } from './run-operation.ts';

export interface Pipeline {
  prepare(text: string, operationName: string | undefined): Prepared;
  answer(
    prepared: Prepared,
    variables: Readonly<Record<string, unknown>> | undefined,
    request: OperationRequest,
    cancellation: CancellationToken,
  ): Promise<Result>;
  /** Operations with a running deadline. */
  running: () => number;
  /** Counts a query that was answered from the response cache. */
  countCacheHit(request: Pick<OperationRequest, 'parentSpan'>, name: string | undefined, startedAt: number): void;
}

interface PipelineParts extends RunParts {
  metrics: Metrics;
  tracing?: Tracing | undefined;
  /** Names of operations that metrics may use as labels. */
  operationNames?: ReadonlySet<string> | undefined;
  /** Executes everything by graphql-js, for comparison. */
  useReferenceExecutor?: boolean | undefined;
}

export function createPipeline(parts: PipelineParts): Pipeline {
  const { schema, config, metrics, tracing, operationNames, useReferenceExecutor } = parts;
  const { prepare } = createPreparation(schema, config, useReferenceExecutor);
  const run = createRunOperation(parts);
  const observer = createOperationObserver(metrics, tracing, operationNames);
  const deadlines = createDeadlineQueue(config.operationTimeoutMs);
  const uploadDeadlines = createDeadlineQueue(config.uploadTimeoutMs);

  return {
    prepare(text, operationName) {
      const prepared = prepare(text, operationName);
      if (prepared.errors) observer.invalidDocument(prepared.errors);
      return prepared;
    },

    async answer({ ready, errors: documentErrors }, variables, request, cancellation) {
      if (!ready) return { errors: documentErrors ?? [] };
      const { operation: type, name } = ready.operation;
      const startedAt = performance.now();
      const span = (request.span = observer.start(type, request.parentSpan, startedAt));
      const stopDeadline = startDeadline(request, cancellation);
      let result: Result;
      let errors: readonly GraphQLError[] | undefined;
      try {
        result = await run(ready, variables, request, cancellation);
        if (Symbol.asyncIterator in result) {
          // A client that has left may never begin to read the parts.
          addListener(cancellation, { onCancel: stopDeadline });
          result = whenDone(result, stopDeadline);
        } else {
          stopDeadline();
          ({ errors } = result);
        }
      } catch (error) {
        stopDeadline();
        span?.span.end();
        throw error;
      }
      observer.end({ type, name: name?.value, startedAt, span }, errors);
      return result;
    },

    running: () => deadlines.size() + uploadDeadlines.size(),

    countCacheHit({ parentSpan }, name, startedAt) {
      metrics.responseCacheHits.inc();
      const type = OperationTypeNode.QUERY;
      observer.end({ type, name, startedAt, span: observer.start(type, parentSpan, startedAt) }, undefined);
    },
  };

  /** Cancels the operation at its deadline, which counts from the last byte of an upload. Returns a function that stops the deadline. */
  function startDeadline({ uploadEnd }: OperationRequest, cancellation: CancellationToken): () => void {
    const listener = { onDeadline: () => cancel(cancellation, new Error('The operation took too long.')) };
    if (!uploadEnd) {
      const deadline = deadlines.start(listener);
      return () => deadlines.stop(deadline);
    }
    let deadline: Deadline | undefined;
    let isStopped = false;
    void uploadEnd.then(() => {
      if (!isStopped) deadline = uploadDeadlines.start(listener);
    });
    return () => {
      isStopped = true;
      if (deadline) uploadDeadlines.stop(deadline);
    };
  }
}

async function* whenDone<T>(items: AsyncIterable<T>, done: () => void): AsyncGenerator<T> {
  try {
    yield* items;
  } finally {
    done();
  }
}

/** What both doors call: nothing of ours happens to an operation outside `prepare` and `answer`. */
import {
  type ExecutionResult,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  OperationTypeNode,
} from 'graphql';
import type { Logger } from 'pino';
import type { Config } from '../../config/settings.ts';
import { responseTooLarge, isFull, limitResponse, measure, roomFor } from '../../graph/engine/response-size.ts';
import type { Context } from '../../graph/engine/builder.ts';
import { worstCaseOf } from '../../graph/engine/call-cost.ts';
import { callRangeOf } from '../../graph/engine/call-range.ts';
import type { Variables } from '../../graph/engine/document.ts';
import type { OperationPlan } from '../../graph/engine/operation-plan.ts';
import { type Deadline, createDeadlineQueue } from '../../lib/deadlines.ts';
import { type CancellationToken, cancel, addListener } from '../../lib/cancellation.ts';
import type { CachePolicy } from '../../upstream/cache/cache-policy.ts';
import type { Span } from '../../upstream/trace-context.ts';
import { type LoggedCall, responsePath, describeCall } from '../../upstream/call-log.ts';
import type { Operation } from '../../upstream/operation.ts';
import type { UpstreamClient } from '../../upstream/client.ts';
import { incrementalDeliveryNotAccepted, acceptsIncrementalDelivery } from '../http/accept.ts';
import { type IncrementalResult, mergeableOnly } from './incremental-delivery.ts';
import { variablesLimit } from './limits.ts';
import { maskErrors } from './mask.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Telemetry } from '../observability/tracing.ts';
import { type Prepared, type ExecutableDocument, createPreparation } from './prepare.ts';
import { checkIncrementalArguments } from './validation-rules.ts';

/** Who asks, as far as the request tells. */
export interface OperationRequest {
  authorization: string | undefined;
  /** The x-explain header. */
  explain: string | undefined;
  address: string;
  requestId: string;
  /** The Accept header: whether an answer in pieces can be read. */
  accept?: string | undefined;
  /** The operation, as tracing systems know it. */
  span?: Span | undefined;
  /** Files are on their way: the operation has a longer deadline, from when the last byte of them has come. */
  arrival?: Promise<void> | undefined;
  /** Told how long an answer may be kept, where it may be kept at all. */
  onCacheable?: ((freshness: CachePolicy) => void) | undefined;
}

export interface Pipeline {
  prepare(text: string, operationName: string | undefined): Prepared;
  answer(
    prepared: Prepared,
    variables: Readonly<Record<string, unknown>> | undefined,
    caller: OperationRequest,
    lifetime: CancellationToken,
  ): Promise<Result>;
  /** Operations with a running deadline. */
  running: () => number;
  /** Counts a query whose answer stood already, and was given again. */
  countCacheHit(startedAt: number, spanOf: () => Span | undefined): void;
}

/** One answer, or one that comes in pieces. */
export type Result = ExecutionResult | AsyncIterable<IncrementalResult>;

export interface PipelineParts {
  schema: GraphQLSchema;
  config: Config;
  upstream: UpstreamClient;
  log: Logger;
  metrics: Metrics;
  telemetry?: Telemetry | undefined;
  /** Everything is run by graphql-js: for comparison. */
  useReferenceExecutor?: boolean | undefined;
}

export function createPipeline(parts: PipelineParts): Pipeline {
  const { schema, config, upstream, log, metrics, telemetry, useReferenceExecutor } = parts;
  const preparation = createPreparation(schema, config, useReferenceExecutor);
  const clock = createDeadlineQueue(config.operationTimeoutMs);
  const uploadClock = createDeadlineQueue(config.uploadTimeoutMs);
  const succeeded = byType((type) => metrics.operations.labels({ type, outcome: 'ok' }));
  const seconds = byType((type) => metrics.operationSeconds.labels({ type }));

  return {
    prepare(text, operationName) {
      const prepared = preparation.prepare(text, operationName);
      if (prepared.errors) count('none', prepared.errors);
      return prepared;
    },

    async answer({ ready, errors: wrong }, variables, caller, lifetime) {
      if (!ready) return { errors: wrong ?? [] };
      const started = performance.now();
      const type = ready.operation.operation;
      const stop = startClock(caller, lifetime);
      let result: Result;
      try {
        result = await start(ready, variables, caller, lifetime);
      } catch (error) {
        stop();
        throw error;
      }
      if (Symbol.asyncIterator in result) {
        result = finishing(result, stop);
        // A client that has left may never begin to read the parts.
        addListener(lifetime, { onCancel: stop });
      } else stop();
      const ms = performance.now() - started;
      const errors = 'errors' in result ? result.errors : undefined;
      if (errors) count(type, errors);
      else succeeded[type].inc();
      seconds[type].observe(ms / 1000);
      if (caller.span)
        telemetry?.operation(caller.span, type, ready.operation.name?.value, ms, (errors ?? []).map(codeOf));
      return result;
    },

    running: () => clock.size() + uploadClock.size(),

    countCacheHit(startedAt, spanOf) {
      const ms = performance.now() - startedAt;
      metrics.responseCacheHits.inc();
      succeeded.query.inc();
      seconds.query.observe(ms / 1000);
      if (!telemetry) return;
      const span = spanOf();
      if (span) telemetry.operation(span, 'query', undefined, ms, []);
    },
  };

  function start(
    ready: ExecutableDocument,
    variables: Readonly<Record<string, unknown>> | undefined,
    caller: OperationRequest,
    lifetime: CancellationToken,
  ): Result | Promise<Result> {
    const tooMany = variables && variablesLimit(variables);
    if (tooMany) return { errors: [badVariable(tooMany)] };
    const { coerced, errors } = ready.coerce(variables ?? noVariables);
    if (errors) return { errors: errors.map(badVariable) };

    const service = upstream.forOperation(caller, lifetime);
    const isExplained = caller.explain === 'plan';
    let plan: OperationPlan | GraphQLError;
    try {
      checkIncrementalArguments(schema, ready.incrementalSelections, coerced);
      const { planner } = ready;
      plan = isExplained ? planner.planToShow(service.viewer, coerced) : planner.planFor(service.viewer, coerced);
    } catch (error) {
      // A null where a directive wants true or false.
      if (error instanceof GraphQLError) return { errors: [badVariable(error)] };
      throw error;
    }
    if (plan instanceof GraphQLError) return { errors: [plan], data: null };
    const { maxPictures } = config;
    const context: Context = { viewer: service.viewer, upstream: service, plan, maxPictures, responseLimits: config };
    if (isExplained) return planned(plan, coerced, context);
    if (plan.defers)
      return acceptsIncrementalDelivery(caller.accept) ? divided(ready, variables, context, caller) : refusedPieces;
    const running = ready.run(context, variables, coerced);
    return running instanceof Promise
      ? running.then((result) => shown(result, service, plan, caller))
      : shown(running, service, plan, caller);
  }

  async function planned(plan: OperationPlan, coerced: Variables, context: Context): Promise<Result> {
    const { items, values } = worstCaseOf(plan, coerced);
    const extensions = { upstream: await callRangeOf(plan, coerced, context), answer: { items, values } };
    return { errors: [plannedNotRun], data: null, extensions };
  }

  async function divided(
    { document, operation }: ExecutableDocument,
    variableValues: Variables | undefined,
    contextValue: Context,
    caller: OperationRequest,
  ): Promise<Result> {
    const { upstream: service, plan } = contextValue;
    const { normalizedExecutor } = await import('@graphql-tools/executor');
    const args = { schema, document, variableValues, operationName: operation.name?.value, contextValue };
    const result = (await normalizedExecutor(args)) as Result;
    return Symbol.asyncIterator in result
      ? inPieces(mergeableOnly(result), service, plan, caller)
      : shown(limitResponse(result, config), service, plan, caller);
  }

  /** Ends the operation at its deadline, unless it is stopped: what an upload needs to arrive is not counted. */
  function startClock({ arrival }: OperationRequest, lifetime: CancellationToken): () => void {
    const timed = { onDeadline: () => cancel(lifetime, new Error('The operation took too long.')) };
    if (!arrival) {
      const ticking = clock.start(timed);
      return () => clock.stop(ticking);
    }
    let ticking: Deadline | undefined;
    let isOver = false;
    void arrival.then(() => {
      if (!isOver) ticking = uploadClock.start(timed);
    });
    return () => {
      isOver = true;
      if (ticking) uploadClock.stop(ticking);
    };
  }

  /** The answer as a client may see it. */
  function shown(
    result: ExecutionResult,
    service: Operation,
    plan: OperationPlan,
    caller: OperationRequest,
  ): ExecutionResult {
    const errors = result.errors && maskErrors(result.errors, plan, caller, log);
    const extensions = extensionsOf(service, caller);
    // With errors, stale records or the calls it took, it is the answer to this request alone.
    if (!errors && !extensions) caller.onCacheable?.(service.cachePolicy);
    if (!errors && !extensions) return { data: result.data ?? null };
    return { ...(errors ? { errors } : {}), data: result.data ?? null, ...(extensions ? { extensions } : {}) };
  }

  async function* inPieces(
    results: AsyncIterable<IncrementalResult>,
    service: Operation,
    plan: OperationPlan,
    caller: OperationRequest,
  ): AsyncGenerator<IncrementalResult> {
    const room = roomFor(config);
    for await (const result of results) {
      measure([result.data, result.incremental], room);
      if (isFull(room)) {
        yield { errors: [responseTooLarge(room, config)], hasNext: false };
        return;
      }
      const incremental = result.incremental?.map((piece) =>
        piece.errors ? { ...piece, errors: maskErrors(piece.errors, plan, caller, log) } : piece,
      );
      const extensions = result.hasNext ? undefined : extensionsOf(service, caller);
      yield {
        ...result,
        ...(result.errors ? { errors: maskErrors(result.errors, plan, caller, log) } : {}),
        ...(incremental ? { incremental } : {}),
        ...(extensions ? { extensions } : {}),
      };
    }
  }

  /** What stood in for fresh data, and the calls where they were asked for. */
  function extensionsOf({ callLog }: Operation, { explain }: OperationRequest): Record<string, unknown> | undefined {
    const isStale = ({ staleSeconds }: LoggedCall) => staleSeconds !== undefined;
    if (explain !== 'trace' && !callLog.calls.some(isStale)) return undefined;
    const stale = callLog.calls.filter(isStale);
    return {
      ...(stale.length
        ? { stale: stale.map(({ field, staleSeconds }) => ({ path: responsePath(field), ageSeconds: staleSeconds })) }
        : {}),
      ...(explain === 'trace' ? { upstream: { calls: callLog.calls.map(describeCall) } } : {}),
    };
  }

  function count(type: string, errors: readonly (GraphQLError | GraphQLFormattedError)[]): void {
    for (const error of errors) metrics.errors.inc({ code: codeOf(error) });
    metrics.operations.inc({ type, outcome: 'errors' });
  }
}

const byType = <T>(make: (type: OperationTypeNode) => T): Record<OperationTypeNode, T> => ({
  [OperationTypeNode.QUERY]: make(OperationTypeNode.QUERY),
  [OperationTypeNode.MUTATION]: make(OperationTypeNode.MUTATION),
  [OperationTypeNode.SUBSCRIPTION]: make(OperationTypeNode.SUBSCRIPTION),
});

const noVariables: Variables = Object.freeze({});

const refusedPieces: ExecutionResult = { errors: [incrementalDeliveryNotAccepted] };

const plannedNotRun = new GraphQLError('The operation was planned and not run.', {
  extensions: { code: 'PLANNED_NOT_RUN' },
});

async function* finishing<T>(items: AsyncIterable<T>, finish: () => void): AsyncGenerator<T> {
  try {
    yield* items;
  } finally {
    finish();
  }
}

function codeOf({ extensions }: GraphQLError | GraphQLFormattedError): string {
  return typeof extensions?.code === 'string' ? extensions.code : 'INTERNAL_SERVER_ERROR';
}

/** A request that cannot be run as it is, so its status may say so. */
function badVariable(error: GraphQLError): GraphQLError {
  Object.assign(error.extensions, { http: { status: 400, spec: true } });
  error.extensions.code ??= 'BAD_USER_INPUT';
  return error;
}

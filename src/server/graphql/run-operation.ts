/** Runs one operation of a valid document: coerces its variables, plans it, executes the plan and makes the result fit for the client. */
import { type ExecutionResult, GraphQLError, type GraphQLSchema, OperationTypeNode, type SelectionNode } from 'graphql';
import type { Logger } from 'pino';
import type { Config } from '../../config/settings.ts';
import type { Context } from '../../graph/context.ts';
import type { Piece } from '../../graph/execute/execution.ts';
import { worstCaseOf } from '../../graph/cost/call-cost.ts';
import { callRangeOf } from '../../graph/cost/call-range.ts';
import type { Variables } from '../../graph/plan/document.ts';
import type { Delivery } from '../../graph/execute/incremental.ts';
import type { OperationPlan } from '../../graph/plan/operation-plan.ts';
import type { CancellationToken } from '../../lib/cancellation.ts';
import { type LoggedCall, describeCall, responsePath } from '../../upstream/call-log.ts';
import type { UpstreamClient } from '../../upstream/client.ts';
import type { Operation } from '../../upstream/operation.ts';
import type { IncrementalFormat } from '../http/request/accept.ts';
import { addHelpLinks } from '../http/response/http-error.ts';
import { type ResultParts, encoderFor } from './incremental-delivery.ts';
import { variablesLimit } from './limits.ts';
import { maskErrors } from './mask.ts';
import type { ExecutableDocument } from './prepare.ts';
import type { OperationRequest } from './request.ts';
import { createSlowLog } from '../observability/operations.ts';
import { checkIncrementalArguments } from './validation-rules.ts';

/** A result, or the parts of one that is delivered incrementally. */
export type Result = ExecutionResult | ResultParts;

export interface RunParts {
  schema: GraphQLSchema;
  config: Config;
  upstream: UpstreamClient;
  log: Logger;
}

export function createRunOperation(parts: RunParts) {
  const { config, upstream, log } = parts;
  const logSlow = createSlowLog(log, config.slowOperationMs);
  return (
    prepared: ExecutableDocument,
    variables: Variables | undefined,
    request: OperationRequest,
    cancellation: CancellationToken,
    /** Called with the errors of all parts of an incremental result after the last one, or when the client leaves. */
    onLastPart: (errors: ExecutionResult['errors']) => void,
  ): Result | Promise<Result> => {
    const { incrementalSelections } = prepared;
    const { onError, onComplete, explain } = request;
    if (explain === 'off' && prepared.operation.operation === OperationTypeNode.MUTATION) return { errors: [noPlan()] };
    // Other values of `onError` are not defined for incremental delivery.
    const mayBeIncremental = incrementalSelections.length > 0 && (!onError || onError === 'PROPAGATE');
    const format = mayBeIncremental ? request.incremental?.format : undefined;
    const document = format ? prepared : prepared.nonIncremental();
    const tooMany = variables && variablesLimit(variables);
    if (tooMany) return { errors: [badVariable(tooMany)] };
    const { coerced, errors } = document.coerce(variables ?? noVariables);
    if (errors) return { errors: errors.map(badVariable) };

    const operation = upstream.forOperation(request, cancellation);
    const plan = planFor(document, incrementalSelections, operation, coerced, request);
    if (plan instanceof GraphQLError) return { errors: [requestError(plan)] };
    const { maxPictures, serviceName } = config;
    const context: Context = {
      viewer: operation.viewer,
      upstream: operation,
      plan,
      maxPictures,
      serviceName,
      responseLimits: config,
      onError,
    };
    if (explain === 'plan') return explainPlan(plan, coerced, context);
    const name = document.operation.name?.value;
    const toResult = (result: ExecutionResult) => {
      logSlow(operation, name, request.requestId);
      return resultForClient(result, operation, plan, request, log);
    };
    const executed = document.run(context, coerced);
    if (format && plan.defers)
      return Promise.resolve(executed).then((result) => {
        if (!(Symbol.asyncIterator in result)) return toResult(result);
        return partsForClient(result, format, context, request, log, (errors) => {
          logSlow(operation, name, request.requestId);
          onLastPart(errors);
        });
      });
    const result = executed as ExecutionResult | Promise<ExecutionResult>;
    if (onComplete)
      return Promise.resolve(result).then((settled) => onComplete(operation).then(() => toResult(settled)));
    return result instanceof Promise ? result.then(toResult) : toResult(result);
  };
}

function planFor(
  { planner }: ExecutableDocument,
  incrementalSelections: readonly SelectionNode[],
  { viewer }: Operation,
  coerced: Variables,
  { explain }: OperationRequest,
): OperationPlan | GraphQLError {
  try {
    checkIncrementalArguments(incrementalSelections, coerced);
    return explain === 'plan' ? planner.planToShow(viewer, coerced) : planner.planFor(viewer, coerced);
  } catch (error) {
    // A null for the argument of a directive that must be true or false.
    if (error instanceof GraphQLError) return badVariable(error);
    throw error;
  }
}

async function* partsForClient(
  deliveries: AsyncIterable<Delivery>,
  format: IncrementalFormat,
  { upstream: operation, plan }: Context,
  request: OperationRequest,
  log: Logger,
  onEnd: (errors: ExecutionResult['errors']) => void,
): ResultParts {
  const encode = encoderFor(format);
  const all: GraphQLError[] = [];
  const masked = <Given extends Piece | ExecutionResult>(given: Given): Given => {
    if (!given.errors) return given;
    const errors = maskErrors(given.errors, plan, request, log);
    addHelpLinks(errors);
    all.push(...errors);
    return { ...given, errors };
  };
  try {
    for await (const { initial, pieces, tooLarge, ...rest } of deliveries) {
      const extensions = rest.hasNext ? undefined : extensionsOf(operation, request);
      yield encode(
        {
          ...rest,
          pieces: pieces.map(masked),
          ...(initial && { initial: masked(initial) }),
          ...(tooLarge && { tooLarge: masked({ errors: [tooLarge] }).errors[0]! }),
        },
        extensions,
      );
    }
  } finally {
    onEnd(all.length > 0 ? all : undefined);
  }
}

/** `x-explain: plan`: what the operation would cost. */
async function explainPlan(plan: OperationPlan, coerced: Variables, context: Context): Promise<ExecutionResult> {
  const { items, values } = worstCaseOf(plan, coerced);
  const extensions = { upstream: await callRangeOf(plan, coerced, context), answer: { items, values } };
  return { errors: [plannedNotRun], data: null, extensions };
}

function resultForClient(
  result: ExecutionResult,
  operation: Operation,
  plan: OperationPlan,
  request: OperationRequest,
  log: Logger,
): ExecutionResult {
  const errors = result.errors && maskErrors(result.errors, plan, request, log);
  const extensions = extensionsOf(operation, request);
  if (errors && request.onError === 'HALT')
    return { errors: errors.slice(0, 1), data: null, ...(extensions && { extensions }) };
  const data = result.data ?? null;
  if (errors || extensions) return { ...(errors && { errors }), data, ...(extensions && { extensions }) };
  // A result with errors, stale records or a call log is for this request alone.
  request.onCacheable?.(operation.cachePolicy);
  return { data };
}

/** Stale records that were used, those that are being refreshed, whether other replicas lag, and the upstream calls if `x-explain: trace` requests them. */
function extensionsOf(
  { callLog, replicasMayLag }: Operation,
  { explain, onAge }: OperationRequest,
): Record<string, unknown> | undefined {
  const isStale = ({ staleSeconds }: LoggedCall) => staleSeconds !== undefined;
  const isAged = ({ ageSeconds }: LoggedCall) => ageSeconds !== undefined;
  const { calls } = callLog;
  if (explain !== 'trace' && !replicasMayLag && !calls.some((call) => isStale(call) || isAged(call))) return undefined;
  const stale = calls.filter(isStale);
  const aged = calls.filter(isAged);
  if (aged.length > 0) onAge?.(Math.max(...aged.map(({ ageSeconds = 0 }) => ageSeconds)));
  return {
    ...(stale.length > 0 && {
      stale: stale.map(({ field, staleSeconds }) => ({ path: responsePath(field), ageSeconds: staleSeconds })),
    }),
    ...(aged.length > 0 && {
      age: aged.map(({ field, ageSeconds }) => ({ path: responsePath(field), ageSeconds })),
    }),
    ...(replicasMayLag && { replicasMayLag }),
    ...(explain === 'trace' && { upstream: { calls: calls.map(describeCall) } }),
  };
}

const noVariables: Variables = Object.freeze({});

const plannedNotRun = new GraphQLError('The operation was planned and not run.', {
  extensions: { code: 'PLANNED_NOT_RUN' },
});

const noPlan = () =>
  new GraphQLError('The header x-explain is off here, so the mutation was not run. Send it without the header.', {
    extensions: { code: 'BAD_EXPLAIN', http: { status: 400 } },
  });

/** Marks an error as a request error: the operation was not run, and the HTTP status may show it. */
function requestError(error: GraphQLError): GraphQLError {
  error.extensions.http ??= { status: 400, spec: true };
  return error;
}

function badVariable(error: GraphQLError): GraphQLError {
  error.extensions.code ??= 'BAD_USER_INPUT';
  return requestError(error);
}

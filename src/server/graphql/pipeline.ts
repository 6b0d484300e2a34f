/** The pipeline of every operation, of GraphQL and of agents alike: prepare a document, coerce its variables, plan, execute, observe. */
import type { IncomingHttpHeaders } from 'node:http';
import { type ExecutionResult, GraphQLError, type GraphQLSchema, OperationTypeNode, type SelectionNode } from 'graphql';
import type { Logger } from 'pino';
import type { Config } from '../../config/settings.ts';
import type { Context } from '../../engine/context.ts';
import { worstCaseOf } from '../../engine/cost/call-cost.ts';
import { callRangeOf } from '../../engine/cost/call-range.ts';
import type { Variables } from '../../engine/plan/document.ts';
import type { OperationPlan } from '../../engine/plan/operation-plan.ts';
import { type LoggedCall, describeCall, responsePath } from '../../upstream/call-log.ts';
import type { UpstreamClient } from '../../upstream/client.ts';
import type { Sender } from '../../upstream/auth/request-context.ts';
import type { UpstreamSession } from '../../upstream/upstream-session.ts';
import type { WriteGuard } from '../../upstream/write-guard.ts';
import type { IncrementalFormat } from '../http/request/accept.ts';
import type { Admission } from '../http/connections/admission.ts';
import type { BodyReader } from '../http/request/body.ts';
import { withHelp } from '../http/response/http-error.ts';
import { NOT_EXECUTABLE } from '../../engine/errors/codes.ts';
import { executeChannel, traceExecution } from '../../engine/documents/graphql-channels.ts';
import type { OperationWatchers } from './ended-operation.ts';
import { encoderFor, partsForClient } from './incremental-delivery.ts';
import { variablesLimit } from '../../engine/documents/limits.ts';
import { maskErrors } from './mask.ts';
import type { Outcome } from './outcome.ts';
import {
  type ExecutableDocument,
  type NamedOperation,
  type Prepared,
  createPrepare,
} from '../../engine/documents/prepare.ts';
import type { OperationRequest } from './request.ts';
import { checkIncrementalArguments } from '../../engine/documents/validation-rules.ts';

export type Pipeline = ReturnType<typeof createPipeline>;

/** Runs the operation of a document. `writes`: of a mutation with an idempotency key, whose response is sent whole and kept. */
export type RunOperation = (prepared: Prepared, request: OperationRequest, writes?: WriteGuard) => Promise<Outcome>;

interface PipelineParts {
  schema: GraphQLSchema;
  config: Config;
  upstream: UpstreamClient;
  log: Logger;
  watchers?: OperationWatchers | undefined;
  /** Changes when a stored response may be of the past. */
  epoch?: (() => number | null) | undefined;
}

/** What the routes of GraphQL and MCP are made of. */
export interface RouteParts extends PipelineParts {
  prepare: Pipeline['prepare'];
  /** Runs an operation, also one with an idempotency key. */
  run: RunOperation;
  bodies: BodyReader;
  admission: Admission;
}

/** An operation that may run: its document as the client can receive it, and what it runs with. */
interface Planned {
  document: ExecutableDocument;
  coerced: Variables;
  session: UpstreamSession;
  context: Context;
  /** Undefined if the response is sent whole. */
  format: IncrementalFormat | undefined;
}

export function createPipeline(parts: PipelineParts) {
  const { schema, config, upstream, log, watchers = {}, epoch: epochNow = upstream.epoch } = parts;
  const { startSpan, onInvalidDocument, onEnd = [] } = watchers;
  const prepare = createPrepare(schema, config);

  const run: RunOperation = async ({ ready, errors }, request, writes) => {
    const epoch = epochNow();
    const { requestId, headers } = request;
    const startedAt = performance.now();
    if (!ready) {
      const ended = { ...nothingRun, requestId, headers, startedAt, errors };
      for (const watch of onEnd) watch(ended);
      return { result: { errors }, document: ready, session: undefined, cachePolicy: undefined, epoch };
    }
    const { named: operation } = ready;
    const span = startSpan?.(operation.type, headers, startedAt);
    /** Called once: when the whole result is there, after its last part, or when the client leaves before. */
    const end = (session: UpstreamSession | undefined, result: ExecutionResult): Outcome => {
      if (onEnd.length > 0) {
        const { errors } = result;
        const made = { operation, document: ready, session, isStored: false, span, errors };
        const ended = { requestId, headers, startedAt, ...made };
        for (const watch of onEnd) watch(ended);
      }
      // A result with errors, stale records or a call log is for this request alone.
      const isReusable = !result.errors && !result.extensions;
      const cachePolicy = isReusable ? session?.cachePolicy : undefined;
      return { result, document: ready, session, cachePolicy, epoch };
    };
    try {
      const planned = planOperation(parts, ready, request, { span, writes });
      if ('errors' in planned) return end(undefined, publishRejected(schema, ready, request, planned));
      const { document, coerced, session, context, format } = planned;
      if (request.explain === 'plan') return end(undefined, await explainPlan(coerced, context));
      const executed = await (executeChannel.hasSubscribers
        ? traceExecution(schema, document, request.variables, () => document.run(context, coerced))
        : document.run(context, coerced));
      if (!(Symbol.asyncIterator in executed)) return end(session, resultForClient(executed, context, request, log));
      const result = partsForClient(executed, encoderFor(format!), {
        masked: (found) => withHelp(maskErrors(found, context.plan, request, log), config),
        extensions: () => extensionsOf(session, request),
        onEnd: (found) => void end(session, { errors: found }),
      });
      return { result, document: ready, session, cachePolicy: undefined, epoch };
    } catch (error) {
      span?.span.end();
      throw error;
    }
  };

  return {
    prepare: (text: string, operationName: string | undefined): Prepared => {
      const prepared = prepare(text, operationName);
      if (prepared.errors) onInvalidDocument?.(prepared.errors);
      return prepared;
    },
    run,
    /** A request was answered by a stored response. */
    endStored: ({ requestId, headers, startedAt }: StoredRequest, operation: NamedOperation): void => {
      if (onEnd.length === 0) return;
      const span = startSpan?.(operation.type, headers, startedAt);
      const ended = { ...nothingRun, requestId, headers, startedAt, operation, span, isStored: true };
      for (const watch of onEnd) watch(ended);
    },
  };
}

interface StoredRequest {
  requestId: string;
  headers: IncomingHttpHeaders;
  /** By performance.now(). */
  startedAt: number;
}

/** Coerces the variables and plans; the errors if the operation may not run. */
function planOperation(
  { upstream, config }: PipelineParts,
  prepared: ExecutableDocument,
  request: OperationRequest,
  { span, writes }: Pick<Sender, 'span' | 'writes'>,
): Planned | { errors: readonly GraphQLError[] } {
  const { incrementalSelections } = prepared;
  const { variables, onError, explain, authorization, address, requestId, rateShare, cancellation } = request;
  if (explain === 'off' && prepared.operation.operation === OperationTypeNode.MUTATION) return { errors: [noPlan()] };
  // Other values of `onError` are not defined for incremental delivery.
  const mayBeIncremental = incrementalSelections.length > 0 && (!onError || onError === 'PROPAGATE');
  const format = mayBeIncremental && !writes ? request.incremental?.format : undefined;
  const document = format || incrementalSelections.length === 0 ? prepared : prepared.nonIncremental();
  const tooMany = variables && variablesLimit(variables);
  if (tooMany) return { errors: [badVariable(tooMany)] };
  const { coerced, errors } = document.coerce(variables ?? noVariables);
  if (errors) return { errors: errors.map(badVariable) };
  const session = upstream.forOperation({ authorization, address, requestId, span, rateShare, writes }, cancellation);
  const found = planFor(document, incrementalSelections, session, coerced, explain);
  if (found instanceof GraphQLError) return { errors: [requestError(found)] };
  const { viewer } = session;
  const { maxPictures, serviceName } = config;
  const context = {
    viewer,
    upstream: session,
    plan: found,
    maxPictures,
    serviceName,
    responseLimits: config,
    onError,
  };
  return { document, coerced, session, context, format };
}

function planFor(
  { planner }: ExecutableDocument,
  incrementalSelections: readonly SelectionNode[],
  { viewer }: UpstreamSession,
  coerced: Variables,
  explain: string | undefined,
): OperationPlan | GraphQLError {
  try {
    if (incrementalSelections.length > 0) checkIncrementalArguments(incrementalSelections, coerced);
    return explain === 'plan' ? planner.planToShow(viewer, coerced) : planner.planFor(viewer, coerced);
  } catch (error) {
    // A null for the argument of a directive that must be true or false.
    if (error instanceof GraphQLError) return badVariable(error);
    throw error;
  }
}

/** graphql-js reports errors of variables as a result of the execution. */
function publishRejected(
  schema: GraphQLSchema,
  document: ExecutableDocument,
  { variables }: OperationRequest,
  result: ExecutionResult,
): ExecutionResult {
  if (executeChannel.hasSubscribers) void traceExecution(schema, document, variables, () => result);
  return result;
}

/** `x-explain: plan`: what the operation would cost. */
async function explainPlan(coerced: Variables, context: Context): Promise<ExecutionResult> {
  const { plan, upstream } = context;
  const { items, values } = worstCaseOf(plan, coerced);
  const extensions = { upstream: await callRangeOf(plan, coerced, upstream), answer: { items, values } };
  return { errors: [plannedNotRun], data: null, extensions };
}

function resultForClient(
  result: ExecutionResult,
  { upstream: session, plan }: Context,
  request: OperationRequest,
  log: Logger,
): ExecutionResult {
  const errors = result.errors && maskErrors(result.errors, plan, request, log);
  const extensions = extensionsOf(session, request);
  if (errors && request.onError === 'HALT')
    return { errors: errors.slice(0, 1), data: null, ...(extensions && { extensions }) };
  const data = result.data ?? null;
  if (errors || extensions) return { ...(errors && { errors }), data, ...(extensions && { extensions }) };
  return { data };
}

/** Stale records that were used, those that are being refreshed, whether other replicas lag, and the upstream calls if `x-explain: trace` requests them. */
function extensionsOf(
  { callLog, replicasMayLag }: UpstreamSession,
  { explain }: OperationRequest,
): Record<string, unknown> | undefined {
  const { calls } = callLog;
  if (explain !== 'trace' && !replicasMayLag && !calls.some(isOld)) return undefined;
  const stale = calls.filter(({ staleSeconds }) => staleSeconds !== undefined);
  const aged = calls.filter(({ ageSeconds }) => ageSeconds !== undefined);
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

const isOld = ({ staleSeconds, ageSeconds }: LoggedCall): boolean =>
  staleSeconds !== undefined || ageSeconds !== undefined;

/** Of an operation whose document is invalid, or whose response was stored. */
const nothingRun = {
  operation: undefined,
  document: undefined,
  session: undefined,
  isStored: false,
  span: undefined,
  errors: undefined,
};

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
  error.extensions.http ??= { status: NOT_EXECUTABLE, spec: true };
  return error;
}

function badVariable(error: GraphQLError): GraphQLError {
  error.extensions.code ??= 'BAD_USER_INPUT';
  return requestError(error);
}

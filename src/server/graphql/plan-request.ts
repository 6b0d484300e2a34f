/** What a request will run: its variables are coerced and its operation is planned. */
import { type ExecutionResult, GraphQLError, OperationTypeNode, type SelectionNode } from 'graphql';
import type { Config } from '../../config/settings.ts';
import type { Context, ResponseLimits } from '../../engine/context.ts';
import { worstCaseOf } from '../../engine/cost/call-cost.ts';
import { callRangeOf } from '../../engine/cost/call-range.ts';
import type { CallCost } from '../../engine/cost/worst-case.ts';
import { hintsOf } from '../../engine/documents/hints.ts';
import { type DocumentSettings, exceededCalls, isOfMutation, variablesLimit } from '../../engine/documents/limits.ts';
import type { ExecutableDocument } from '../../engine/documents/prepare.ts';
import { checkIncrementalArguments } from '../../engine/documents/validation-rules.ts';
import { NOT_EXECUTABLE } from '../../engine/errors/codes.ts';
import type { Variables } from '../../engine/plan/document.ts';
import type { OperationPlan } from '../../engine/plan/operation-plan.ts';
import { writeRuleAt } from '../../engine/settle/write-rules.ts';
import type { Sender } from '../../upstream/auth/request-context.ts';
import type { UpstreamClient } from '../../upstream/client.ts';
import type { UpstreamSession } from '../../upstream/upstream-session.ts';
import type { WriteRule } from '../../upstream/write-guard.ts';
import type { IncrementalFormat } from '../http/request/accept.ts';
import type { OperationRequest } from './request.ts';

/** An operation that may run: its document as the client can receive it, and what it runs with. */
interface Planned {
  document: ExecutableDocument;
  coerced: Variables;
  session: UpstreamSession;
  context: Context;
  /** Undefined if the response is sent whole. */
  format: IncrementalFormat | undefined;
}

/** Limits of what an operation returns, and the name of the service in it. */
export type RunSettings = ResponseLimits & Pick<Config, 'maxPictures' | 'serviceName'>;

/** Coerces the variables and plans; the errors if the operation may not run. */
export function planRequest(
  { upstream, config }: { upstream: UpstreamClient; config: RunSettings },
  prepared: ExecutableDocument,
  request: OperationRequest,
  { span, writes }: Pick<Sender, 'span' | 'writes'>,
): Planned | { errors: readonly GraphQLError[] } {
  const { incrementalSelections } = prepared;
  const { variables, onError, explain, authorization, address, requestId, rateShare, slot, isReload, cancellation } =
    request;
  if (explain === 'off' && prepared.operation.operation === OperationTypeNode.MUTATION) return { errors: [noPlan()] };
  // Other values of `onError` are not defined for incremental delivery.
  const mayBeIncremental = incrementalSelections.length > 0 && (!onError || onError === 'PROPAGATE');
  const format = mayBeIncremental && !writes ? request.incremental?.format : undefined;
  const document = format || incrementalSelections.length === 0 ? prepared : prepared.nonIncremental();
  const tooMany = variables && variablesLimit(variables);
  if (tooMany) return { errors: [badVariable(tooMany)] };
  const { coerced, errors } = document.coerce(variables ?? noVariables);
  if (errors) return { errors: errors.map(badVariable) };
  const session = upstream.forOperation(
    { authorization, address, requestId, span, rateShare, writes, slot, isReload },
    cancellation,
  );
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

/** `x-explain: plan`: what the operation would cost, and how it becomes cheaper. `hasKey`: it has an idempotency key. */
export async function explainPlan(
  config: DocumentSettings,
  coerced: Variables,
  { plan, upstream }: Context,
  hasKey: boolean,
): Promise<ExecutionResult> {
  const { calls, items, values } = worstCaseOf(plan, coerced);
  const range = await callRangeOf(plan, coerced, upstream);
  const hints = hintsOf({ plan, variables: coerced }, config);
  const exceeded = exceededCalls(calls, isOfMutation(plan), config);
  const stopsAt = calls.max > config.maxUpstreamCalls ? config.maxUpstreamCalls : undefined;
  const extensions = {
    upstream: hasKey ? withKey(range) : range,
    answer: { items, values },
    ...(exceeded ? { limit: exceeded.limit } : stopsAt !== undefined && { stopsAt }),
    ...(hints.length > 0 && { hints }),
  };
  return { errors: [plannedNotRun], data: null, extensions };
}

const noVariables: Variables = Object.freeze({});

const plannedNotRun = new GraphQLError('The operation was planned and not run.', {
  extensions: { code: 'PLANNED_NOT_RUN' },
});

const noPlan = () =>
  new GraphQLError('The header x-explain is off here, so the mutation was not run.', {
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

/**
 * What a key adds to a write: the first request reads before it sends, and once more if the response is lost. A later one reads, sends
 * again, and reads after a lost response, or if the service says that the write is done.
 */
const moreCallsOf = ({ reads: [before, find] }: Pick<WriteRule, 'reads'>): number => Math.max(before + find, 2 * find);

/** The calls of a plan with those that an idempotency key adds. */
export function withKey(planned: CallCost): CallCost {
  const cost = structuredClone(planned);
  for (const field of cost.fields) {
    const found = writeRuleAt(field.endpoint);
    if (!found) continue;
    const more = field.max * moreCallsOf(found.rule);
    field.max += more;
    cost.max += more;
    cost.services[found.endpoint.service]!.max += more;
  }
  return cost;
}

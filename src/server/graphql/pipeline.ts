/** The pipeline of every operation, of GraphQL and of agents alike: prepare a document, coerce its variables, plan, execute, observe. */
import type { IncomingHttpHeaders } from 'node:http';
import { type ExecutionResult, type GraphQLSchema } from 'graphql';
import type { Logger } from 'pino';
import type { Context } from '../../engine/context.ts';
import { worstCaseOf } from '../../engine/cost/call-cost.ts';
import type { CallCost } from '../../engine/cost/worst-case.ts';
import { type LoggedCall, describeCall, responsePath } from '../../upstream/call-log.ts';
import type { UpstreamClient } from '../../upstream/client.ts';
import type { UpstreamSession } from '../../upstream/upstream-session.ts';
import type { WriteGuard } from '../../upstream/write-guard.ts';
import { type HelpSettings, withHelp } from '../http/response/http-error.ts';
import type { OperationWatchers } from './ended-operation.ts';
import { encoderFor, partsForClient } from './incremental-delivery.ts';
import { maskErrors } from './mask.ts';
import type { Outcome } from './outcome.ts';
import type { DocumentSettings } from '../../engine/documents/limits.ts';
import { type NamedOperation, type Prepared, createPrepare } from '../../engine/documents/prepare.ts';
import { type RunSettings, explainPlan, planRequest, withKey } from './plan-request.ts';
import type { OperationRequest } from './request.ts';

export type Pipeline = ReturnType<typeof createPipeline>;

/** A document to run, or why it is not run. `refused`: the operation of a valid one that may not be run. */
type PreparedRun = Prepared & { readonly refused?: NamedOperation };

/** Runs the operation of a document. `writes`: of a mutation with an idempotency key, whose response is sent whole and kept. */
export type RunOperation = (prepared: PreparedRun, request: OperationRequest, writes?: WriteGuard) => Promise<Outcome>;

interface PipelineParts {
  schema: GraphQLSchema;
  config: RunSettings & DocumentSettings & HelpSettings;
  upstream: UpstreamClient;
  log: Logger;
  watchers?: OperationWatchers | undefined;
}

export function createPipeline(parts: PipelineParts) {
  const { schema, config, upstream, log, watchers = {} } = parts;
  const { startSpan, onInvalidDocument, onEnd = [] } = watchers;
  const prepare = createPrepare(schema, config);

  const run: RunOperation = async ({ ready, errors, refused }, request, writes) => {
    const epoch = upstream.epoch();
    const { requestId, headers } = request;
    const startedAt = performance.now();
    if (!ready) {
      const made = { operation: refused, span: undefined, isStored: false, errors };
      const ended = { requestId, headers, startedAt, ...made, ...NOT_RUN };
      for (const watch of onEnd) watch(ended);
      return { result: { errors }, cachePolicy: undefined, epoch, ...NOT_RUN };
    }
    const { named: operation } = ready;
    const span = startSpan?.(operation.type, headers, startedAt);
    /** Called once: when the whole result is there, after its last part, or when the client leaves before. */
    const end = (session: UpstreamSession | undefined, result: ExecutionResult, price?: CallCost): Outcome => {
      if (onEnd.length > 0) {
        const { errors } = result;
        const made = { operation, document: ready, session, price, isStored: false, span, errors };
        const ended = { requestId, headers, startedAt, ...made };
        for (const watch of onEnd) watch(ended);
      }
      // A result with errors, stale records or a call log is for this request alone.
      const isReusable = !result.errors && !result.extensions;
      const cachePolicy = isReusable ? session?.cachePolicy : undefined;
      return { result, document: ready, session, price, cachePolicy, epoch };
    };
    try {
      const planned = planRequest(parts, ready, request, { span, writes });
      if ('errors' in planned) return end(undefined, planned);
      const { document, coerced, session, context, format } = planned;
      const hasKey = request.idempotencyKey !== undefined;
      if (request.explain === 'plan') return end(undefined, await explainPlan(parts.config, coerced, context, hasKey));
      const executed = await document.run(context, coerced);
      const { calls } = worstCaseOf(context.plan, coerced);
      if (!(Symbol.asyncIterator in executed))
        return end(session, resultForClient(executed, context, request, log), writes ? withKey(calls) : calls);
      const result = partsForClient(executed, encoderFor(format!), {
        masked: (found) => withHelp(maskErrors(found, context.plan, request, log), config),
        extensions: () => extensionsOf(session, request),
        onEnd: (found) => void end(session, { errors: found }, calls),
      });
      return { result, document: ready, session, price: calls, cachePolicy: undefined, epoch };
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
      // Each member once: V8 makes an object slowly whose literal sets a member that it has spread.
      const ended = { requestId, headers, startedAt, operation, span, isStored: true, errors: undefined, ...NOT_RUN };
      for (const watch of onEnd) watch(ended);
    },
  };
}

/** What an operation that was not run has not made. */
const NOT_RUN = { document: undefined, session: undefined, price: undefined };

interface StoredRequest {
  requestId: string;
  headers: IncomingHttpHeaders;
  /** By performance.now(). */
  startedAt: number;
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

/** Stale records that were used, those that the client asked to have anew, whether other replicas lag, and the upstream calls if `x-explain: trace` requests them. */
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

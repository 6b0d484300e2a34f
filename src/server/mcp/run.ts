/** Runs one operation for an agent: by the pipeline and the admission of GraphQL, within the share that agents have of both. */
import type { ExecutionResult, GraphQLError } from 'graphql';
import { addListener, cancel, createCancellationToken, removeListener } from '../../lib/cancellation.ts';
import type { Variables } from '../../graph/engine/document.ts';
import type { CachePolicy } from '../../upstream/cache/cache-policy.ts';
import type { LoggedCall } from '../../upstream/call-log.ts';
import type { Operation } from '../../upstream/operation.ts';
import type { RateLimitState } from '../../upstream/limits/rate-limiter.ts';
import type { RouteParts } from '../graphql/answer.ts';
import type { Prepared } from '../graphql/prepare.ts';
import type { OperationSlot } from '../http/admission.ts';
import { clientAddress } from '../http/client-address.ts';
import type { Exchange } from '../http/exchange.ts';
import { HttpError } from '../http/http-error.ts';
import { parentContext } from '../observability/tracing.ts';

/** The calls of one run, and what the rate limit of film calls leaves to agents with this credential. */
export interface Cost {
  catalog: number;
  events: number;
  left: RateLimitState | null;
}

export interface Run {
  data: Record<string, unknown> | null;
  errors: readonly GraphQLError[];
  stale: unknown;
  /** With `isPlanned`: the calls that it would make. */
  plan: unknown;
  cost: Cost;
  cachePolicy: CachePolicy | undefined;
}

/** With `isPlanned` the operation is planned and not run. */
export type RunForAgent = (
  prepared: Prepared,
  options: { variables: Variables; exchange: Exchange; isPlanned?: boolean },
) => Promise<Run>;

export function createRunner(parts: RouteParts): RunForAgent {
  const { config, pipeline, admission, upstream } = parts;
  const addressOf = clientAddress(config.trustedProxies);
  const rateShare = config.mcpShare / 100;
  const mostRunning = Math.max(1, Math.floor(config.maxRunningOperations * rateShare));
  let running = 0;

  return async (prepared, { variables, exchange, isPlanned }) => {
    const { request, requestId } = exchange;
    const { headers } = request;
    let cachePolicy: CachePolicy | undefined;
    let calls: readonly LoggedCall[] = [];
    const caller = {
      authorization: headers.authorization,
      address: addressOf(request),
      requestId,
      rateShare,
      explain: isPlanned ? ('plan' as const) : undefined,
      parentSpan: parentContext(headers),
      onCacheable: (policy: CachePolicy) => (cachePolicy = policy),
      onComplete: async ({ callLog }: Operation) => void ({ calls } = callLog),
    };
    if (running >= mostRunning) throw tooManyAgents();
    // A deadline ends the one operation, the client's leaving ends all of the request.
    const lifetime = createCancellationToken();
    const whole = { onCancel: (reason: Error) => cancel(lifetime, reason) };
    addListener(exchange.lifetime, whole);
    running++;
    let slot: OperationSlot | undefined;
    try {
      slot = await admission.enter({ exchange, lifetime });
      const result = (await pipeline.answer(prepared, variables, caller, lifetime)) as ExecutionResult;
      const { data = null, errors = [], extensions: { upstream: plan, stale } = {} } = result;
      const left = await upstream.forOperation(caller, lifetime).rateBudget();
      return { data, errors, stale, plan, cost: { ...callsMade(calls), left }, cachePolicy };
    } finally {
      slot?.release();
      running--;
      removeListener(exchange.lifetime, whole);
    }
  };
}

/** The HTTP requests of an operation. A call that was cached, joined another one or got no permit made none. */
function callsMade(calls: readonly LoggedCall[]): Omit<Cost, 'left'> {
  const made = { catalog: 0, events: 0 };
  for (const { service, status, attempts = 1, cached, coalesced, staleSeconds, error } of calls) {
    const isSent = status !== undefined || error?.startsWith('UPSTREAM_');
    if (isSent && !cached && !coalesced && staleSeconds === undefined) made[service] += attempts;
  }
  return made;
}

const tooManyAgents = () =>
  new HttpError(503, 'OVERLOADED', 'Agents already run the most operations allowed. Try again in a moment.', {
    'retry-after': '1',
  });

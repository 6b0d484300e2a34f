/** Runs one operation for an agent: by the pipeline and the admission of GraphQL, within the share that agents have of both. */
import { type ExecutionResult, type GraphQLError, OperationTypeNode } from 'graphql';
import type { Variables } from '../../../engine/plan/document.ts';
import { type LoggedCall, wasSent } from '../../../upstream/call-log.ts';
import type { Service } from '../../../upstream/errors.ts';
import type { RateLimitState } from '../../../upstream/limits/rate-limiter.ts';
import type { FeatureParts } from '../../feature.ts';
import type { Prepared } from '../../../engine/documents/prepare.ts';
import { clientAddress } from '../../http/request/client-address.ts';
import { type AgentRequest, tooManyAgents } from './agent-slots.ts';

/** The calls of one run, and what the rate limit of film calls leaves to agents with this credential. */
export interface Cost {
  /** By service. */
  calls: Readonly<Record<Service, number>>;
  left: RateLimitState | null;
}

export interface Run {
  data: Record<string, unknown> | null;
  errors: readonly GraphQLError[];
  stale: readonly unknown[] | undefined;
  /** With `isPlanned`: the calls that it would make. */
  plan: unknown;
  cost: Cost;
  isMutation: boolean;
}

/** With `isPlanned` the operation is planned and not run. */
export type RunForAgent = (
  prepared: Prepared,
  options: { variables: Variables; request: AgentRequest; isPlanned?: boolean },
) => Promise<Run>;

export function createRunner(parts: FeatureParts): RunForAgent {
  const { config, run, upstream } = parts;
  const addressOf = clientAddress(config.trustedProxies);
  const rateShare = config.mcpShare / 100;
  const mostRunning = Math.max(1, Math.floor(config.maxRunningOperations * rateShare));
  let running = 0;

  return async (prepared, { variables, request: { exchange, idempotencyKey }, isPlanned }) => {
    const { request, requestId, lifetime } = exchange;
    const { headers } = request;
    const caller = {
      authorization: headers.authorization,
      address: addressOf(request),
      requestId,
      headers,
      rateShare,
      explain: isPlanned ? ('plan' as const) : undefined,
      idempotencyKey,
      variables,
    };
    if (running >= mostRunning) throw tooManyAgents('Agents already run the most operations allowed.');
    running++;
    try {
      const { result, session, isReplayed } = await run(prepared, { ...caller, cancellation: lifetime });
      if (isReplayed) exchange.headers.push('idempotency-replayed', 'true');
      const { data = null, errors = [], extensions: { upstream: plan, stale } = {} } = result as ExecutionResult;
      const calls = session?.callLog.calls ?? [];
      const left = await upstream.forOperation(caller, lifetime).rateBudget();
      const isMutation = prepared.ready?.operation.operation === OperationTypeNode.MUTATION;
      const cost = { calls: callsMade(calls), left };
      return { data, errors, stale: stale as Run['stale'], plan, cost, isMutation };
    } finally {
      running--;
    }
  };
}

/** The HTTP requests of an operation. */
function callsMade(calls: readonly LoggedCall[]): Cost['calls'] {
  const made: Record<Service, number> = { catalog: 0, events: 0 };
  for (const { service, attempts = 1 } of calls.filter(wasSent)) made[service] = (made[service] ?? 0) + attempts;
  return made;
}

/** Runs one operation for an agent: by the pipeline and the admission of GraphQL, within the share that agents have of both. */
import type { ExecutionResult, GraphQLError } from 'graphql';
import type { Config } from '../../config/settings.ts';
import { addListener, cancel, createCancellationToken, removeListener } from '../../lib/cancellation.ts';
import type { CachePolicy } from '../../upstream/cache/cache-policy.ts';
import type { LoggedCall } from '../../upstream/call-log.ts';
import type { UpstreamClient } from '../../upstream/client.ts';
import type { RateLimitState } from '../../upstream/limits/rate-limiter.ts';
import type { Pipeline } from '../graphql/answer.ts';
import type { Prepared } from '../graphql/prepare.ts';
import type { Admission } from '../http/admission.ts';
import { clientAddress } from '../http/client-address.ts';
import type { Exchange } from '../http/exchange.ts';
import { HttpError } from '../http/http-error.ts';
import { parentContext } from '../observability/tracing.ts';

/** What agents take of the server. */
export interface RunnerParts {
  config: Config;
  pipeline: Pipeline;
  admission: Admission;
  upstream: UpstreamClient;
  /** Called when an operation lost its slot because it did not end after its deadline. */
  onOverdue: (exchange: Exchange) => void;
}

/** The calls of one run, and what the rate limit of film calls leaves to agents with this credential. */
export interface Cost {
  catalog: number;
  event: number;
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

export interface RunOptions {
  variables: Readonly<Record<string, unknown>>;
  exchange: Exchange;
  /** Plan the operation and do not run it. */
  isPlanned?: boolean;
  /** Learn how long the response may be cached, in place of its calls. */
  isCacheable?: boolean;
}

export type RunForAgent = (prepared: Prepared, options: RunOptions) => Promise<Run>;

type Traced = Partial<Pick<LoggedCall, 'status' | 'attempts' | 'cached' | 'staleSeconds' | 'coalesced' | 'error'>> &
  Pick<LoggedCall, 'service'>;

export function createRunner(parts: RunnerParts): RunForAgent {
  const { config, pipeline, admission, upstream, onOverdue } = parts;
  const addressOf = clientAddress(config.trustedProxies);
  const rateShare = config.mcpShare / 100;
  const mostRunning = Math.max(1, Math.floor(config.maxRunningOperations * rateShare));
  let running = 0;

  return async (prepared, { variables, exchange, isPlanned, isCacheable }) => {
    const { request, requestId } = exchange;
    const { headers } = request;
    let cachePolicy: CachePolicy | undefined;
    const caller = {
      authorization: headers.authorization,
      address: addressOf(request),
      requestId,
      rateShare,
      explain: isPlanned ? 'plan' : isCacheable ? undefined : 'trace',
      parentSpan: parentContext(headers),
      onCacheable: (policy: CachePolicy) => (cachePolicy = policy),
    };
    if (running >= mostRunning) throw tooManyAgents();
    // A deadline ends the one operation, the client's leaving ends all of the request.
    const lifetime = createCancellationToken();
    const whole = { onCancel: (reason: Error) => cancel(lifetime, reason) };
    addListener(exchange.lifetime, whole);
    running++;
    try {
      const slot = await admission.enter({ lifetime, onOverdue: () => onOverdue(exchange) });
      try {
        const result = (await pipeline.answer(prepared, variables, caller, lifetime)) as ExecutionResult;
        const { upstream: explained, stale } = (result.extensions ?? {}) as Extensions;
        const left = await upstream.forOperation(caller, lifetime).rateBudget();
        const data = result.data ?? null;
        const cost = { ...callsMade(explained?.calls ?? []), left };
        return { data, errors: result.errors ?? [], stale, plan: isPlanned ? explained : undefined, cost, cachePolicy };
      } finally {
        slot.release();
      }
    } finally {
      running--;
      removeListener(exchange.lifetime, whole);
    }
  };
}

interface Extensions {
  upstream?: { calls?: readonly Traced[] };
  stale?: unknown;
}

/** The HTTP requests of an operation. What was cached, joined another call or was refused a permit made none. */
function callsMade(calls: readonly Traced[]): { catalog: number; event: number } {
  const made = { catalog: 0, event: 0 };
  for (const { service, status, attempts = 1, cached, coalesced, staleSeconds, error } of calls) {
    const isSent = status !== undefined || error?.startsWith('UPSTREAM_');
    if (isSent && !cached && !coalesced && staleSeconds === undefined) made[service] += attempts;
  }
  return made;
}

const tooManyAgents = () =>
  new HttpError(503, 'OVERLOADED', 'Agents run as many operations as they may. Try again in a moment.', {
    'retry-after': '1',
  });

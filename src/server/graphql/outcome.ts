/** What an operation came to. It is one value, written once: status, headers and what is logged are functions of it. */
import type { ExecutionResult, GraphQLError, GraphQLFormattedError } from 'graphql';
import type { CallCost } from '../../engine/cost/worst-case.ts';
import type { CachePolicy } from '../../upstream/cache/cache-policy.ts';
import type { CallLog } from '../../upstream/call-log.ts';
import type { RateLimitState } from '../../upstream/limits/rate-limiter.ts';
import type { UpstreamSession } from '../../upstream/upstream-session.ts';
import type { ResultParts } from './incremental-delivery.ts';
import type { ExecutableDocument } from '../../engine/documents/prepare.ts';

export interface Outcome {
  /** A whole result, or the parts of one that is delivered incrementally. */
  readonly result: ExecutionResult | ResultParts;
  /** Undefined if the document has errors. */
  readonly document: ExecutableDocument | undefined;
  /** What was read and written for it; undefined if it was not run. */
  readonly session: UpstreamSession | undefined;
  /** The calls that it could have made; undefined if it was not run. */
  readonly price: CallCost | undefined;
  /** How long the response may be used again, and by whom; undefined if it is for this request alone. */
  readonly cachePolicy: CachePolicy | undefined;
  /** The invalidations of caches that came before it; null if nothing is cached. */
  readonly epoch: number | null;
  /** It is the outcome of an earlier request with the same idempotency key. */
  readonly isReplayed?: boolean;
}

/** One that is sent whole. */
export interface WholeOutcome extends Outcome {
  readonly result: ExecutionResult;
}

export const isWhole = (outcome: Outcome): outcome is WholeOutcome => !(Symbol.asyncIterator in outcome.result);

/** Headers that the errors of a request that was not run ask for, as Yoga adds them. */
export const errorHeaders = ({ errors, data }: ExecutionResult): string[] =>
  data === undefined && errors
    ? errors.flatMap(({ extensions: { http } }) => Object.entries(http?.headers ?? {}).flat())
    : [];

/** The result as clients receive it: without the HTTP status of its errors. */
export const resultText = (result: Pick<ExecutionResult, 'errors'>): string =>
  JSON.stringify(result.errors ? { ...result, errors: result.errors.map(withoutHttp) } : result);

function withoutHttp(error: GraphQLError): GraphQLFormattedError {
  const { extensions, ...shown } = error.toJSON();
  const { http: _, ...rest } = extensions ?? {};
  return Object.keys(rest).length > 0 ? { ...shown, extensions: rest } : shown;
}

/** Cache-Control of a response. What may not be reused without asking is revalidated each time. */
export function cacheControlOf(policy: CachePolicy | undefined): string {
  const seconds = policy ? secondsToKeep(policy) : 0;
  if (policy && seconds > 0) return `${policy.scope}, max-age=${seconds}`;
  return policy && !policy.forbidsStoring ? 'private, no-cache' : 'no-store';
}

/**
 * How long a client may keep a response; 0 if nothing was read. Also 0 for content that people write: it may be deleted or made private at
 * any time, and nobody can invalidate the caches of clients.
 */
function secondsToKeep({ scope, freshUntil, mayChange }: CachePolicy): number {
  const seconds = Math.floor((freshUntil - performance.now()) / 1000);
  return scope === 'none' || mayChange || !Number.isFinite(seconds) ? 0 : Math.max(0, seconds);
}

/** Whether anybody may receive the response again. A response for which nothing was read has no time to live. */
export const isCacheable = ({ scope, freshUntil }: Pick<CachePolicy, 'scope' | 'freshUntil'>): boolean =>
  scope === 'public' && Number.isFinite(freshUntil) && freshUntil > performance.now();

/** Age of a response from old records, which its extensions name: that of the oldest. */
export function ageHeaders({ callLog }: UpstreamSession): string[] {
  const ages = callLog.calls.map(({ staleSeconds, ageSeconds = -1 }) => staleSeconds ?? ageSeconds);
  const oldest = Math.max(-1, ...ages);
  return oldest < 0 ? [] : ['age', String(oldest)];
}

/** Catalog-Cost, Cache-Status and RateLimit. Names and values alternate. */
export function costHeaders({ callLog }: UpstreamSession, price: CallCost, left: RateLimitState | null): string[] {
  const headers = ['catalog-cost', catalogCostOf(callLog, price)];
  const status = cacheStatusOf(callLog);
  if (status) headers.push('cache-status', status);
  if (left) headers.push('ratelimit', rateLimitOf(left));
  return headers;
}

/** Calls that were sent to the service, the most that could have been, and those that caches and equal calls in flight made unnecessary. */
function catalogCostOf({ calls }: CallLog, { max }: CallCost): string {
  let [sent, saved] = [0, 0];
  for (const { how } of calls)
    if (how === 'sent') sent++;
    else if (how !== 'refused') saved++;
  return `calls=${sent}, most=${max}, saved=${saved}`;
}

/** The name of the facade in Cache-Status (RFC 9211). */
const CACHE = 'catalog-graphql';
const HIT = `${CACHE}; hit`;

/** Whether the caches had all data, and whether some of it was old; undefined if nothing was read and nothing sent. */
function cacheStatusOf({ calls }: CallLog): string | undefined {
  let forwarded: 'miss' | 'method' | undefined;
  let [isHit, isStale, isOld] = [false, false, false];
  for (const { how, method, ageSeconds } of calls) {
    if (how === 'sent' || how === 'joined') forwarded = method === 'GET' ? (forwarded ?? 'miss') : 'method';
    else if (how !== 'refused') isHit = true;
    if (how === 'stale') isStale = true;
    if (how === 'stale' || ageSeconds !== undefined) isOld = true;
  }
  if (!forwarded && !isHit) return undefined;
  const status = forwarded ? `${CACHE}; fwd=${forwarded === 'miss' && isStale ? 'stale' : forwarded}` : HIT;
  return isOld ? `${status}; detail=stale` : status;
}

/** What is left to the caller. */
function rateLimitOf({ remaining, resetsAt }: RateLimitState): string {
  const seconds = Math.max(0, Math.ceil((Date.parse(resetsAt) - Date.now()) / 1000));
  return `"films";r=${remaining};t=${seconds}`;
}

/** The parts of a response. Its headers leave before its calls are made, so the last part has its Catalog-Cost and RateLimit. */
export function withCost(outcome: Outcome): Outcome {
  const { session, price } = outcome;
  if (!session || !price) return outcome;
  const parts = async function* (): ResultParts {
    for await (const part of outcome.result as ResultParts) {
      if (part.hasNext) yield part;
      else {
        const left = await session.rateBudget();
        const catalogCost = catalogCostOf(session.callLog, price);
        yield {
          ...part,
          extensions: { ...part.extensions, catalogCost, ...(left && { rateLimit: rateLimitOf(left) }) },
        };
      }
    }
  };
  return { ...outcome, result: parts() };
}

/** Headers of a response that was stored. */
export const STORED_COST = ['catalog-cost', 'calls=0', 'cache-status', HIT] as const;

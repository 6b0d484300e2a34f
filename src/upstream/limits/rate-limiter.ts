/** Respects upstream's rate limit: a call that upstream would reject with 429 is not sent. */
import { LRUCache } from 'lru-cache';
import type { Endpoint } from '../../api/endpoint.ts';
import { BASIC_CALLS_A_MINUTE } from '../../api/film.ts';
import { type Credential, isLimited } from '../auth/credentials.ts';
import { FilmRateLimiter, rateLimited, slotsOfAgents } from './film-rate.ts';
import type { CancellationToken } from '../../lib/cancellation.ts';
import type { Service } from '../errors.ts';
import { type LimiterState, type UnverifiedPermit, UnverifiedLimiter } from './unverified.ts';
import { type SharedSlidingWindows, type Slot, WINDOW_MS } from './sliding-window.ts';

export interface RateLimitState {
  limit: number;
  remaining: number;
  /** When the oldest slot becomes free, as RFC 3339. */
  resetsAt: string;
}

/** For one call, which counts towards the rate limit if its credential has one. */
export interface RateLimitPermit {
  /**
   * The call is over. If upstream counted it, its slot becomes free one window from now, else now: it was not sent, or its token was
   * rejected.
   */
  settle: (isCounted: boolean) => void;
}

export interface RateLimiter {
  /**
   * Counts one call, or rejects with RateLimited. May wait for other calls until it is cancelled, but not with `atOnce`: a retry would
   * wait for its own first attempt. `rateShare` is the part of the rate limit that agents have together.
   */
  acquire: (
    endpoint: Endpoint,
    credential: Credential,
    address: string,
    cancellation: CancellationToken,
    atOnce?: boolean,
    rateShare?: number,
  ) => RateLimitPermit | Promise<RateLimitPermit>;
  /** Called for a rate limit error of upstream. Pauses the group of the endpoint and returns the pause in seconds. */
  pause: (endpoint: Endpoint, credential: Credential, retryAfter: number | undefined) => number;
  /** Calls of the last minute; 0 if the credential has no limit. */
  used: (credential: Credential) => number;
  /** Null for a credential without a limit. With a share, of what agents have together. */
  state: (credential: Credential, rateShare?: number) => Promise<RateLimitState | null>;
  /** Calls in progress, over all credentials. */
  calls: () => LimitedCalls;
}

export interface LimitedCalls {
  /** Calls with tokens that upstream has not accepted yet. */
  unverified: LimiterState;
  /** Calls of film endpoints with a credential that has a limit. */
  film: LimiterState;
}

export interface RateLimiterSettings {
  retryAfterSeconds: number;
  maxRetryAfterSeconds: number;
  callTimeoutMs: number;
  operationTimeoutMs: number;
}

const PAUSES_MAX = 10_000;

interface RateLimitedCall {
  endpoint: Endpoint;
  credential: Credential;
  address: string;
  rateShare: number | undefined;
  cancellation: CancellationToken;
  atOnce: boolean;
}

/** `isRejected`: the service is known to reject the credential, so its calls need not wait for a verdict. */
export function createRateLimiter(
  { retryAfterSeconds, maxRetryAfterSeconds, callTimeoutMs, operationTimeoutMs }: RateLimiterSettings,
  shared?: SharedSlidingWindows,
  isRejected: (credential: Credential, service: Service) => boolean = () => false,
): RateLimiter {
  const unverified = new UnverifiedLimiter();
  const films = new FilmRateLimiter(operationTimeoutMs + callTimeoutMs, shared); // waiting for a connection, and the call
  const pausedUntil = new LRUCache<string, number>({ max: PAUSES_MAX });

  /** How long upstream requires us to wait, in ms. */
  const pauseOf = (endpoint: Endpoint, credential: Credential): number =>
    Math.max(0, (pausedUntil.get(pauseKey(endpoint, credential)) ?? 0) - performance.now());

  /** Waits for a permit while it is unknown whether upstream accepts the token. A retry keeps the permit of its first attempt. */
  async function unverifiedPermit(call: RateLimitedCall): Promise<UnverifiedPermit | undefined> {
    const { endpoint, credential } = call;
    let permit: UnverifiedPermit | undefined;
    while (!permit && !call.atOnce && !credential.accepted && !isRejected(credential, endpoint.service))
      permit = await unverified.acquire(credential.id, call.address, call.cancellation);
    return permit;
  }

  async function permitOf(call: RateLimitedCall): Promise<RateLimitPermit> {
    const { endpoint, credential } = call;
    const permit = credential.accepted ? undefined : await unverifiedPermit(call);
    let slot: Slot | undefined;
    const settle = (isCounted: boolean) => {
      if (permit) unverified.release(permit, credential.accepted || isRejected(credential, endpoint.service));
      if (slot && isCounted) films.settle(slot);
      else if (slot) films.release(slot);
    };
    try {
      if (hasLimit(endpoint)) slot = await films.acquire(call);
      const pause = pauseOf(endpoint, credential); // it may have begun while the call waited
      if (pause > 0) throw rateLimited(pause);
    } catch (error) {
      settle(false);
      throw error;
    }
    return { settle };
  }

  return {
    acquire(endpoint, credential, address, cancellation, atOnce = false, rateShare) {
      const pause = pausedUntil.size === 0 ? 0 : pauseOf(endpoint, credential);
      if (pause > 0) return Promise.reject(rateLimited(pause));
      if (credential.accepted && !(hasLimit(endpoint) && isLimited(credential))) return unlimited;
      return permitOf({ endpoint, credential, address, rateShare, cancellation, atOnce });
    },
    pause(endpoint, credential, retryAfter) {
      const seconds = Math.min(maxRetryAfterSeconds, Math.max(1, retryAfter ?? retryAfterSeconds));
      pausedUntil.set(pauseKey(endpoint, credential), performance.now() + seconds * 1000);
      return seconds;
    },
    used: (credential) => films.used(credential),
    async state(credential, rateShare) {
      if (!isLimited(credential)) return null;
      const all = await films.window(credential, false);
      const own = rateShare === undefined ? all : await films.window(credential, true);
      const limit = rateShare === undefined ? BASIC_CALLS_A_MINUTE : slotsOfAgents(rateShare);
      const { backInMs = WINDOW_MS } = own.taken < limit ? all : own;
      return {
        limit,
        remaining: Math.max(0, Math.min(limit - own.taken, BASIC_CALLS_A_MINUTE - all.taken)),
        resetsAt: new Date(Date.now() + backInMs).toISOString(),
      };
    },
    calls: () => ({ unverified: unverified.state(), film: films.state() }),
  };
}

const unlimited: RateLimitPermit = { settle: () => undefined };

const hasLimit = ({ share }: Endpoint): boolean => share === 'tier';

/** Upstream limits each group of endpoints separately. */
const pauseKey = ({ group }: Endpoint, { id }: Credential): string => `${group} ${id}`;

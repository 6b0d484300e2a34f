/** Respects upstream's rate limit: a call that upstream would reject with 429 is not sent. */
import type { Endpoint } from '../../api/endpoint.ts';
import type { ServiceDescriptor } from '../../api/service-descriptor.ts';
import type { Config } from '../../config/settings.ts';
import type { Credential } from '../auth/credentials.ts';
import { isLimited } from '../auth/viewer.ts';
import { type FilmCallRequest, FilmRateLimiter, slotsOfAgents } from './film-rate.ts';
import type { Service } from '../errors.ts';
import { type OnPause, Pauses, type SharedPauses } from './pauses.ts';
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

type RateLimiterSettings = Pick<
  Config,
  'retryAfterSeconds' | 'maxRetryAfterSeconds' | 'callTimeoutMs' | 'operationTimeoutMs'
> &
  Pick<ServiceDescriptor, 'basicCallsAMinute'>;

export interface RateLimitedCall extends FilmCallRequest {
  endpoint: Endpoint;
}

export class RateLimiter {
  private readonly unverified = new UnverifiedLimiter();
  private readonly films: FilmRateLimiter;
  readonly pauses: Pauses;
  readonly basicCallsAMinute: number;
  private readonly isRejected: (credential: Credential, service: Service) => boolean;

  /** `isRejected`: the service is known to reject the credential, so its calls need not wait for a verdict. */
  constructor(
    settings: RateLimiterSettings,
    shared?: SharedSlidingWindows,
    isRejected: (credential: Credential, service: Service) => boolean = () => false,
    sharedPauses?: SharedPauses,
    onPause?: OnPause,
  ) {
    this.pauses = new Pauses(settings, sharedPauses, onPause);
    // A slot is held while the call waits for a connection, and during the call.
    this.basicCallsAMinute = settings.basicCallsAMinute;
    const longestCallMs = settings.operationTimeoutMs + settings.callTimeoutMs;
    this.films = new FilmRateLimiter(settings.basicCallsAMinute, longestCallMs, shared);
    this.isRejected = isRejected;
  }

  /**
   * Counts one call, or rejects with RateLimited or ServicePaused. It may wait for other calls until it is cancelled. A retry does not: it
   * would wait for its own first attempt.
   */
  acquire(call: RateLimitedCall): RateLimitPermit | Promise<RateLimitPermit> {
    const { endpoint, credential } = call;
    const { pauses } = this;
    const refusal = pauses.isEmpty ? undefined : pauses.refusal(endpoint, credential);
    if (refusal) return Promise.reject(refusal);
    const isFree = credential.accepted && !(endpoint.isLimited && isLimited(credential));
    if (isFree && !pauses.isShared) return unlimited;
    return this.permitOf(call);
  }

  /** Calls of the last minute; 0 if the credential has no limit. */
  used(credential: Credential): number {
    return this.films.used(credential);
  }

  /** Null for a credential without a limit. With a share, of what agents have together. */
  async state(credential: Credential, rateShare?: number): Promise<RateLimitState | null> {
    if (!isLimited(credential)) return null;
    const all = await this.films.window(credential, false);
    const own = rateShare === undefined ? all : await this.films.window(credential, true);
    const { basicCallsAMinute: slots } = this;
    const limit = rateShare === undefined ? slots : slotsOfAgents(slots, rateShare);
    const { backInMs = WINDOW_MS } = own.taken < limit ? all : own;
    return {
      limit,
      remaining: Math.max(0, Math.min(limit - own.taken, slots - all.taken)),
      resetsAt: `${new Date(Math.ceil((Date.now() + backInMs) / 1000) * 1000).toISOString().slice(0, 19)}Z`,
    };
  }

  /** Calls in progress, over all credentials: with tokens that upstream has not accepted yet, and of film endpoints with a limit. */
  calls(): { unverified: LimiterState; film: LimiterState } {
    return { unverified: this.unverified.state(), film: this.films.state() };
  }

  private async permitOf(call: RateLimitedCall): Promise<RateLimitPermit> {
    const { endpoint, credential } = call;
    const isRejected = () => this.isRejected(credential, endpoint.service);
    let permit: UnverifiedPermit | undefined;
    // Wait while it is unknown whether upstream accepts the token. A retry keeps the permit of its first attempt.
    while (!permit && !call.isRetry && !credential.accepted && !isRejected())
      permit = await this.unverified.acquire(credential.id, call.address, call.cancellation);
    let slot: Slot | undefined;
    const settle = (isCounted: boolean) => {
      if (permit) this.unverified.release(permit, credential.accepted || isRejected());
      if (slot) this.films.settle(slot, isCounted);
    };
    try {
      if (endpoint.isLimited) slot = await this.films.acquire(call);
      if (this.pauses.isShared) await this.pauses.learn(endpoint, credential);
      const refusal = this.pauses.refusal(endpoint, credential); // it may have begun while the call waited
      if (refusal) throw refusal;
    } catch (error) {
      settle(false);
      throw error;
    }
    return { settle };
  }
}

const unlimited: RateLimitPermit = { settle: () => undefined };

/**
 * Respects upstream's rate limit: a call that upstream would reject with 429 is not sent. Film calls are so many a minute per limited
 * credential, counted in this process and in Redis if configured.
 */
import { randomUUID } from 'node:crypto';
import type { ApiRequest } from '../../api/api-request.ts';
import type { ServiceDescriptor } from '../../api/service-descriptor.ts';
import type { Config } from '../../config/settings.ts';
import { type CancellationToken, waitUnlessCancelled } from '../../lib/cancellation.ts';
import { type Credential, rejectionBy } from '../auth/credentials.ts';
import { isLimited } from '../auth/viewer.ts';
import { RateLimited, detailsOf } from '../errors.ts';
import { type OnPause, type Pauses, createPauses } from './pauses.ts';
import {
  type SharedSlidingWindows,
  type Slot,
  WINDOW_MS,
  type WindowLimits,
  createSlidingWindows,
} from './sliding-window.ts';
import { type ReleaseUnverified, createUnverifiedLimiter } from './unverified.ts';

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

/** One call that asks for a permit. */
export interface RateLimitedCall {
  request: ApiRequest;
  credential: Credential;
  address: string;
  /** The part of the rate limit that agents have together; undefined for everybody else. */
  rateShare?: number | undefined;
  cancellation: CancellationToken;
  /** It waits for no other call, and takes half of the share at most. */
  isRetry?: boolean;
}

export class RateLimiter {
  readonly pauses: Pauses;
  readonly basicCallsAMinute: number;
  private readonly unverified = createUnverifiedLimiter();
  /** Made-up tokens must not push out the windows of the facade's own. */
  private readonly windows = { own: createSlidingWindows(), clients: createSlidingWindows() };
  /** Running film calls by credential, and those that wait until these show whether there is a limit. */
  private readonly films = new Map<string, { running: number; waiting: Set<() => void> }>();
  private readonly holdMs: number;
  private readonly shared: SharedSlidingWindows | undefined;

  constructor(settings: RateLimiterSettings, shared?: SharedSlidingWindows, onPause?: OnPause) {
    this.pauses = createPauses(settings, onPause);
    this.basicCallsAMinute = settings.basicCallsAMinute;
    // A slot is held while the call waits for a connection, and during the call.
    this.holdMs = WINDOW_MS + settings.operationTimeoutMs + settings.callTimeoutMs;
    this.shared = shared;
  }

  /**
   * Counts one call, or rejects: the rate limit is reached, or the service asks for a pause. It may wait for other calls until it is
   * cancelled. A retry does not: it would wait for its own first attempt.
   */
  acquire(call: RateLimitedCall): RateLimitPermit | Promise<RateLimitPermit> {
    const { request, credential } = call;
    const { endpoint } = request;
    const refusal = this.pauses.refusal(request, credential);
    if (refusal) return Promise.reject(refusal);
    const isFree = credential.accepted && !(endpoint.isLimited && isLimited(credential));
    return isFree ? free : this.permitOf(call);
  }

  /** Film calls of the last minute in this process; 0 if the credential has no limit. */
  used(credential: Credential): number {
    return this.windowsOf(credential).state(credential.id).taken;
  }

  /** Null for a credential without a limit. With a share, of what agents have together. */
  async state(credential: Credential, rateShare?: number): Promise<RateLimitState | null> {
    if (!isLimited(credential)) return null;
    const { id } = credential;
    const stateOf = async (address?: string) =>
      (await this.shared?.state(id, this.holdMs, address)) ?? this.windowsOf(credential).state(id, address);
    const all = await stateOf();
    const own = rateShare === undefined ? all : await stateOf(AGENTS);
    const { basicCallsAMinute: slots } = this;
    const limit = rateShare === undefined ? slots : slotsOfAgents(slots, rateShare);
    const { backInMs = WINDOW_MS } = own.taken < limit ? all : own;
    return {
      limit,
      remaining: Math.max(0, Math.min(limit - own.taken, slots - all.taken)),
      resetsAt: `${new Date(Math.ceil((Date.now() + backInMs) / 1000) * 1000).toISOString().slice(0, 19)}Z`,
    };
  }

  private async permitOf(call: RateLimitedCall): Promise<RateLimitPermit> {
    const { request, credential } = call;
    const { endpoint } = request;
    const isRejected = () => rejectionBy(endpoint.service, credential) !== undefined;
    let release: ReleaseUnverified | undefined;
    // Wait while it is unknown whether upstream accepts the token. A retry keeps the permit of its first attempt.
    while (!release && !call.isRetry && !credential.accepted && !isRejected())
      release = await this.unverified(credential, call.address, call.cancellation);
    let slot: Slot | undefined;
    const settle = (isCounted: boolean) => {
      release?.(credential.accepted || isRejected());
      if (slot) this.end(credential, slot, isCounted);
      release = slot = undefined;
    };
    try {
      if (endpoint.isLimited) slot = await this.filmSlot(call);
      const refusal = this.pauses.refusal(request, credential); // it may have begun while the call waited
      if (refusal) throw refusal;
    } catch (error) {
      settle(false);
      throw error;
    }
    return { settle };
  }

  /** A slot, or undefined if the credential has no limit. Rejects with RateLimited, or when it is cancelled. */
  private async filmSlot(call: RateLimitedCall): Promise<Slot | undefined> {
    const { credential, cancellation, isRetry } = call;
    const limits = this.limitsOf(call);
    let slot = this.take(call, limits);
    const others = isRetry ? undefined : this.films.get(credential.id);
    if (typeof slot === 'number' && others && mayProveUnlimited(credential)) {
      await waitUnlessCancelled(cancellation, (resolve: (none?: undefined) => void) => {
        others.waiting.add(resolve);
        return () => void others.waiting.delete(resolve);
      });
      slot = this.take(call, limits);
    }
    if (typeof slot === 'number') throw this.refusal(call, slot);
    if (!slot) return undefined;
    const films = this.films.get(credential.id) ?? { running: 0, waiting: new Set() };
    this.films.set(credential.id, films);
    films.running++;
    // Counted in this process too, because Redis may become unreachable.
    const wait = await this.shared?.take(slot, limits);
    if (!wait) return slot;
    this.end(credential, slot);
    throw this.refusal(call, wait, (await this.shared?.state(credential.id, this.holdMs))?.taken);
  }

  private refusal({ request, credential, rateShare }: RateLimitedCall, waitMs: number, taken = this.used(credential)) {
    const seconds = Math.ceil(Math.min(WINDOW_MS, Math.max(1, waitMs)) / 1000);
    const whose = rateShare === undefined ? 'this address' : 'all agents';
    return new RateLimited(detailsOf(request), seconds, taken < this.basicCallsAMinute ? whose : undefined);
  }

  /** `isCounted`: by upstream; undefined if the slot was not granted. */
  private end(credential: Credential, slot: Slot, isCounted?: boolean): void {
    const end = isCounted ? 'settle' : 'release';
    this.windowsOf(credential)[end](slot);
    if (isCounted !== undefined) this.shared?.[end](slot);
    const films = this.films.get(credential.id)!;
    if (--films.running === 0) this.films.delete(credential.id);
    if (films.running > 0 && isLimited(credential) && mayProveUnlimited(credential)) return;
    for (const goOn of films.waiting) goOn();
    films.waiting.clear();
  }

  private windowsOf({ isOwn }: Credential) {
    return isOwn ? this.windows.own : this.windows.clients;
  }

  /** A slot; undefined without a limit; the ms until there is one. */
  private take({ credential, address, rateShare }: RateLimitedCall, limits: WindowLimits) {
    if (!isLimited(credential)) return undefined;
    // All agents take their slots as one address.
    const from = rateShare === undefined ? (credential.isOwn ? address : '') : AGENTS;
    const slot: Slot = { window: credential.id, id: randomUUID(), address: from };
    return this.windowsOf(credential).take(slot, limits) || slot;
  }

  private limitsOf({ credential: { isOwn }, rateShare, isRetry }: RateLimitedCall): WindowLimits {
    const { basicCallsAMinute: slots, holdMs } = this;
    const ofEverybody = isOwn ? slots / 2 : slots;
    const perAddress = rateShare === undefined ? ofEverybody : slotsOfAgents(slots, rateShare);
    // Retries against a service that fails must leave something for the next minute.
    return isRetry
      ? { slots: slots / 2, perAddress: Math.floor(perAddress / 2), holdMs }
      : { slots, perAddress, holdMs };
  }
}

const free: RateLimitPermit = { settle: () => undefined };
/** Responses show whether a client's token has a limit. The facade's own token counts as limited only after a rate limit error. */
const mayProveUnlimited = ({ isOwn, possibleTiers }: Credential): boolean => !isOwn && possibleTiers.length > 1;
const AGENTS = 'agents';

/** How many of the calls a minute of one credential all agents together may make. */
export const slotsOfAgents = (slots: number, rateShare: number): number => Math.max(1, Math.floor(slots * rateShare));

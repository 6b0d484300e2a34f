/** The upstream's rate limit, kept on this side: a call that would draw a 429 is not made. */
import { LRUCache } from 'lru-cache';
import type { Endpoint } from '../../api/endpoint.ts';
import { BASIC_CALLS_A_MINUTE } from '../../api/film.ts';
import { type Credential, isLimited } from '../auth/credentials.ts';
import { createFilmRate, limited } from './film-rate.ts';
import type { Lifetime } from '../../lib/cancellation.ts';
import type { Service } from '../errors.ts';
import { type LimiterState, type Permit, createUnverified } from './unverified.ts';
import { type SharedWindows, type Slot, WINDOW_MS } from './sliding-window.ts';

export interface BudgetState {
  limit: number;
  remaining: number;
  /** When the oldest slot comes back, as RFC 3339. */
  resetsAt: string;
}

/** A call that was paid for. */
export interface Paid {
  /** It was answered, or failed: its slot comes back a window from now. `isRejected`: upstream does not know the token. */
  ended: (isRejected: boolean) => void;
  /** It was not sent after all: its slot comes back now. */
  notMade: () => void;
}

export interface Budget {
  /**
   * Counts one call, or rejects with RateLimited. It may wait for other calls until the lifetime ends, but not with `atOnce`: a retry
   * would wait for its own first attempt.
   */
  take: (
    endpoint: Endpoint,
    credential: Credential,
    address: string,
    lifetime: Lifetime,
    atOnce?: boolean,
  ) => Paid | Promise<Paid>;
  /** Called for a rate limit error of upstream. Pauses the group of the endpoint and returns the pause in seconds. */
  refused: (endpoint: Endpoint, credential: Credential, retryAfter: number | undefined) => number;
  /** Calls of this minute, where they are counted. */
  used: (credential: Credential) => number;
  /** Null for a credential without a limit. */
  state: (credential: Credential) => Promise<BudgetState | null>;
  /** Calls in progress, over all credentials. */
  calls: () => LimitedCalls;
}

export interface LimitedCalls {
  /** Calls with tokens that upstream has not accepted yet. */
  unverified: LimiterState;
  /** Calls of film endpoints with a credential that has a limit. */
  film: LimiterState;
}

export interface BudgetSettings {
  retryAfterSeconds: number;
  maxRetryAfterSeconds: number;
  callTimeoutMs: number;
  operationTimeoutMs: number;
}

const PAUSES_MAX = 10_000;

/** One call that has yet to be counted. */
interface Payer {
  endpoint: Endpoint;
  credential: Credential;
  address: string;
  lifetime: Lifetime;
  atOnce: boolean;
}

/** `isRejected`: the service is known to reject the credential, so its calls need not wait for a verdict. */
export function createBudget(
  { retryAfterSeconds, maxRetryAfterSeconds, callTimeoutMs, operationTimeoutMs }: BudgetSettings,
  shared?: SharedWindows,
  isRejected: (credential: Credential, service: Service) => boolean = () => false,
): Budget {
  const unverified = createUnverified();
  const films = createFilmRate(operationTimeoutMs + callTimeoutMs, shared); // waiting for a connection, and the call
  const pausedUntil = new LRUCache<string, number>({ max: PAUSES_MAX });

  /** Milliseconds for which upstream does not want to be asked. */
  const pauseOf = (endpoint: Endpoint, credential: Credential): number =>
    pausedUntil.size === 0
      ? 0
      : Math.max(0, (pausedUntil.get(pauseKey(endpoint, credential)) ?? 0) - performance.now());

  /** Waits for a permit while it is unknown whether upstream accepts the token. A retry keeps the permit of its first attempt. */
  async function permitFor({ endpoint, credential, address, lifetime, atOnce }: Payer): Promise<Permit | undefined> {
    let permit: Permit | undefined;
    while (!permit && !atOnce && !credential.accepted && !isRejected(credential, endpoint.service))
      permit = await unverified.enter(credential.id, address, lifetime);
    return permit;
  }

  async function paid(payer: Payer): Promise<Paid> {
    const { endpoint, credential } = payer;
    const permit = credential.accepted ? undefined : await permitFor(payer);
    let slot: Slot | undefined;
    const giveBack = () => {
      if (permit) unverified.leave(permit, credential.accepted || isRejected(credential, endpoint.service));
    };
    const notMade = () => {
      giveBack();
      if (slot) films.release(slot);
    };
    try {
      if (isCounted(endpoint)) slot = await films.take(payer);
      const pause = pauseOf(endpoint, credential); // it may have begun while the call waited
      if (pause > 0) throw limited(pause);
    } catch (error) {
      notMade();
      throw error;
    }
    return {
      notMade,
      ended(isRejected) {
        if (isRejected) return notMade(); // upstream does not count calls with unknown tokens
        giveBack();
        if (slot) films.answered(slot);
      },
    };
  }

  return {
    take(endpoint, credential, address, lifetime, atOnce = false) {
      const pause = pauseOf(endpoint, credential);
      if (pause > 0) return Promise.reject(limited(pause));
      if (credential.accepted && !(isCounted(endpoint) && isLimited(credential))) return free;
      return paid({ endpoint, credential, address, lifetime, atOnce });
    },
    refused(endpoint, credential, retryAfter) {
      const seconds = Math.min(maxRetryAfterSeconds, Math.max(1, retryAfter ?? retryAfterSeconds));
      pausedUntil.set(pauseKey(endpoint, credential), performance.now() + seconds * 1000);
      return seconds;
    },
    used: films.used,
    async state(credential) {
      if (!isLimited(credential)) return null;
      const { taken, backInMs = WINDOW_MS } = await films.window(credential);
      return {
        limit: BASIC_CALLS_A_MINUTE,
        remaining: Math.max(0, BASIC_CALLS_A_MINUTE - taken),
        resetsAt: new Date(Date.now() + backInMs).toISOString(),
      };
    },
    calls: () => ({ unverified: unverified.state(), film: films.state() }),
  };
}

/** Paid for by nobody: the call counts nowhere. */
const free: Paid = { ended: () => undefined, notMade: () => undefined };

const isCounted = ({ share }: Endpoint): boolean => share === 'tier';

/** Upstream limits each group of endpoints separately. */
const pauseKey = ({ group }: Endpoint, { id }: Credential): string => `${group} ${id}`;

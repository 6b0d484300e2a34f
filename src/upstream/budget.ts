/** The upstream's rate limit, kept on this side: a call that would draw a 429 is not made. */
import { LRUCache } from 'lru-cache';
import type { Endpoint } from '../contract/endpoint.ts';
import { BASIC_CALLS_A_MINUTE } from '../contract/film.ts';
import { type Credential, isLimited } from './credential.ts';
import { RateLimited } from './refusal.ts';
import { type SharedWindows, type Slot, WINDOW_MS, type WindowLimits, createWindows } from './window.ts';

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
   * Pays for one call, or rejects with RateLimited. It may wait for the answers of other calls, but not `atOnce`: a call that pays for
   * another attempt would wait for itself.
   */
  take: (endpoint: Endpoint, credential: Credential, address: string, atOnce?: boolean) => Paid | Promise<Paid>;
  /** Upstream said that it is asked too often: remembered; the seconds to wait. */
  refused: (credential: Credential, retryAfter: number | undefined) => number;
  /** Calls of this minute, where they are counted. */
  used: (credential: Credential) => number;
  /** Null for a credential without a limit. */
  state: (credential: Credential) => Promise<BudgetState | null>;
}

export interface BudgetSettings {
  retryAfterSeconds: number;
  maxRetryAfterSeconds: number;
  /** Longest that one call takes. */
  callTimeoutMs: number;
}

/**
 * Credentials that upstream has not yet accepted share this many calls, half of them for one address. A call counts while it runs, and for
 * a window when its token was rejected, so that a newcomer's first page has room and a guesser of tokens has not. Kept by each process.
 */
export const NEWCOMERS_CALLS = 60;
const NEWCOMERS = 'newcomers';
const PAUSES_MAX = 10_000;

interface Asker {
  credential: Credential;
  address: string;
  atOnce: boolean;
}
/** A call that is not paid for while others on their way may change what it costs. */
interface Waiter extends Asker {
  admit: (slot: Slot | undefined) => void;
  refuse: (error: RateLimited) => void;
}

export function createBudget(settings: BudgetSettings, shared?: SharedWindows): Budget {
  const { retryAfterSeconds, maxRetryAfterSeconds, callTimeoutMs } = settings;
  const windows = createWindows();
  const pausedUntil = new LRUCache<string, number>({ max: PAUSES_MAX });
  const holdMs = WINDOW_MS + callTimeoutMs + 5_000;
  let taken = 0;
  /** Calls on their way, by whose window they are paid from. */
  const running = new Map<string, number>();
  let waiting: { waiter: Waiter; settle: (waiter: Waiter) => boolean }[] = [];

  async function takeFilm(asker: Asker): Promise<Slot | undefined> {
    const { credential, address } = asker;
    // Always counted here too: Redis may go away, and come back.
    const slot = await settled({ ...asker, address: credential.isOwn ? address : '' }, settleFilm);
    if (!slot) return undefined;
    const wait = await shared?.take(slot, filmLimits(credential));
    if (!wait) return slot;
    end(slot, windows.release);
    throw limited(wait);
  }

  function filmLimits({ isOwn }: Credential) {
    const slots = BASIC_CALLS_A_MINUTE;
    return { slots, perAddress: isOwn ? slots / 2 : slots, holdMs };
  }

  /** While it is not known whether a token has a limit at all, calls on their way may tell. */
  function settleFilm({ credential, address, atOnce, admit, refuse }: Waiter): boolean {
    const wait = isLimited(credential)
      ? takeSlot(credential.id, address, filmLimits(credential), admit)
      : admit(undefined);
    if (!wait) return true;
    if (!atOnce && credential.possibleTiers.length > 1 && running.has(credential.id)) return false;
    refuse(limited(wait));
    return true;
  }

  /** A newcomer waits for others on their way: with their answers they are no newcomers, and make room. */
  function settleNewcomer({ credential, address, atOnce, admit, refuse }: Waiter): boolean {
    const limits = { slots: NEWCOMERS_CALLS, perAddress: NEWCOMERS_CALLS / 2, holdMs };
    const wait = credential.accepted ? admit(undefined) : takeSlot(NEWCOMERS, address, limits, admit);
    if (!wait) return true;
    if (!atOnce && running.has(NEWCOMERS)) return false;
    refuse(limited(wait));
    return true;
  }

  function takeSlot(of: string, address: string, limits: WindowLimits, admit: Waiter['admit']): number {
    const slot: Slot = { of, id: `${process.pid.toString(36)}-${unique}-${taken++}`, address };
    const wait = windows.take(slot, limits);
    if (wait > 0) return wait;
    running.set(of, (running.get(of) ?? 0) + 1);
    admit(slot);
    return 0;
  }

  /** Milliseconds for which upstream does not want to be asked. */
  const pauseOf = ({ id }: Credential): number =>
    pausedUntil.size === 0 ? 0 : Math.max(0, (pausedUntil.get(id) ?? 0) - Date.now());

  /** What `settle` makes of it, now or when calls on their way have ended. */
  function settled(asker: Asker, settle: (waiter: Waiter) => boolean) {
    return new Promise<Slot | undefined>((admit, refuse) => {
      const waiter: Waiter = { ...asker, admit, refuse };
      if (!settle(waiter)) waiting.push({ waiter, settle });
    });
  }

  function end(slot: Slot, how: (slot: Slot) => void): void {
    how(slot);
    const left = (running.get(slot.of) ?? 1) - 1;
    if (left > 0) running.set(slot.of, left);
    else running.delete(slot.of);
    if (waiting.length) waiting = waiting.filter(({ waiter, settle }) => !settle(waiter));
  }

  return {
    take(endpoint, credential, address, atOnce = false) {
      const pause = pauseOf(credential);
      if (pause > 0) return Promise.reject(limited(pause));
      if (credential.accepted && !(isCounted(endpoint) && isLimited(credential))) return free;
      return paid(endpoint, { credential, address, atOnce });
    },
    refused({ id }, retryAfter) {
      const seconds = Math.min(maxRetryAfterSeconds, Math.max(1, retryAfter ?? retryAfterSeconds));
      pausedUntil.set(id, Date.now() + seconds * 1000);
      return seconds;
    },
    used: ({ id }) => windows.state(id).taken,
    async state(credential) {
      if (!isLimited(credential)) return null;
      const here = windows.state(credential.id);
      const { taken, backInMs = WINDOW_MS } = (await shared?.state(credential.id)) ?? here;
      return {
        limit: BASIC_CALLS_A_MINUTE,
        remaining: Math.max(0, BASIC_CALLS_A_MINUTE - taken),
        resetsAt: new Date(Date.now() + backInMs).toISOString(),
      };
    },
  };

  async function paid(endpoint: Endpoint, asker: Asker): Promise<Paid> {
    const { credential } = asker;
    const newcomer = credential.accepted ? undefined : await settled(asker, settleNewcomer);
    let film: Slot | undefined;
    const notMade = () => {
      if (film) {
        end(film, windows.release);
        shared?.release(film);
      }
      if (newcomer) end(newcomer, windows.release);
    };
    try {
      if (isCounted(endpoint) && isLimited(credential)) film = await takeFilm(asker);
      const pause = pauseOf(credential); // it may have waited
      if (pause > 0) throw limited(pause);
    } catch (error) {
      notMade();
      throw error;
    }
    return {
      ended(isRejected) {
        if (newcomer) end(newcomer, isRejected ? windows.answered : windows.release);
        if (!film) return;
        end(film, windows.answered);
        shared?.answered(film);
      },
      notMade,
    };
  }
}

/** Paid for by nobody: the call counts nowhere. */
const free: Paid = { ended: () => undefined, notMade: () => undefined };

/** Tells the slots of this process from those of another with its number. */
const unique = Math.random().toString(36).slice(2, 8);

const isCounted = ({ share }: Endpoint): boolean => share === 'tier';

const limited = (waitMs: number): RateLimited =>
  new RateLimited(Math.ceil(Math.min(WINDOW_MS, Math.max(1, waitMs)) / 1000));

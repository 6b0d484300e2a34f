/** The upstream's rate limit, kept on this side: a call that would draw a 429 is not made. */
import { LRUCache } from 'lru-cache';
import type { Endpoint } from '../contract/endpoint.ts';
import { BASIC_CALLS_A_MINUTE } from '../contract/film.ts';
import { type Credential, isLimited } from './credential.ts';
import { RateLimited } from './refusal.ts';
import { type SharedWindows, type Slot, WINDOW_MS, createWindows } from './window.ts';

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
}

export interface Budget {
  /** Pays for one call, or rejects with RateLimited. */
  take: (endpoint: Endpoint, credential: Credential, address: string) => Promise<Paid>;
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

interface Newcomer {
  credential: Credential;
  address: string;
  admit: (slot: Slot | undefined) => void;
  refuse: (error: RateLimited) => void;
}

export function createBudget(settings: BudgetSettings, shared?: SharedWindows): Budget {
  const { retryAfterSeconds, maxRetryAfterSeconds, callTimeoutMs } = settings;
  const windows = createWindows();
  const pausedUntil = new LRUCache<string, number>({ max: PAUSES_MAX });
  const holdMs = WINDOW_MS + callTimeoutMs + 5_000;
  let taken = 0;
  let newcomersRunning = 0;
  let waiting: Newcomer[] = [];

  const slotOf = (of: string, address: string): Slot => ({
    of,
    id: `${process.pid.toString(36)}-${unique}-${taken++}`,
    address,
  });

  async function takeFilm(credential: Credential, address: string): Promise<Slot> {
    const slot = slotOf(credential.id, credential.isOwn ? address : '');
    const limits = {
      slots: BASIC_CALLS_A_MINUTE,
      perAddress: credential.isOwn ? BASIC_CALLS_A_MINUTE / 2 : BASIC_CALLS_A_MINUTE,
      holdMs,
    };
    // Always counted here too: Redis may go away, and come back.
    const wait = windows.take(slot, limits);
    if (wait > 0) throw limited(wait);
    const waitShared = await shared?.take(slot, limits);
    if (waitShared) {
      windows.release(slot);
      throw limited(waitShared);
    }
    return slot;
  }

  /** A newcomer waits for others on their way: with their answers they are no newcomers, and make room. */
  function takeNewcomer(credential: Credential, address: string): Promise<Slot | undefined> {
    return new Promise((admit, refuse) => {
      const newcomer: Newcomer = { credential, address, admit, refuse };
      if (!settle(newcomer)) waiting.push(newcomer);
    });
  }

  /** Lets a newcomer in, or not; false while there is hope. */
  function settle({ credential, address, admit, refuse }: Newcomer): boolean {
    if (credential.accepted) {
      admit(undefined);
      return true;
    }
    const slot = slotOf(NEWCOMERS, address);
    const wait = windows.take(slot, { slots: NEWCOMERS_CALLS, perAddress: NEWCOMERS_CALLS / 2, holdMs });
    if (wait === 0) {
      newcomersRunning++;
      admit(slot);
    } else if (newcomersRunning === 0) refuse(limited(wait));
    else return false;
    return true;
  }

  function leave(slot: Slot, isRejected: boolean): void {
    newcomersRunning--;
    if (isRejected) windows.answered(slot);
    else windows.release(slot);
    waiting = waiting.filter(
      (newcomer) => (newcomersRunning >= NEWCOMERS_CALLS && !newcomer.credential.accepted) || !settle(newcomer),
    );
  }

  return {
    async take(endpoint, credential, address) {
      const paused = (pausedUntil.get(credential.id) ?? 0) - Date.now();
      if (paused > 0) throw limited(paused);
      const newcomer = credential.accepted ? undefined : await takeNewcomer(credential, address);
      let film: Slot | undefined;
      try {
        if (isCounted(endpoint) && isLimited(credential)) film = await takeFilm(credential, address);
      } catch (error) {
        if (newcomer) leave(newcomer, false);
        throw error;
      }
      return {
        ended(isRejected) {
          if (newcomer) leave(newcomer, isRejected);
          if (!film) return;
          windows.answered(film);
          shared?.answered(film);
        },
      };
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
}

/** Tells the slots of this process from those of another with its number. */
const unique = Math.random().toString(36).slice(2, 8);

const isCounted = ({ share }: Endpoint): boolean => share === 'tier';

const limited = (waitMs: number): RateLimited =>
  new RateLimited(Math.ceil(Math.min(WINDOW_MS, Math.max(1, waitMs)) / 1000));

/** The upstream's rate limit, kept on this side: a call that would draw a 429 is not made. */
import type { Endpoint } from '../contract/endpoint.ts';
import { BASIC_CALLS_A_MINUTE } from '../contract/film.ts';
import type { Credential } from './credential.ts';
import { RateLimited } from './refusal.ts';

export interface BudgetState {
  limit: number;
  remaining: number;
  /** When the oldest slot comes back, as RFC 3339. */
  resetsAt: string;
}

export interface Budget {
  /** Takes a slot or rejects with RateLimited. */
  take: (endpoint: Endpoint, credential: Credential, address: string) => Promise<void>;
  /** A slot comes back a window after its call was answered. */
  answered: (endpoint: Endpoint, credential: Credential) => void;
  /** Upstream said that it is asked too often: remembered; the seconds to wait. */
  refused: (credential: Credential, retryAfter: number | undefined) => number;
  state: (credential: Credential) => BudgetState | null;
}

export interface BudgetSettings {
  retryAfterSeconds: number;
  maxRetryAfterSeconds: number;
}

const WINDOW_MS = 60_000;

export function createBudget({ retryAfterSeconds, maxRetryAfterSeconds }: BudgetSettings): Budget {
  const pausedUntil = new Map<string, number>();
  const windows = new Map<string, { running: number; ended: number[] }>();

  const isCounted = (endpoint: Endpoint, credential: Credential) => endpoint.share === 'tier' && credential.filmTier === 'basic';
  const windowOf = ({ id }: Credential) => {
    const window = windows.get(id) ?? { running: 0, ended: [] };
    windows.set(id, window);
    const from = Date.now() - WINDOW_MS;
    while (window.ended.length && window.ended[0]! <= from) window.ended.shift();
    return window;
  };

  return {
    take(endpoint, credential) {
      const paused = (pausedUntil.get(credential.id) ?? 0) - Date.now();
      if (paused > 0) return Promise.reject(new RateLimited(Math.ceil(paused / 1000)));
      if (!isCounted(endpoint, credential)) return Promise.resolve();
      const window = windowOf(credential);
      if (window.running + window.ended.length >= BASIC_CALLS_A_MINUTE) {
        const back = window.ended[0] === undefined ? WINDOW_MS : window.ended[0] + WINDOW_MS - Date.now();
        return Promise.reject(new RateLimited(Math.max(1, Math.ceil(back / 1000))));
      }
      window.running++;
      return Promise.resolve();
    },
    answered(endpoint, credential) {
      if (!isCounted(endpoint, credential)) return;
      const window = windowOf(credential);
      if (window.running === 0) return;
      window.running--;
      window.ended.push(Date.now());
    },
    refused({ id }, retryAfter) {
      const seconds = Math.min(maxRetryAfterSeconds, Math.max(1, retryAfter ?? retryAfterSeconds));
      pausedUntil.set(id, Date.now() + seconds * 1000);
      return seconds;
    },
    state(credential) {
      if (credential.filmTier !== 'basic') return null;
      const { running, ended } = windowOf(credential);
      return {
        limit: BASIC_CALLS_A_MINUTE,
        remaining: Math.max(0, BASIC_CALLS_A_MINUTE - running - ended.length),
        resetsAt: new Date((ended[0] ?? Date.now()) + WINDOW_MS).toISOString(),
      };
    },
  };
}

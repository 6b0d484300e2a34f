/** The rate limiter of film calls: `BASIC_CALLS_A_MINUTE` per limited credential, counted in this process and in Redis if configured. */
import { BASIC_CALLS_A_MINUTE } from '../../api/film.ts';
import { type Credential, isLimited } from '../auth/credentials.ts';
import {
  type CancellationToken,
  type CancellationListener,
  removeListener,
  addListener,
} from '../../lib/cancellation.ts';
import { type QueueNode, type Queue, createQueue, append, unlink } from '../../lib/queue.ts';
import { RateLimited } from '../errors.ts';
import type { LimiterState } from './unverified.ts';
import {
  type SharedSlidingWindows,
  type Slot,
  WINDOW_MS,
  type WindowLimits,
  type WindowState,
  createSlidingWindows,
} from './sliding-window.ts';

/** One call that needs a slot. */
export interface FilmCallRequest {
  credential: Credential;
  address: string;
  cancellation: CancellationToken;
  /** Do not wait for other calls. */
  atOnce: boolean;
}

export interface FilmRateLimiter {
  /** A slot, or undefined if the credential has no limit. Rejects with RateLimited, or when it is cancelled. */
  acquire: (call: FilmCallRequest) => Promise<Slot | undefined>;
  /** The call has ended: the slot becomes free one window from now. */
  settle: (slot: Slot) => void;
  /** The call was not made, or does not count: the slot becomes free now. */
  release: (slot: Slot) => void;
  /** Slots taken in this process. */
  used: (credential: Credential) => number;
  window: (credential: Credential) => Promise<WindowState>;
  state: () => LimiterState;
}

/** Running and waiting calls of one credential. */
interface Underway {
  running: number;
  waiting: Queue<Waiter>;
}

export function createFilmRateLimiter(longestCallMs: number, shared?: SharedSlidingWindows): FilmRateLimiter {
  const windows = createSlidingWindows();
  const holdMs = WINDOW_MS + longestCallMs;
  const underway = new Map<string, Underway>();
  let running = 0;
  let waiting = 0;
  let taken = 0;

  const limitsOf = ({ isOwn }: Credential): WindowLimits => {
    const slots = BASIC_CALLS_A_MINUTE;
    return { slots, perAddress: isOwn ? slots / 2 : slots, holdMs };
  };

  function callsOf(credential: string): Underway {
    let calls = underway.get(credential);
    if (!calls) underway.set(credential, (calls = { running: 0, waiting: createQueue() }));
    return calls;
  }

  /** A slot, `unlimited`, or the error; undefined if the call must wait until running calls show whether there is a limit. */
  function decide({ credential, address, atOnce }: FilmCallRequest): Slot | typeof unlimited | RateLimited | undefined {
    if (!isLimited(credential)) return unlimited;
    const id = `${process.pid.toString(36)}-${unique}-${taken++}`;
    const slot: Slot = { window: credential.id, id, address: credential.isOwn ? address : '' };
    const wait = windows.take(slot, limitsOf(credential));
    if (wait === 0) return slot;
    // Responses show whether a client's token has a limit. The facade's own token counts as limited only after a rate limit error.
    const mayProveUnlimited = !credential.isOwn && credential.possibleTiers.length > 1 && underway.has(credential.id);
    return mayProveUnlimited && callsOf(credential.id).running > 0 && !atOnce ? undefined : rateLimited(wait);
  }

  function takeHere(call: FilmCallRequest): Promise<Slot | undefined> {
    return new Promise((resolve, reject) => {
      const settle = (): boolean => {
        const decision = decide(call);
        if (decision === undefined) return false;
        if (decision instanceof RateLimited) reject(decision);
        else if (decision === unlimited) resolve(undefined);
        else {
          callsOf(decision.window).running++;
          running++;
          resolve(decision);
        }
        return true;
      };
      if (settle()) return;
      waiting++;
      const waiter = new Waiter(callsOf(call.credential.id), call.cancellation, settle, (reason) => {
        remove(waiter);
        reject(reason);
      });
      addListener(call.cancellation, waiter);
    });
  }

  function remove(waiter: Waiter): void {
    if (unlink(waiter.calls.waiting, waiter.place)) waiting--;
    removeListener(waiter.cancellation, waiter);
  }

  /** Settles waiting calls in order, up to the first that must go on waiting. If no call is running, none has to wait. */
  function end({ window }: Slot): void {
    const calls = callsOf(window);
    running--;
    calls.running--;
    for (let first = calls.waiting.first; first; first = calls.waiting.first) {
      if (!first.item.settle()) return;
      remove(first.item);
    }
    if (calls.running === 0) underway.delete(window);
  }

  function release(slot: Slot): void {
    windows.release(slot);
    shared?.release(slot);
    end(slot);
  }

  return {
    async acquire(call) {
      const slot = await takeHere(call);
      if (!slot) return undefined;
      // Counted in this process too, because Redis may become unreachable.
      const wait = await shared?.take(slot, limitsOf(call.credential));
      if (!wait) return slot;
      windows.release(slot);
      end(slot);
      throw rateLimited(wait);
    },
    settle(slot) {
      windows.settle(slot);
      shared?.settle(slot);
      end(slot);
    },
    release,
    used: ({ id }) => windows.state(id).taken,
    window: async ({ id }) => (await shared?.state(id, holdMs)) ?? windows.state(id),
    state: () => ({ running, waiting }),
  };
}

const unlimited = Symbol('unlimited');

/** Process ids are not unique across machines. */
const unique = Math.random().toString(36).slice(2, 8);

export const rateLimited = (waitMs: number): RateLimited =>
  new RateLimited(Math.ceil(Math.min(WINDOW_MS, Math.max(1, waitMs)) / 1000));

class Waiter implements CancellationListener {
  readonly place: QueueNode<Waiter>;
  readonly calls: Underway;
  readonly cancellation: CancellationToken;
  /** False if the call must go on waiting. */
  readonly settle: () => boolean;
  readonly onCancel: (reason: Error) => void;

  constructor(calls: Underway, cancellation: CancellationToken, settle: () => boolean, over: (reason: Error) => void) {
    this.calls = calls;
    this.cancellation = cancellation;
    this.settle = settle;
    this.onCancel = over;
    this.place = append(calls.waiting, this);
  }
}

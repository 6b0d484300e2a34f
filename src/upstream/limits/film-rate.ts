/** The rate limiter of film calls: so many a minute per limited credential, counted in this process and in Redis if configured. */
import { LRUCache } from 'lru-cache';
import { atMost } from '../../lib/remember.ts';
import type { Credential } from '../auth/credentials.ts';
import { isLimited } from '../auth/viewer.ts';
import { type CancellationToken, waitUnlessCancelled } from '../../lib/cancellation.ts';
import { type Queue, createQueue, append, unlink } from '../../lib/queue.ts';
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
  /** The part of the rate limit that agents have together; undefined for everybody else. */
  rateShare?: number | undefined;
  cancellation: CancellationToken;
  /** It is a retry: it does not wait for other calls, and needs half of the window to be left. */
  isRetry?: boolean | undefined;
  /** Nobody waits for it: it refreshes what the address was served from the cache. */
  isRefresh?: boolean | undefined;
  /** It reads anew what is cached, because the client asks for it: it does not wait, and takes half of the share at most. */
  isReload?: boolean | undefined;
}

/** Running and waiting calls of one credential: those of agents, or those of everybody else. */
interface CredentialCalls {
  running: number;
  /** Each begins or rejects its call; false if it must go on waiting. */
  waiting: Queue<() => boolean>;
}

/** A slot, `unlimited`, or the error. */
type Decision = Slot | typeof unlimited | RateLimited;

export class FilmRateLimiter {
  /** Windows of the facade's own credentials. */
  private readonly own = new Set<string>();
  private readonly windows = createSlidingWindows(this.own);
  private readonly credentials = new Map<string, CredentialCalls>();
  /** When each credential refreshed last, by performance.now(). */
  private readonly refreshed = new LRUCache<string, number>(atMost(REFRESHED_MAX));
  private readonly slots: number;
  private readonly holdMs: number;
  private readonly shared: SharedSlidingWindows | undefined;

  /** `slots`: the calls a minute of one credential. */
  constructor(slots: number, longestCallMs: number, shared?: SharedSlidingWindows) {
    this.slots = slots;
    this.holdMs = WINDOW_MS + longestCallMs;
    this.shared = shared;
  }

  /** A slot, or undefined if the credential has no limit. Rejects with RateLimited, or when it is cancelled. */
  async acquire(call: FilmCallRequest): Promise<Slot | undefined> {
    const slot = this.decide(call) ?? (await this.waitForDecision(call));
    if (slot instanceof RateLimited) throw slot;
    if (slot === unlimited) return undefined;
    // Counted in this process too, because Redis may become unreachable.
    const wait = await this.shared?.take(slot, this.limitsOf(call));
    if (!wait) return slot;
    this.windows.release(slot);
    this.wakeNext(slot);
    throw rateLimited(wait);
  }

  /** The call is over. If it counts, its slot becomes free one window from now, else now. */
  settle(slot: Slot, isCounted: boolean): void {
    const end = isCounted ? 'settle' : 'release';
    this.windows[end](slot);
    this.shared?.[end](slot);
    this.wakeNext(slot);
  }

  /** Slots taken in this process. */
  used({ id }: Credential): number {
    return this.windows.state(id).taken;
  }

  /** All slots, or those that agents took. */
  async window({ id }: Credential, ofAgents: boolean): Promise<WindowState> {
    const address = ofAgents ? AGENTS : undefined;
    return (await this.shared?.state(id, this.holdMs, address)) ?? this.windows.state(id, address);
  }

  state(): LimiterState {
    const state: LimiterState = { running: 0, waiting: 0 };
    for (const { running, waiting } of this.credentials.values()) {
      state.running += running;
      state.waiting += waiting.size;
    }
    return state;
  }

  private limitsOf({ credential: { isOwn }, rateShare, isRetry, isRefresh, isReload }: FilmCallRequest): WindowLimits {
    const { slots, holdMs } = this;
    const ofEverybody = isOwn ? slots / 2 : slots;
    const perAddress = rateShare === undefined ? ofEverybody : slotsOfAgents(slots, rateShare);
    // Retries against a service that fails must not use up what is left for the next minute.
    if (isRetry) return { slots: forRetries(slots), perAddress: forRetries(perAddress), holdMs };
    if (!isRefresh && !isReload) return { slots, perAddress, holdMs };
    // A refresh or reload counts for the address that read the entry, so it takes nothing from the share of another. Half of that address's own share
    // stays free, and half of all, which is the whole share of one more address.
    return { slots: slots / 2, perAddress: Math.floor(perAddress / 2), holdMs };
  }

  /** How long the credential has to wait for its next refresh: they are spread over the minute, because quota that is idle now may be needed soon. */
  private untilRefresh({ credential, isRefresh }: FilmCallRequest): number {
    const last = isRefresh ? this.refreshed.get(credential.id) : undefined;
    // So that all refreshes together are half of the calls a minute.
    const everyMs = (2 * WINDOW_MS) / this.slots;
    return last === undefined ? 0 : Math.max(0, last + everyMs - performance.now());
  }

  private callsOf(key: string): CredentialCalls {
    let calls = this.credentials.get(key);
    if (!calls) this.credentials.set(key, (calls = { running: 0, waiting: createQueue() }));
    return calls;
  }

  /** Undefined if the call must wait until running calls show whether there is a limit. With a slot it is running. */
  private decide(call: FilmCallRequest): Decision | undefined {
    const { credential, address, isRetry, rateShare, isRefresh, isReload } = call;
    if (!isLimited(credential)) return unlimited;
    if (credential.isOwn) this.own.add(credential.id);
    const id = `${process.pid.toString(36)}-${unique}-${slotsMade++}`;
    // All agents take their slots as one address.
    const from = rateShare === undefined ? (credential.isOwn ? address : '') : AGENTS;
    const slot: Slot = { window: credential.id, id, address: from };
    const wait = this.untilRefresh(call) || this.windows.take(slot, this.limitsOf(call));
    if (wait === 0) {
      if (isRefresh) this.refreshed.set(credential.id, performance.now());
      this.callsOf(keyFor(call)).running++;
      return slot;
    }
    if (isRefresh || isReload) return rateLimited(wait);
    // Responses show whether a client's token has a limit. The facade's own token counts as limited only after a rate limit error.
    const mayProveUnlimited = !credential.isOwn && credential.possibleTiers.length > 1;
    const isOtherRunning = (this.credentials.get(keyFor(call))?.running ?? 0) > 0;
    return mayProveUnlimited && isOtherRunning && !isRetry ? undefined : rateLimited(wait);
  }

  private waitForDecision(call: FilmCallRequest): Promise<Decision> {
    return waitUnlessCancelled(call.cancellation, (resolve) => {
      const { waiting } = this.callsOf(keyFor(call));
      const node = append(waiting, () => {
        const decision = this.decide(call);
        if (decision !== undefined) resolve(decision);
        return decision !== undefined;
      });
      return () => unlink(waiting, node);
    });
  }

  /** Begins or rejects waiting calls in order, up to the first that must go on waiting. If no call is running, none has to wait. */
  private wakeNext({ window, address }: Slot): void {
    const key = keyOf(window, address === AGENTS);
    const calls = this.callsOf(key);
    calls.running--;
    for (let { first } = calls.waiting; first?.item(); first = calls.waiting.first) unlink(calls.waiting, first);
    if (calls.running === 0) this.credentials.delete(key);
  }
}

const AGENTS = 'agents';
const REFRESHED_MAX = 10_000;

/** Agents wait for calls of agents only, so that nobody waits behind them. */
const keyOf = (credential: string, isAgent: boolean): string => (isAgent ? `${credential} ${AGENTS}` : credential);
const keyFor = ({ credential, rateShare }: FilmCallRequest): string => keyOf(credential.id, rateShare !== undefined);

/** How many of the calls a minute of one credential all agents together may make. */
export const slotsOfAgents = (slots: number, rateShare: number): number => Math.max(1, Math.floor(slots * rateShare));

const unlimited = Symbol('unlimited');

/** A retry is made only while at least half of the slots are free. */
const forRetries = (slots: number): number => Math.floor(slots / 2) + 1;

/** Process ids are not unique across machines. */
const unique = Math.random().toString(36).slice(2, 8);
/** Counts the slots of all limiters: a program may have several facades with one Redis. */
let slotsMade = 0;

export const rateLimited = (waitMs: number): RateLimited =>
  new RateLimited(Math.ceil(Math.min(WINDOW_MS, Math.max(1, waitMs)) / 1000));

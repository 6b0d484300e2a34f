/**
 * Pauses that a service has asked for. During one no call is sent: of a credential to a group of endpoints, of anybody to an endpoint, or to
 * the whole service, once several endpoints say so. A pause is longer each time the service refuses calls again after it.
 */
import { LRUCache } from 'lru-cache';
import type { Endpoint } from '../../api/endpoint.ts';
import type { Config } from '../../config/settings.ts';
import { atMost } from '../../lib/remember.ts';
import type { Credential } from '../auth/credentials.ts';
import { type NotYet, RateLimited, type Service, ServicePaused } from '../errors.ts';

/** A pause as other processes see it. */
export interface SharedPause {
  leftMs: number;
  /** In a row, of which each has made the pause longer. */
  refusals: number;
}

/** The pauses of all processes. */
export interface SharedPauses {
  /** In the order of the keys; undefined if the store is unreachable. */
  read: (keys: readonly string[]) => Promise<readonly SharedPause[] | undefined>;
  begin: (key: string, pause: SharedPause) => void;
  /** The service takes calls again. Does nothing during a pause. */
  end: (key: string) => void;
}

/** What a pause concerns: the service or an endpoint for everybody, or a group of endpoints for whose token is sent. */
export type Paused = 'everybody' | 'endpoint' | 'own token' | 'client';
/** Called when a pause begins, not when it goes on. */
export type OnPause = (endpoint: Endpoint, paused: Paused, seconds: number) => void;

/** The endpoints that have to refuse, and none to take a call meanwhile, before the whole service counts as paused. */
const SEVERAL = 3;

/** How long after a pause the next refusal still makes it longer. */
export const REMEMBERED_MS = 60_000;
const PAUSES_MAX = 10_000;

interface Pause {
  /** By performance.now(). */
  until: number;
  refusals: number;
}

export class Pauses {
  /** No pause is known. A field, because each call reads it. */
  isEmpty = true;
  /** Pauses are shared with other processes. */
  readonly isShared: boolean;
  private readonly known = new LRUCache<string, Pause>(atMost(PAUSES_MAX));
  /** The endpoints of each service that have asked for a pause since it took a call. */
  private readonly refusing = new Map<Service, Set<Endpoint>>();
  private readonly settings: Pick<Config, 'retryAfterSeconds' | 'maxRetryAfterSeconds'>;
  private readonly shared: SharedPauses | undefined;
  private readonly onPause: OnPause | undefined;

  constructor(
    settings: Pick<Config, 'retryAfterSeconds' | 'maxRetryAfterSeconds'>,
    shared?: SharedPauses,
    onPause?: OnPause,
  ) {
    this.settings = settings;
    this.onPause = onPause;
    this.shared = shared;
    this.isShared = shared !== undefined;
  }

  /** Begins a pause, or continues one, and returns its length in seconds. `asked`: seconds; undefined if the service does not say. */
  begin(endpoint: Endpoint, credential: Credential, scope: 'group' | 'endpoint', asked: number | undefined): number {
    const { service } = endpoint;
    // A made-up token must not pause the calls of others.
    if (scope === 'group' || !credential.acceptedBy[service])
      return this.beginFor(groupKey(endpoint, credential), endpoint, credential.isOwn ? 'own token' : 'client', asked);
    const refusing = this.refusing.get(service) ?? new Set();
    this.refusing.set(service, refusing.add(endpoint));
    const seconds = this.beginFor(endpointKey(endpoint), endpoint, 'endpoint', asked);
    return refusing.size < SEVERAL ? seconds : this.beginFor(serviceKey(endpoint), endpoint, 'everybody', asked);
  }

  private beginFor(key: string, endpoint: Endpoint, paused: Paused, asked: number | undefined): number {
    const { retryAfterSeconds, maxRetryAfterSeconds } = this.settings;
    const now = performance.now();
    const { until, refusals: before } = this.known.get(key) ?? noPause;
    // Calls that were under way when the pause began show nothing new.
    const refusals = now < until ? before : now < until + REMEMBERED_MS ? before + 1 : 1;
    const grown = Math.max(1, asked ?? retryAfterSeconds) * 2 ** (refusals - 1);
    const seconds = Math.min(maxRetryAfterSeconds, grown);
    this.remember(key, { until: Math.max(until, now + seconds * 1000), refusals });
    if (now >= until) this.onPause?.(endpoint, paused, seconds);
    this.shared?.begin(key, { leftMs: seconds * 1000, refusals });
    return seconds;
  }

  /** The service takes calls of this credential to this group again. */
  end(endpoint: Endpoint, credential: Credential): void {
    if (this.isEmpty) return;
    this.refusing.delete(endpoint.service);
    for (const key of keysOf(endpoint, credential)) {
      const pause = this.known.get(key);
      if (!pause || performance.now() < pause.until) continue;
      this.known.delete(key);
      this.shared?.end(key);
    }
    this.isEmpty = this.known.size === 0;
  }

  /** The error of a call that is not sent; undefined if there is no pause. */
  refusal(endpoint: Endpoint, credential: Credential): NotYet | undefined {
    if (this.isEmpty) return undefined;
    const ofAll = Math.max(this.secondsLeft(serviceKey(endpoint)), this.secondsLeft(endpointKey(endpoint)));
    if (ofAll > 0) return new ServicePaused(ofAll);
    const ofGroup = this.secondsLeft(groupKey(endpoint, credential));
    return ofGroup > 0 ? new RateLimited(ofGroup) : undefined;
  }

  /** Reads the pauses of a call that other processes began. */
  async learn(endpoint: Endpoint, credential: Credential): Promise<void> {
    const keys = keysOf(endpoint, credential);
    const pauses = await this.shared?.read(keys);
    pauses?.forEach(({ leftMs, refusals }, at) => {
      if (refusals === 0) return;
      const until = performance.now() + leftMs;
      const known = this.known.get(keys[at]!);
      if (!known || known.until < until) this.remember(keys[at]!, { until, refusals });
    });
  }

  private remember(key: string, pause: Pause): void {
    this.known.set(key, pause);
    this.isEmpty = false;
  }

  private secondsLeft(key: string): number {
    const { until } = this.known.get(key) ?? noPause;
    return Math.ceil((until - performance.now()) / 1000);
  }
}

const noPause: Pause = { until: -Infinity, refusals: 0 };

const serviceKey = ({ service }: Endpoint): string => `${service} all`;
const endpointKey = ({ service, method, path }: Endpoint): string => `${service} ${method} ${path}`;
/** The service limits each group of endpoints separately. */
const groupKey = ({ group }: Endpoint, { id }: Credential): string => `${group} ${id}`;
const keysOf = (endpoint: Endpoint, credential: Credential): readonly string[] => [
  serviceKey(endpoint),
  endpointKey(endpoint),
  groupKey(endpoint, credential),
];

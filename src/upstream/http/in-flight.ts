/** Shares reads in flight: equal reads with one credential are one request. */
import {
  type CancellationListener,
  type CancellationToken,
  addListener,
  cancel,
  createCancellationToken,
  removeListener,
} from '../../lib/cancellation.ts';
import type { ApiResponse } from './response.ts';

export interface InFlightRequests {
  has: (credential: object, key: string) => boolean;
  /**
   * The response to the read with this key: to the one in flight, or to the one that `start` sends. `start` gets a token that is cancelled
   * when nobody waits any more; `waiter` is the token of this caller alone.
   */
  share: (
    credential: object,
    key: string,
    waiter: CancellationToken,
    start: (cancellation: CancellationToken) => Promise<ApiResponse>,
  ) => Promise<ApiResponse>;
  /** Later reads do not share those in flight now, of this credential or of any: a write may have changed the result. */
  forget: (credential?: object) => void;
  /** Requests in flight. */
  size: () => number;
}

export function createInFlightRequests(): InFlightRequests {
  let all = new WeakMap<object, CredentialRequests>();
  const count = { requests: 0 };
  return {
    has: (credential, key) => all.get(credential)?.requests.has(key) ?? false,
    share(credential, key, waiter, start) {
      let own = all.get(credential);
      if (!own) all.set(credential, (own = { requests: new Map(), untilRenewal: RENEWED_AFTER, count }));
      const running = own.requests.get(key);
      if (running) return running.join(waiter);
      const request = new InFlightRequest(own, key);
      const response = request.join(waiter);
      request.start(start);
      return response;
    },
    forget(credential) {
      if (credential) all.delete(credential);
      else all = new WeakMap();
    },
    size: () => count.requests,
  };
}

/** The requests in flight of one credential, by key. */
interface CredentialRequests {
  requests: Map<string, InFlightRequest>;
  untilRenewal: number;
  /** Over all credentials. */
  count: { requests: number };
}

/**
 * A Map is replaced after so many requests. V8 links each table that a Map has outgrown to the next; once one of them is in the old
 * generation, all later ones stay alive with their entries until the next full collection.
 */
const RENEWED_AFTER = 500;

class InFlightRequest {
  /** Cancelled when the last waiter leaves. */
  private readonly cancellation = createCancellationToken();
  private waiters: Waiter[] = [];
  private readonly own: CredentialRequests;
  private readonly key: string;

  constructor(own: CredentialRequests, key: string) {
    this.own = own;
    this.key = key;
    if (--own.untilRenewal === 0) {
      own.requests = new Map(own.requests);
      own.untilRenewal = RENEWED_AFTER;
    }
    own.requests.set(key, this);
    own.count.requests++;
  }

  join(token: CancellationToken): Promise<ApiResponse> {
    return new Promise((resolve, reject) => {
      const waiter = { token, resolve, reject, onCancel: (reason: Error) => this.leave(waiter, reason) };
      this.waiters.push(waiter);
      addListener(token, waiter);
    });
  }

  start(send: (cancellation: CancellationToken) => Promise<ApiResponse>): void {
    send(this.cancellation).then(
      (response) => {
        for (const { resolve } of this.close()) resolve(response);
      },
      (error: unknown) => {
        for (const { reject } of this.close()) reject(error);
      },
    );
  }

  private leave(waiter: Waiter, reason: Error): void {
    waiter.reject(reason);
    this.waiters = this.waiters.filter((each) => each !== waiter);
    if (this.waiters.length > 0) return;
    this.close();
    cancel(this.cancellation, reason);
  }

  /** From now on nobody joins. Returns those who wait. */
  private close(): readonly Waiter[] {
    const { requests, count } = this.own;
    if (requests.get(this.key) === this && requests.delete(this.key)) count.requests--;
    const { waiters } = this;
    this.waiters = []; // so that nothing holds the response
    for (const waiter of waiters) removeListener(waiter.token, waiter);
    return waiters;
  }
}

interface Waiter extends CancellationListener {
  token: CancellationToken;
  resolve: (response: ApiResponse) => void;
  reject: (reason: unknown) => void;
}

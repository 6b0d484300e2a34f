/** Shares reads in flight: equal reads with one credential are one request. */
import {
  type CancellationToken,
  cancel,
  createCancellationToken,
  waitUnlessCancelled,
} from '../../lib/cancellation.ts';
import { RateLimited } from '../errors.ts';
import type { ApiResponse } from './response.ts';

/** Sends the request that others may share. It is cancelled when nobody waits any more. */
export interface SharedCall {
  fetch: (cancellation: CancellationToken) => Promise<ApiResponse>;
}

/** Who reads, if other replicas write too. */
export interface SharingReader {
  /** Whether equal reads in flight may be shared at all. */
  isShareable: () => boolean;
  /** Whether an equal read that began before this one cannot be older than a write that was answered by then. */
  mayJoin: () => boolean | Promise<boolean>;
}

export class InFlightRequests {
  private all = new WeakMap<object, CredentialRequests>();
  private readonly count = { requests: 0 };

  /**
   * The response to the read in flight with this key, or else to `call`, which later reads may join. `waiter` is the token of this caller
   * alone. A reader that may not join waits for the next request, which all those send together.
   */
  share(
    credential: object,
    key: string,
    waiter: CancellationToken,
    call: SharedCall,
    reader?: Pick<SharingReader, 'mayJoin'>,
  ): Promise<ApiResponse> {
    let own = this.all.get(credential);
    if (!own) this.all.set(credential, (own = { requests: new Map(), count: this.count }));
    const known = own.requests.get(key);
    if (!known) {
      const request = new InFlightRequest(own, key);
      request.begin(call);
      return request.join(waiter, call);
    }
    const mayJoin = reader ? reader.mayJoin() : true;
    if (!(mayJoin instanceof Promise)) return (mayJoin ? known : known.following()).join(waiter, call);
    return mayJoin.then((may) => {
      if (waiter.reason) throw waiter.reason;
      return this.share(credential, key, waiter, call, { mayJoin: () => may });
    });
  }

  /** Later reads do not join those in flight now, of this credential or of any: a write may have changed the result. */
  forget(credential?: object): void {
    if (credential) this.all.delete(credential);
    else this.all = new WeakMap();
  }

  /** Requests in flight. */
  size(): number {
    return this.count.requests;
  }
}

/** The requests in flight of one credential, by key. */
interface CredentialRequests {
  requests: Map<string, InFlightRequest>;
  /** Over all credentials. */
  count: { requests: number };
}

class InFlightRequest {
  /** Cancelled when the last waiter leaves. */
  private readonly cancellation = createCancellationToken();
  private waiters: readonly Waiter[] = noWaiters;
  private readonly own: CredentialRequests;
  private readonly key: string;
  private isInFlight = false;
  /** Sent when this one is over. */
  private next: InFlightRequest | undefined = undefined;

  constructor(own: CredentialRequests, key: string) {
    this.own = own;
    this.key = key;
  }

  /** From now on other calls join. */
  begin(call: SharedCall): void {
    const { own, key } = this;
    own.requests.set(key, this);
    own.count.requests++;
    this.isInFlight = true;
    this.send(call);
  }

  private send(call: SharedCall): void {
    call.fetch(this.cancellation).then(
      (response) => {
        for (const { resolve } of this.end()) resolve(response);
      },
      (error: unknown) => this.fail(call, error),
    );
  }

  /** A permit belongs to the caller who asked for it: where it is refused, the next waiter asks for its own. */
  private fail(call: SharedCall, error: unknown): void {
    const others = error instanceof RateLimited ? this.waiters.filter((waiter) => waiter.call !== call) : noWaiters;
    const failed = others.length > 0 ? this.waiters.filter((waiter) => waiter.call === call) : this.end();
    for (const { reject } of failed) reject(error);
    if (others.length === 0) return;
    this.waiters = others;
    this.send(others[0]!.call);
  }

  join(token: CancellationToken, call: SharedCall): Promise<ApiResponse> {
    return waitUnlessCancelled(token, (resolve, reject) => {
      const waiter = { call, resolve, reject };
      this.waiters = [...this.waiters, waiter];
      return () => this.leave(waiter, token.reason!);
    });
  }

  following(): InFlightRequest {
    return (this.next ??= new InFlightRequest(this.own, this.key));
  }

  private leave(waiter: Waiter, reason: Error): void {
    this.waiters = this.waiters.filter((each) => each !== waiter);
    if (this.waiters.length > 0 || !this.isInFlight) return;
    this.end();
    cancel(this.cancellation, reason);
  }

  /** From now on no call joins. Returns the waiting calls. */
  private end(): readonly Waiter[] {
    const { own, waiters, next } = this;
    if (!this.isInFlight) return noWaiters;
    this.isInFlight = false;
    own.count.requests--;
    if (own.requests.get(this.key) === this) own.requests.delete(this.key);
    // V8 keeps the tables that a Map has outgrown, with their entries, until a full collection.
    if (own.requests.size === 0) own.requests = new Map();
    this.waiters = noWaiters; // so that nothing holds the response
    this.next = undefined;
    const call = next?.waiters[0]?.call;
    if (call) next.begin(call);
    return waiters;
  }
}

const noWaiters: readonly Waiter[] = [];

interface Waiter {
  /** Its own request, which is sent only if it has to ask for itself. */
  call: SharedCall;
  resolve: (response: ApiResponse) => void;
  reject: (reason: unknown) => void;
}

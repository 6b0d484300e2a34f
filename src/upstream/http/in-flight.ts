import {
  type CancellationToken,
  type CancellationListener,
  createCancellationToken,
  cancel,
  removeListener,
  addListener,
} from '../../lib/cancellation.ts';
import type { ApiResponse, ResponseHandler } from './request.ts';

/** Shares reads in flight: equal asks of one credential are one request, whoever asks. */
export interface InFlightRequests {
  /** Lets the asker wait for what they ask by this key, and send it where nobody of that credential has; true where somebody had. */
  join: (credential: object, key: string, asker: InFlightListener) => boolean;
  /** What was asked until now does not answer for what is asked from now on: with this credential, or with any. */
  forget: (credential?: object) => void;
  /** Requests in flight. */
  size: () => number;
}

/** One who waits, as long as their own lifetime. */
export interface InFlightListener extends ResponseHandler {
  readonly lifetime: CancellationToken;
  /** Sends what all wait for; `landed` or `failed` tells the flight what became of it. */
  send: (flight: InFlightRequest) => void;
}

export function createInFlightRequests(): InFlightRequests {
  let all = new WeakMap<object, Underway>();
  const count = { flights: 0 };
  return {
    join(credential, key, asker) {
      let underway = all.get(credential);
      if (!underway) all.set(credential, (underway = { flights: new Map(), left: RENEWED_AFTER, count }));
      const running = underway.flights.get(key);
      if (running) {
        running.join(asker);
        return true;
      }
      const flight = new InFlightRequest(underway, key);
      enter(underway, flight);
      flight.join(asker);
      asker.send(flight);
      return false;
    },
    forget(credential) {
      if (credential) all.delete(credential);
      else all = new WeakMap();
    },
    size: () => count.flights,
  };
}

/** The flights of one credential, by what they ask. */
interface Underway {
  flights: Map<string, InFlightRequest>;
  /** So many more, and the Map is made anew. */
  left: number;
  /** Over all credentials. */
  count: { flights: number };
}

/**
 * A Map that grows or is tidied leaves a table behind, and each of these holds the next. Once one of them has grown old, all after it
 * grow old too, with the flights that were in them, until the next full collection: so no Map lives for long.
 */
const RENEWED_AFTER = 500;

function enter(underway: Underway, flight: InFlightRequest): void {
  if (--underway.left === 0) {
    underway.flights = new Map(underway.flights);
    underway.left = RENEWED_AFTER;
  }
  underway.flights.set(flight.key, flight);
  underway.count.flights++;
}

/** One request on its way, and all who wait for it. */
export class InFlightRequest {
  /** It outlives its first asker while others wait, and ends with the last. */
  readonly lifetime = createCancellationToken();
  private waiting: Waiting[] = [];
  readonly key: string;
  private readonly underway: Underway;

  constructor(underway: Underway, key: string) {
    this.underway = underway;
    this.key = key;
  }

  join(asker: InFlightListener): void {
    const waiting = new Waiting(this, asker);
    this.waiting.push(waiting);
    addListener(asker.lifetime, waiting);
  }

  leave(waiting: Waiting, reason: Error): void {
    waiting.asker.onError(reason);
    this.waiting = this.waiting.filter((each) => each !== waiting);
    if (this.waiting.length > 0) return;
    this.close();
    cancel(this.lifetime, reason);
  }

  landed(answer: ApiResponse): void {
    for (const { asker } of this.close()) asker.onResponse(answer);
  }

  failed(reason: unknown): void {
    for (const { asker } of this.close()) asker.onError(reason);
  }

  /** Nobody joins it any more; those whom it still concerns. */
  private close(): readonly Waiting[] {
    const { flights, count } = this.underway;
    if (flights.get(this.key) === this && flights.delete(this.key)) count.flights--;
    const { waiting } = this;
    this.waiting = []; // so that nothing holds the answer
    for (const each of waiting) removeListener(each.asker.lifetime, each);
    return waiting;
  }
}

class Waiting implements CancellationListener {
  readonly asker: InFlightListener;
  private readonly flight: InFlightRequest;

  constructor(flight: InFlightRequest, asker: InFlightListener) {
    this.flight = flight;
    this.asker = asker;
  }

  onCancel(reason: Error): void {
    this.flight.leave(this, reason);
  }
}

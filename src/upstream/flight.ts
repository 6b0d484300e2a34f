import { type Lifetime, type Listener, createLifetime, end, offEnd, onEnd } from './lifetime.ts';
import type { Answer, Recipient } from './wire.ts';

/** Shares reads in flight: equal asks of one credential are one request, whoever asks. */
export interface Flights {
  /** Lets the asker wait for what they ask by this key, and send it where nobody of that credential has; true where somebody had. */
  join: (credential: object, key: string, asker: Asker) => boolean;
  /** What was asked until now does not answer for what is asked from now on: with this credential, or with any. */
  forget: (credential?: object) => void;
}

/** One who waits, as long as their own lifetime. */
export interface Asker extends Recipient {
  readonly lifetime: Lifetime;
  /** Sends what all wait for; `landed` or `failed` tells the flight what became of it. */
  send: (flight: Flight) => void;
}

export function createFlights(): Flights {
  let all = new WeakMap<object, Map<string, Flight>>();
  return {
    join(credential, key, asker) {
      let flights = all.get(credential);
      if (!flights) all.set(credential, (flights = new Map<string, Flight>()));
      const running = flights.get(key);
      if (running) {
        running.join(asker);
        return true;
      }
      const flight = new Flight(flights, key);
      flights.set(key, flight);
      flight.join(asker);
      asker.send(flight);
      return false;
    },
    forget(credential) {
      if (credential) all.delete(credential);
      else all = new WeakMap();
    },
  };
}

/** One request on its way, and all who wait for it. */
export class Flight {
  /** It outlives its first asker while others wait, and ends with the last. */
  readonly lifetime = createLifetime();
  private waiting: Waiting[] = [];
  private readonly flights: Map<string, Flight>;
  private readonly key: string;

  constructor(flights: Map<string, Flight>, key: string) {
    this.flights = flights;
    this.key = key;
  }

  join(asker: Asker): void {
    const waiting = new Waiting(this, asker);
    this.waiting.push(waiting);
    onEnd(asker.lifetime, waiting);
  }

  leave(waiting: Waiting, reason: Error): void {
    waiting.asker.failed(reason);
    this.waiting = this.waiting.filter((each) => each !== waiting);
    if (this.waiting.length > 0) return;
    this.close();
    end(this.lifetime, reason);
  }

  landed(answer: Answer): void {
    for (const { asker } of this.close()) asker.came(answer);
  }

  failed(reason: unknown): void {
    for (const { asker } of this.close()) asker.failed(reason);
  }

  /** Nobody joins it any more; those whom it still concerns. */
  private close(): readonly Waiting[] {
    if (this.flights.get(this.key) === this) this.flights.delete(this.key);
    const { waiting } = this;
    this.waiting = []; // so that nothing holds the answer
    for (const each of waiting) offEnd(each.asker.lifetime, each);
    return waiting;
  }
}

class Waiting implements Listener {
  readonly asker: Asker;
  private readonly flight: Flight;

  constructor(flight: Flight, asker: Asker) {
    this.flight = flight;
    this.asker = asker;
  }

  over(reason: Error): void {
    this.flight.leave(this, reason);
  }
}

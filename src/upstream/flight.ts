import type { Answer } from './call.ts';
import { type Lifetime, type Listener, createLifetime, end, offEnd, onEnd } from './lifetime.ts';

/** Shares reads in flight: equal asks of one credential are one request, whoever asks. */
export type InFlight = (
  key: string,
  send: (lifetime: Lifetime) => Promise<Answer>,
  asker: Lifetime,
) => { answer: Promise<Answer>; coalesced: boolean };

interface Flight {
  askers: Asker[];
  /** It outlives its first asker while others wait, and ends with the last. */
  lifetime: Lifetime;
}

/** One who waits for it, as long as their own lifetime. */
interface Asker extends Listener {
  lifetime: Lifetime;
  resolve: (answer: Answer) => void;
  reject: (reason: unknown) => void;
}

export function createInFlight(): InFlight {
  const flights = new Map<string, Flight>();

  return (key, send, asker) => {
    const running = flights.get(key);
    if (running) return { answer: joined(key, running, asker), coalesced: true };
    const flight: Flight = { askers: [], lifetime: createLifetime() };
    flights.set(key, flight);
    const answer = joined(key, flight, asker);
    send(flight.lifetime).then(
      (came) => {
        for (const each of landed(key, flight)) each.resolve(came);
      },
      (error: unknown) => {
        for (const each of landed(key, flight)) each.reject(error);
      },
    );
    return { answer, coalesced: false };
  };

  function joined(key: string, flight: Flight, lifetime: Lifetime): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const asker: Asker = { lifetime, resolve, reject, over };
      flight.askers.push(asker);
      onEnd(lifetime, asker);

      function over(reason: Error): void {
        reject(reason);
        flight.askers = flight.askers.filter((each) => each !== asker);
        if (flight.askers.length > 0) return;
        if (flights.get(key) === flight) flights.delete(key);
        end(flight.lifetime, reason);
      }
    });
  }

  /** Those whom it still concerns. */
  function landed(key: string, flight: Flight): readonly Asker[] {
    if (flights.get(key) === flight) flights.delete(key);
    const { askers } = flight;
    flight.askers = []; // so that nothing holds the answer
    for (const asker of askers) offEnd(asker.lifetime, asker);
    return askers;
  }
}

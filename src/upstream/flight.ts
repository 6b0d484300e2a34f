import type { Answer } from './call.ts';
import { type Lifetime, createLifetime, end, offEnd, onEnd } from './lifetime.ts';

/** Shares reads in flight: equal asks of one credential are one request, whoever asks. */
export type InFlight = (
  key: string,
  send: (lifetime: Lifetime) => Promise<Answer>,
  asker: Lifetime,
) => { answer: Promise<Answer>; coalesced: boolean };

interface Flight {
  askers: Set<Asker>;
  /** It outlives its first asker while others wait, and ends with the last. */
  lifetime: Lifetime;
}
interface Asker {
  lifetime: Lifetime;
  leave: (reason: Error) => void;
  resolve: (answer: Answer) => void;
  reject: (reason: unknown) => void;
}

export function createInFlight(): InFlight {
  const flights = new Map<string, Flight>();

  return (key, send, asker) => {
    const running = flights.get(key);
    if (running) return { answer: joined(key, running, asker), coalesced: true };
    const flight: Flight = { askers: new Set(), lifetime: createLifetime() };
    flights.set(key, flight);
    const answer = joined(key, flight, asker);
    send(flight.lifetime).then(
      (came) => land(key, flight, (each) => each.resolve(came)),
      (error: unknown) => land(key, flight, (each) => each.reject(error)),
    );
    return { answer, coalesced: false };
  };

  function joined(key: string, flight: Flight, lifetime: Lifetime): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const leave = (reason: Error) => {
        reject(reason);
        flight.askers.delete(asker);
        if (flight.askers.size > 0) return;
        if (flights.get(key) === flight) flights.delete(key);
        end(flight.lifetime, reason);
      };
      const asker: Asker = { lifetime, leave, resolve, reject };
      flight.askers.add(asker);
      onEnd(lifetime, leave);
    });
  }

  function land(key: string, flight: Flight, tell: (asker: Asker) => void): void {
    if (flights.get(key) === flight) flights.delete(key);
    for (const asker of flight.askers) {
      offEnd(asker.lifetime, asker.leave);
      tell(asker);
    }
  }
}

import type { Answer } from './call.ts';

/** Shares reads in flight: equal asks of one credential are one request, whoever asks. */
export type InFlight = (
  key: string,
  send: (signal: AbortSignal) => Promise<Answer>,
  signal: AbortSignal,
) => { answer: Promise<Answer>; coalesced: boolean };

interface Flight {
  answer: Promise<Answer>;
  askers: number;
  ending: AbortController;
}

export function createInFlight(): InFlight {
  const flights = new Map<string, Flight>();

  return (key, send, signal) => {
    const running = flights.get(key);
    if (running) return { answer: joined(running, signal), coalesced: true };
    const ending = new AbortController();
    const answer = send(ending.signal).finally(() => {
      if (flights.get(key) === flight) flights.delete(key);
    });
    const flight: Flight = { answer, askers: 0, ending };
    answer.catch(() => undefined);
    flights.set(key, flight);
    return { answer: joined(flight, signal), coalesced: false };

    /** It outlives its first asker while others wait, and ends with the last. */
    function joined(flight: Flight, signal: AbortSignal): Promise<Answer> {
      flight.askers++;
      return new Promise((resolve, reject) => {
        const leave = () => {
          reject(signal.reason as Error);
          if (--flight.askers > 0) return;
          if (flights.get(key) === flight) flights.delete(key);
          flight.ending.abort(signal.reason);
        };
        if (signal.aborted) return leave();
        signal.addEventListener('abort', leave, { once: true });
        flight.answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
      });
    }
  };
}

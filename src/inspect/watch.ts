/** At run time: holds the first response of each endpoint a minute against the interface. */
import type { Endpoint } from '../api/endpoint.ts';
import type { InspectedResponse } from '../upstream/http/response.ts';
import { type Deviation, compare } from './compare.ts';

/** An endpoint is looked at once in this time. */
const EVERY_MS = 60_000;

/** `report` gets what was found, and of it what was not found at this endpoint before. */
export function watchInterface(
  report: (endpoint: Endpoint, found: readonly Deviation[], first: readonly Deviation[]) => void,
): (response: InspectedResponse) => void {
  const lookedAt = new Map<Endpoint, number>();
  const known = new Map<Endpoint, Set<string>>();
  return (response) => {
    const { endpoint } = response.request;
    const now = performance.now();
    if (now - (lookedAt.get(endpoint) ?? -Infinity) < EVERY_MS) return;
    lookedAt.set(endpoint, now);
    const found = deviationsOf(response);
    if (found.length === 0) return;
    const seen = known.get(endpoint) ?? new Set();
    known.set(endpoint, seen);
    const first = found.filter(({ what, coordinate }) => isNew(seen, `${what} ${coordinate}`));
    report(endpoint, found, first);
  };
}

/** A service that makes up names must not fill the memory. */
const KNOWN_MAX = 200;

function isNew(seen: Set<string>, key: string): boolean {
  if (seen.has(key) || seen.size >= KNOWN_MAX) return false;
  seen.add(key);
  return true;
}

/** What a response has that the interface has not, or lacks. It never throws: the response was read already. */
export function deviationsOf({ request, value }: InspectedResponse): Deviation[] {
  try {
    return compare(request.endpoint, value, request.members);
  } catch {
    return [];
  }
}

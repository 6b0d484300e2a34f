/** A few reads, which show whether both upstreams answer, what the token may read, and what they say of caching. */
import { bookEndpoints } from '../api/book.ts';
import type { Endpoint } from '../api/endpoint.ts';
import { eventEndpoints } from '../api/event.ts';
import { filmEndpoints } from '../api/film.ts';
import { tiersSeen } from '../inspect/reads.ts';
import type { ServiceReader } from '../inspect/service-reader.ts';

const samples: readonly (readonly [Endpoint, Readonly<Record<string, unknown>>])[] = [
  [bookEndpoints.search, { q: '的', start: 0, count: 2 }],
  [eventEndpoints.ofCity, { id: 'beijing', 'start-index': 1, 'max-results': 2 }],
  // Each tier gets other ones of these three.
  [filmEndpoints.comingSoon, { start: 0, count: 2 }],
  [filmEndpoints.top250, { start: 0, count: 2 }],
  [filmEndpoints.weekly, {}],
];

/** One after the other: what the tier is known not to get is not read. */
export async function readSamples(reader: ServiceReader): Promise<void> {
  for (const [endpoint, input] of samples) {
    const known = tiersSeen(reader.reads);
    const isDenied = endpoint.isTiered && known.length > 0 && !known.some((tier) => endpoint.tiers.includes(tier));
    if (!isDenied) await reader.read(endpoint, input);
  }
}

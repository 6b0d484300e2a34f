/** Faults between facade and upstream. They depend on the request only, so that every run of a case has the same. */
import { catalogService } from '../../src/graph/service/descriptor.ts';
import { createRandom } from './random.ts';

export type Fault =
  /** Responses of a gateway, without the service's error body. */
  | 'status500'
  | 'status502'
  | 'status503'
  | 'status403'
  | 'status404'
  /** The service's rate limit error. */
  | 'rateLimit'
  /** The service's error body with an error status. */
  | 'functionError'
  | 'errorUnder200'
  | 'notJson'
  | 'list'
  | 'nothing'
  /** Another record than the requested one, or a record without an id. */
  | 'otherKey'
  | 'noKey'
  | 'cut'
  | 'reset'
  /** Never responds. */
  | 'silent'
  /** The connection is lost once; the retry succeeds. */
  | 'flaky'
  /** A write is carried out and its response is lost. */
  | 'lost';

const ofReads: readonly (readonly [number, Fault])[] = [
  [3, 'status500'],
  [1, 'status502'],
  [2, 'status503'],
  [1, 'status403'],
  [1, 'status404'],
  [0.3, 'rateLimit'],
  [2, 'functionError'],
  [2, 'errorUnder200'],
  [2, 'notJson'],
  [1, 'list'],
  [1, 'nothing'],
  [2, 'otherKey'],
  [1, 'noKey'],
  [2, 'cut'],
  [3, 'reset'],
  [0.3, 'silent'],
  [2, 'flaky'],
];
const ofWrites: readonly (readonly [number, Fault])[] = [
  [2, 'status500'],
  [1, 'functionError'],
  [2, 'notJson'],
  [2, 'reset'],
  [3, 'lost'],
];

/** The writes whose response has neither a record nor a document. */
const ofUnreadBodies = catalogService.endpoints
  .filter(({ method, media, key }) => method !== 'GET' && key.length === 0 && ['empty', 'json'].includes(media))
  .map(({ method, path }) => new RegExp(`^${method} ${path.replaceAll(/:\w+/g, '[^/]+')}$`));

export interface Faults {
  seed: number;
  /** Share of requests with a fault. */
  rate: number;
  /** Share of the faults of reads that are refusals. */
  refusals?: number;
  /** If present, only these requests have faults. */
  only?: Readonly<Record<string, Fault>>;
  /** Kinds of faults that are left out. */
  without?: readonly string[];
}

/** The fault of a request, which is identified by method, path and query without `fields`. */
export function faultOf(faults: Faults, request: string): Fault | undefined {
  const { only, without } = faults;
  if (only) return only[request];
  const fault = drawn(faults, request);
  return fault && without?.includes(fault) ? undefined : fault;
}

function drawn({ seed, rate, refusals = 0 }: Faults, request: string): Fault | undefined {
  if (rate === 0) return undefined;
  const random = createRandom(`${seed} fault ${request}`);
  if (!random.chance(rate)) return undefined;
  if (refusals > 0 && request.startsWith('GET ') && random.chance(refusals))
    return random.pick(['status503', 'status403', 'rateLimit'] as const);
  const fault = random.weighted(request.startsWith('GET ') ? ofReads : ofWrites);
  // Endpoints whose response body is not read accept any; a book by ISBN and the entries of a feed have no id to check.
  if (fault === 'notJson' && ofUnreadBodies.some((line) => line.test(request))) return 'lost';
  // A feed without entries is a valid, empty feed.
  if (fault === 'noKey' && / \/(?!v2\/)/.test(request) && !/^GET \/event\/\d+$/.test(request)) return 'notJson';
  // An ISBN and the place of a collection are not the `id` of the record that they name.
  if (fault === 'otherKey' && !/^GET \/(?:v2\/(?!book\/(?:isbn|\d+\/collection))|event\/\d+$)/.test(request))
    return 'notJson';
  // The event service uses this status for absent records.
  return fault === 'status404' && !request.includes(' /v2/') ? 'status500' : fault;
}

/** Method, path and query of a request without `fields`. */
export function withoutFields(method: string, path: string): string {
  const mark = path.indexOf('?');
  if (mark < 0) return `${method} ${path}`;
  const query = path
    .slice(mark + 1)
    .split('&')
    .filter((pair) => !pair.startsWith('fields='));
  return `${method} ${path.slice(0, mark)}${query.length ? `?${query.join('&')}` : ''}`;
}

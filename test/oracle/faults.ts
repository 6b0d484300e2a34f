/** What goes wrong between facade and upstream: decided by the request alone, so that every run of a case meets the same. */
import { createRandom } from './random.ts';

export type Fault =
  /** Answers of a gateway, without the service's error body. */
  | 'status500'
  | 'status502'
  | 'status503'
  | 'status403'
  | 'status404'
  /** The service says that it is asked too often. */
  | 'rateLimit'
  /** The service's own error body, under a status of its own. */
  | 'functionError'
  | 'errorUnder200'
  | 'notJson'
  | 'list'
  | 'nothing'
  /** Another record than the one that was asked for, or one without an id. */
  | 'otherKey'
  | 'noKey'
  | 'cut'
  | 'reset'
  /** Never answers. */
  | 'silent'
  /** A connection that is lost the first time, and no more. */
  | 'flaky'
  /** Of a write: it is carried out, and its answer is lost. */
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

export interface Faults {
  seed: number;
  /** The share of requests that something happens to. */
  rate: number;
  /** Where it is given, nothing happens to any other request. */
  only?: Readonly<Record<string, Fault>>;
  /** Kinds that do not happen. */
  without?: readonly string[];
}

/** What happens to a request, told by method, path and query without `fields`. */
export function faultOf(faults: Faults, request: string): Fault | undefined {
  const { only, without } = faults;
  if (only) return only[request];
  const fault = drawn(faults, request);
  return fault && without?.includes(fault) ? undefined : fault;
}

function drawn({ seed, rate }: Faults, request: string): Fault | undefined {
  if (rate === 0) return undefined;
  const random = createRandom(`${seed} fault ${request}`);
  if (!random.chance(rate)) return undefined;
  const fault = random.weighted(request.startsWith('GET ') ? ofReads : ofWrites);
  // What takes no body from an answer does not mind what it says; which book an ISBN is of, or who an entry of a feed, no id tells.
  if (fault === 'notJson' && /^DELETE|^POST \/event\/\w+\/(participants|wishers)/.test(request)) return 'lost';
  // A feed without entries is one that is empty.
  if (fault === 'noKey' && / \/(?!v2\/)/.test(request) && !/^GET \/event\/\d+$/.test(request)) return 'notJson';
  if (fault === 'otherKey' && !/^GET \/(?:v2\/(?!book\/isbn)|event\/\d+$)/.test(request)) return 'notJson';
  // At the event service that status is how absence is told.
  return fault === 'status404' && !request.includes(' /v2/') ? 'status500' : fault;
}

/** Method, path and query of a request as faults know it. */
export function withoutFields(method: string, path: string): string {
  const mark = path.indexOf('?');
  if (mark < 0) return `${method} ${path}`;
  const query = path
    .slice(mark + 1)
    .split('&')
    .filter((pair) => !pair.startsWith('fields='));
  return `${method} ${path.slice(0, mark)}${query.length ? `?${query.join('&')}` : ''}`;
}

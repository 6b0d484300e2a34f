/** The service of a campaign: each lane has tokens of its own, so that what happens to its one write at a time is planned. */
import { randomBytes } from 'node:crypto';
import { type DirectService, directService } from '../../../../support/keyed-writes.ts';
import { type Fault, type PassingRequest, type Step, losingProxy } from '../../../../support/losing-proxy.ts';
import { type Random, createRandom } from '../../../../oracle/random.ts';

/** Carol has no city, so she cannot create events. */
export const persons = ['alice', 'bob'] as const;

/** What happens to the requests of one write. */
export interface Plan {
  /** Of its writes, in turn. */
  faults?: (Fault | undefined)[];
  onStep?: (step: LaneStep) => void;
  /** From the first write on reads fail, so that the first request cannot settle it. */
  hidesOutcome?: boolean;
  /** Writes that the service will carry out yet. */
  inFlight?: number;
  /** How many times each write reached the service, from the first time on that it was carried out. */
  reached?: Map<string, number>;
  /** Lists have smaller pages, and some of their items are left out. */
  isShort?: boolean;
}

export type LaneStep = 'reading' | Step;

/** A person at one device, who makes one write at a time. */
export interface Lane {
  name: string;
  person: string;
  token: string;
  /** The token that it gets when it is renewed. */
  renewed: string;
  direct: DirectService;
  random: Random;
}

/** `lane.person.number` is a token of the person. */
const personOf = (token: string): string | undefined => token.split('.')[1];
export const tokenFor = (lane: string, person: string, number: number | string = 1): string =>
  `${lane}.${person}.${number}`;

export async function laneService(target: string) {
  const plans = new Map<string, Plan>();
  /** A request that is on its way for long belongs to the write that it was sent for. */
  const planned = new WeakMap<PassingRequest, Plan>();
  function planOf(request: PassingRequest): Plan | undefined {
    const plan = planned.get(request) ?? plans.get(request.token.split('.', 1)[0]!);
    if (plan) planned.set(request, plan);
    return plan;
  }

  function faultOf(request: PassingRequest): Fault | undefined {
    const plan = planOf(request);
    const fault = plan?.faults?.shift();
    if (plan && isCarriedOut(fault)) plan.inFlight = (plan.inFlight ?? 0) + 1;
    return fault;
  }
  function onStep(step: Step, request: PassingRequest, status = 0): void {
    const plan = planOf(request);
    if (plan && step === 'carriedOut') {
      plan.inFlight = (plan.inFlight ?? 1) - 1;
      countReached((plan.reached ??= new Map()), request, status);
    }
    plan?.onStep?.(step);
  }

  const proxy = await losingProxy(target, (_, request) => faultOf(request), {
    tokenOf: (token) => (personOf(token) === undefined ? token : `demo-${personOf(token)}`),
    onStep,
    onRead(request) {
      const plan = planOf(request);
      plan?.onStep?.('reading');
      const path = request.line.slice('GET '.length);
      const large = LARGE.exec(path)?.[1];
      if (large !== undefined)
        return { path: path.replace(large, KNOWN_BOOK), change: (body) => enlarged(body, large) };
      if (plan?.hidesOutcome && plan.faults?.length === 0) return undefined;
      return plan?.isShort ? { path: shortened(path), change: withoutHidden } : { path };
    },
  });
  return {
    ...proxy,
    /** From now on, for one write. */
    plan: (lane: Lane, plan: Plan) => void plans.set(lane.name, plan),
    lane(name: string, at: number): Lane {
      const person = persons[at % persons.length]!;
      return {
        name,
        person,
        token: tokenFor(name, person),
        renewed: tokenFor(name, person, 2),
        direct: directService(target, `demo-${person}`, person),
        random: createRandom(name),
      };
    },
  };
}

const isCarriedOut = (fault: Fault | undefined): boolean =>
  fault?.kind !== 'dropped' && fault?.kind !== 'refused' && !(fault?.kind === 'gateway' && !fault.isSent);

/** No read shows these, and a second one changes nothing, so they are sent until the service answers. */
const REPEATABLE = /^(POST|DELETE) \/v2\/note\/\d+\/like$|^DELETE \/v2\/book\/review\/\d+$/;
/** Of the parts of a form. */
const BOUNDARY = /catalog-[0-9a-f]{32}/g;

function countReached(reached: Map<string, number>, { line, sent }: PassingRequest, status: number): void {
  if (REPEATABLE.test(line)) return;
  const write = `${line} ${sent.replace(BOUNDARY, '')}`;
  const times = reached.get(write);
  if (times !== undefined || status < 300) reached.set(write, (times ?? 0) + 1);
}

export type LaneService = Awaited<ReturnType<typeof laneService>>;

/** Any number of large books, made of one. */
export const largeBook = (number: number): string => `99${String(number).padStart(7, '0')}`;
const LARGE = /^\/v2\/book\/(99\d{7})\b/;
const KNOWN_BOOK = '1003078';
const LARGE_CHARACTERS = 20_000;
const enlarged = (body: string, id: string): string =>
  JSON.stringify({ ...(JSON.parse(body) as object), id, summary: randomBytes(LARGE_CHARACTERS / 2).toString('hex') });

const PAGE_MAX = 30;
const shortened = (path: string): string =>
  path.replace(/\b(count|max-results)=(\d+)/g, (_, name, size) => `${name}=${Math.min(Number(size), PAGE_MAX)}`);

/** Marked items are those of the campaign. */
const isHidden = (item: { id?: string | number }): boolean =>
  Number(item.id) % 5 === 0 && !JSON.stringify(item).includes('mark');

function withoutHidden(body: string): string {
  if (!body.startsWith('{')) return body;
  const page = JSON.parse(body) as Record<string, unknown>;
  for (const name of ['comments', 'notes', 'annotations'])
    if (Array.isArray(page[name])) page[name] = page[name].filter((item) => !isHidden(item));
  return JSON.stringify(page);
}

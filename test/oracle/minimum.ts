/**
 * The fewest calls of a query, by a planner without cleverness. It knows what the responses so far tell, collects every selected value that
 * they do not tell, makes the smallest set of requests that carries all of them, and so on until nothing is missing.
 *
 * The reference runs the query; only what it asks of this planner is counted. The planner shares with the facade the endpoint table and the
 * declarations of fields, and has its own table of what comes beside a list.
 */
import type { DocumentNode } from 'graphql';
import { bookEndpoints } from '../../src/api/book.ts';
import type { Endpoint } from '../../src/api/endpoint.ts';
import { eventEndpoints } from '../../src/api/event.ts';
import { filmEndpoints } from '../../src/api/film.ts';
import {
  type FieldCall,
  type Planning,
  type RecordPlace,
  type Requester,
  readFor,
  requestOf,
  runReference,
} from './reference.ts';
import type { Fetch } from './service.ts';

export type Values = Readonly<Record<string, unknown>>;

/** What a response tells of the record that it belongs to. */
interface Envelope {
  type: string;
  /** The parameter with the key of the record. */
  param: string;
  members: readonly string[];
  /** Undefined if this response does not tell. */
  read: (response: Values) => Values | undefined;
}
const filmWithin = ['id', 'title', 'original_title', 'alt', 'images', 'rating', 'year', 'subtype'];
const person = ['name', 'avatar', 'alt'];
const at = (list: unknown, position: number) => (list as Values[] | undefined)?.[position];
const film: Envelope = { type: 'Subject', param: 'id', members: filmWithin, read: ({ subject }) => subject as Values };
const celebrity: Envelope = {
  ...{ type: 'Celebrity', param: 'id', members: ['id', 'name', 'alt', 'avatars'] },
  read: (response) => response.celebrity as Values,
};
const author: Envelope = {
  ...{ type: 'User', param: 'id', members: person },
  read: (response) => response.author as Values | undefined,
};
export const envelopes = new Map<unknown, Envelope>([
  [filmEndpoints.photos, film],
  [filmEndpoints.reviews, film],
  [filmEndpoints.comments, film],
  [filmEndpoints.works, celebrity],
  [filmEndpoints.celebrityPhotos, celebrity],
  [eventEndpoints.ofUser, author],
  [eventEndpoints.initiated, author],
  [eventEndpoints.participated, author],
  [eventEndpoints.wished, author],
  [
    bookEndpoints.userAnnotations,
    { ...author, param: 'name', read: ({ annotations }) => at(annotations, 0)?.author_user as Values | undefined },
  ],
  [
    bookEndpoints.seriesBooks,
    {
      type: 'Series',
      param: 'id',
      members: ['title'],
      read: ({ books }) => at(books, 0)?.series as Values | undefined,
    },
  ],
  [
    eventEndpoints.ofCity,
    {
      type: 'City',
      param: 'id',
      members: ['name'],
      read: ({ entries }) => at(entries, 0)?.location as Values | undefined,
    },
  ],
]);

/** A request without `fields`, and the part of its list that it asks for. */
interface Candidate {
  id: string;
  endpoint: Endpoint;
  input: object;
  group: string;
  start: number;
  end: number;
}

export function candidateOf(endpoint: Endpoint, input: object): Candidate {
  const { start, count, 'start-index': index, 'max-results': most, ...rest } = input as Record<string, unknown>;
  const group = requestOf(endpoint, rest);
  const from = Number(start ?? Number(index ?? 1) - 1);
  const end = from + Number(count ?? most ?? 0);
  return { id: `${group} ${from} ${end}`, endpoint, input, group, start: from, end };
}

export const holds = (one: Candidate, other: Candidate): boolean =>
  one.group === other.group && one.start <= other.start && one.end >= other.end;

class Missing extends Error {}

class Planner implements Planning {
  private readonly known = new Map<string, Set<string>>();
  private readonly absent = new Set<string>();
  private readonly existing = new Set<string>();
  private readonly made: (Candidate & { names: ReadonlySet<string> })[] = [];
  private members = new Map<string, { record: RecordPlace; names: Set<string> }>();
  private calls = new Map<string, FieldCall & { candidate: Candidate }>();
  private named = new Map<string, RecordPlace>();
  private readonly requester: Requester;
  private readonly fetch: Fetch;

  constructor(requester: Requester, fetch: Fetch) {
    this.requester = requester;
    this.fetch = fetch;
  }

  needMembers(record: RecordPlace, names: readonly string[]): void {
    const place = placeOf(record);
    if (this.absent.has(place) || this.isRefused(record.source.endpoint)) return;
    const known = this.known.get(place);
    const missing = names.filter((name) => !known?.has(name) && (record.source.members?.includes(name) ?? true));
    if (missing.length === 0) return;
    const open = this.members.get(place) ?? { record, names: new Set() };
    for (const name of missing) open.names.add(name);
    this.members.set(place, open);
    throw new Missing();
  }

  needCall(call: FieldCall): void {
    const { endpoint, input, names, owner, embedded } = call;
    if (this.isRefused(endpoint)) return;
    if (owner && embedded !== undefined && this.known.get(placeOf(owner))?.has(embedded)) return;
    const candidate = candidateOf(endpoint, input);
    if (this.made.some((made) => holds(made, candidate) && names.every((name) => made.names.has(name)))) return;
    this.calls.set(`${candidate.id} ${[...names].sort().join()} ${embedded}`, { ...call, candidate });
    throw new Missing();
  }

  mayExist(record: RecordPlace, isNamed: boolean): boolean {
    const place = placeOf(record);
    if (this.absent.has(place)) return false;
    if (isNamed && !this.existing.has(place) && !this.isRefused(record.source.endpoint)) this.named.set(place, record);
    return true;
  }

  /** No request is made without the login that it needs. */
  private readonly isRefused = ({ login }: Endpoint): boolean => login && this.requester.token === undefined;

  /** Makes the smallest set of requests that carries what is missing; undefined if nothing is. */
  next(): Candidate[] | undefined {
    const [members, calls, named] = [[...this.members.values()], [...this.calls.values()], [...this.named.values()]];
    const all = new Map<string, Candidate>();
    const add = (candidate: Candidate): Candidate => {
      all.set(candidate.id, candidate);
      return candidate;
    };
    for (const { candidate } of calls) add(candidate);
    const needs: Set<string>[] = [];
    for (const { candidate, owner, embedded } of calls) {
      const carriers = calls.filter((other) => holds(other.candidate, candidate)).map((other) => other.candidate.id);
      if (owner && embedded !== undefined) carriers.push(add(recordRequest(owner)).id);
      needs.push(new Set(carriers));
    }
    for (const { record, names } of members) {
      const carriers = calls.filter((call) => mayTell(call, record, names)).map(({ candidate }) => candidate.id);
      needs.push(new Set([add(recordRequest(record)).id, ...carriers]));
    }
    for (const record of named) {
      const showing = calls.filter(({ owner, endpoint }) => {
        const isOf = owner !== undefined && placeOf(owner) === placeOf(record);
        return isOf && (endpoint.list !== undefined || endpoint === record.source.endpoint);
      });
      needs.push(new Set([add(recordRequest(record)).id, ...showing.map(({ candidate }) => candidate.id)]));
    }
    if (needs.length === 0) return undefined;
    const chosen = smallestCover(needs).map((id) => all.get(id)!);
    for (const candidate of chosen) this.tell(candidate, members, calls, named);
    [this.members, this.calls, this.named] = [new Map(), new Map(), new Map()];
    return chosen;
  }

  /** Learns from a response. */
  private tell(
    candidate: Candidate,
    members: readonly { record: RecordPlace; names: ReadonlySet<string> }[],
    calls: readonly (FieldCall & { candidate: Candidate })[],
    named: readonly RecordPlace[],
  ): void {
    const { endpoint, input, id } = candidate;
    const carried = calls.filter((call) => holds(candidate, call.candidate));
    let response: Values | null | undefined;
    try {
      response = readFor(this.requester, this.fetch, endpoint, input) as Values | null;
    } catch {
      response = undefined; // a rejection: each field that needs the response reports it
    }
    const records = [
      ...members.map(({ record }) => record),
      ...named,
      ...calls.flatMap(({ owner, embedded }) => (owner && embedded !== undefined ? [owner] : [])),
    ];
    for (const record of records.filter((each) => recordRequest(each).id === id)) {
      const place = placeOf(record);
      if (response === null) this.absent.add(place);
      else this.existing.add(place);
      for (const open of members) if (placeOf(open.record) === place) this.learn(place, open.names);
      for (const { owner, embedded } of calls)
        if (owner && embedded !== undefined && placeOf(owner) === place) this.learn(place, [embedded]);
    }
    if (carried.length > 0)
      this.made.push({ ...candidate, names: new Set(carried.flatMap(({ names }) => [...names])) });
    for (const call of carried) {
      const { owner, variant } = call;
      if (owner && (endpoint.list !== undefined || endpoint === owner.source.endpoint))
        (response === null ? this.absent : this.existing).add(placeOf(owner));
      if (owner && variant !== undefined)
        for (const { record, names } of members) if (mayTell(call, record, names)) this.learn(placeOf(owner), names);
      if (response) this.learnItems(call, response);
    }
    const envelope = envelopes.get(endpoint);
    if (!envelope || !response) return;
    const told = envelope.read(response);
    const key = (input as Record<string, string>)[envelope.param]!;
    if (told && told.type !== 'site') this.learn(`${envelope.type} ${key}`, envelope.members);
  }

  /** The items of a list have the members that were selected of them. */
  private learnItems({ endpoint, items, names }: FieldCall, response: Values): void {
    if (!items || endpoint.list === undefined) return;
    for (const item of response[endpoint.list] as (Values | null)[]) {
      const key = item && (items.source.keyOf ? items.source.keyOf(item as never) : item.id);
      if (typeof key === 'string')
        this.learn(
          `${items.type} ${key}`,
          names.filter((name) => name in item!),
        );
    }
  }

  private learn(place: string, names: Iterable<string>): void {
    const known = this.known.get(place) ?? new Set();
    for (const name of names) known.add(name);
    this.known.set(place, known);
  }
}

export const placeOf = ({ type, key }: RecordPlace): string => `${type} ${key}`;
export const recordRequest = ({ source, key }: RecordPlace): Candidate =>
  candidateOf(source.endpoint, source.input(key));

/** Whether the response to a call may have these members of the record: beside its list, or because it is the record in another variant. */
function mayTell(
  { endpoint, input, owner, variant }: FieldCall,
  record: RecordPlace,
  names: ReadonlySet<string>,
): boolean {
  if (variant !== undefined && owner && placeOf(owner) === placeOf(record)) return !names.has(variant);
  const envelope = envelopes.get(endpoint);
  if (!envelope || envelope.type !== record.type) return false;
  return (
    (input as Record<string, unknown>)[envelope.param] === record.key &&
    [...names].every((name) => envelope.members.includes(name))
  );
}

/** The fewest candidates of which each need has one. */
function smallestCover(needs: readonly ReadonlySet<string>[]): string[] {
  let best = [...new Set(needs.map((need) => [...need][0]!))];
  const go = (left: readonly ReadonlySet<string>[], chosen: string[]): void => {
    if (chosen.length >= best.length) return;
    const need = [...left].sort((one, other) => one.size - other.size)[0];
    if (!need) return void (best = chosen);
    for (const id of need)
      go(
        left.filter((each) => !each.has(id)),
        [...chosen, id],
      );
  };
  go(needs, []);
  return best;
}

/** Far more than a query of this depth takes. */
const MOST_WAVES = 20;

/** The requests of the planner, wave by wave. */
export async function fewestRequests(
  document: DocumentNode,
  variables: Values,
  requester: Requester,
  fetch: Fetch,
): Promise<string[][]> {
  const planner = new Planner(requester, fetch);
  const waves: string[][] = [];
  for (let wave = 0; wave < MOST_WAVES; wave++) {
    await runReference(document, undefined, variables, requester, fetch, planner);
    const made = planner.next();
    if (!made) return waves;
    waves.push(made.map(({ endpoint, input }) => requestOf(endpoint, input)));
  }
  throw new Error('the planner does not end');
}

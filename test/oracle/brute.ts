/**
 * The fewest requests of a small query, by brute force: every set of requests of the endpoint tables, with the ids of the query and of what
 * the service responds, until one has all that the query shows. It plans nothing and knows no order: what a query needs is what the
 * reference asked for while it ran to its end.
 *
 * A request may be made as soon as its ids are known. What a response happens to show of another record counts only for one whose id became
 * known after that response: a query does not wait for a list that might have it.
 */
import type { DocumentNode, GraphQLObjectType } from 'graphql';
import { bookEndpoints } from '../../src/api/book.ts';
import type { Endpoint } from '../../src/api/endpoint.ts';
import { eventEndpoints } from '../../src/api/event.ts';
import { filmEndpoints } from '../../src/api/film.ts';
import { noteEndpoints } from '../../src/api/note.ts';
import { allFields, fieldRule, nodeTypeOf, typeRule, typesOf } from '../../src/engine/plan/read-declarations.ts';
import { schema } from '../../src/graph/schema.ts';
import { type Values, candidateOf, envelopes, holds, placeOf, recordRequest } from './minimum.ts';
import { type FieldCall, type Planning, type RecordPlace, type Requester, readFor, runReference } from './reference.ts';
import type { Fetch } from './service.ts';

/** A request, and what its response has. */
interface Request extends ReturnType<typeof candidateOf> {
  /** The ids in it. */
  ids: readonly string[];
  body: string;
  /** Members of the record that it belongs to, which every such response has. */
  certain: ReadonlySet<string>;
  /** Members of the records in it. */
  shown: ReadonlySet<string>;
}

/** One thing that the query shows. */
interface Need {
  /** Requests that have it by the tables, whatever the service responds. */
  isCertain: (request: Request) => boolean;
  /** Those of which the response happens to have it. */
  isShown: (request: Request) => boolean;
  /** The id without which it is not asked for. */
  id: string;
}

const endpoints: readonly Endpoint[] = [bookEndpoints, eventEndpoints, filmEndpoints, noteEndpoints].flatMap((table) =>
  Object.values(table as Record<string, Endpoint>).filter(({ method }) => method === 'GET'),
);

/** All that the reference asked for. */
class Asked implements Planning {
  readonly members = new Map<string, { record: RecordPlace; names: Set<string> }>();
  readonly calls: FieldCall[] = [];
  readonly named = new Map<string, RecordPlace>();
  private readonly exists: (record: RecordPlace) => boolean;

  constructor(exists: (record: RecordPlace) => boolean) {
    this.exists = exists;
  }

  needMembers(record: RecordPlace, names: readonly string[]): void {
    const open = this.members.get(placeOf(record)) ?? { record, names: new Set() };
    for (const name of names) if (record.source.members?.includes(name) ?? true) open.names.add(name);
    this.members.set(placeOf(record), open);
  }

  needCall(call: FieldCall): void {
    this.calls.push(call);
  }

  mayExist(record: RecordPlace, isNamed: boolean): boolean {
    const isThere = this.exists(record);
    if (isNamed || !isThere) this.named.set(placeOf(record), record);
    return isThere;
  }
}

/** By brute force, fewer than so many requests that suffice; undefined if there are none. */
export async function fewerThan(
  most: number,
  document: DocumentNode,
  variables: Values,
  requester: Requester,
  fetch: Fetch,
): Promise<string[] | undefined> {
  const responses = new Map<string, Values | null | undefined>();
  const read = ({ id, endpoint, input }: ReturnType<typeof candidateOf>): Values | null | undefined => {
    if (endpoint.login && requester.token === undefined) return undefined;
    if (!responses.has(id))
      try {
        responses.set(id, readFor(requester, fetch, endpoint, input) as Values | null);
      } catch {
        responses.set(id, undefined); // a rejection
      }
    return responses.get(id);
  };
  const asked = new Asked((record) => read(recordRequest(record)) !== null);
  await runReference(document, undefined, variables, requester, fetch, asked);
  const isOpen = ({ login }: Endpoint): boolean => !login || requester.token !== undefined;
  const needs = needsOf(asked, isOpen);
  const text = `${document.loc!.source.body} ${JSON.stringify(variables)}`;
  const requests = [...requestsFor(asked)]
    .filter(({ endpoint }) => isOpen(endpoint))
    .map((candidate) => withFacts(candidate, read(candidate), asked));
  return smallestSet(needs, requests, text, most - 1)?.map(({ id }) => id);
}

/** Every endpoint with every id of the query, of lists the first item; and the lists of the query with its windows, and with all at once. */
function* requestsFor({ members, calls, named }: Asked): Iterable<ReturnType<typeof candidateOf>> {
  const records = [...[...members.values()].map(({ record }) => record), ...named.values()];
  const owners = calls.flatMap(({ owner }) => owner ?? []);
  const found = new Map<string, ReturnType<typeof candidateOf>>();
  const add = (endpoint: Endpoint, input: object): void => {
    const candidate = candidateOf(endpoint, input);
    found.set(candidate.id, candidate);
  };
  for (const record of [...records, ...owners]) {
    const { endpoint, input } = recordRequest(record);
    add(endpoint, input);
  }
  const made = calls.map(({ endpoint, input, isMoved }) => ({ ...candidateOf(endpoint, input), isMoved }));
  for (const { endpoint, input, group, isMoved } of made) {
    add(endpoint, input);
    const ofList = made.filter((each) => each.group === group && !each.isMoved);
    const [start, end] = [Math.min(...ofList.map((each) => each.start)), Math.max(...ofList.map((each) => each.end))];
    if (endpoint.list !== undefined && !isMoved && end - start <= MOST_ITEMS)
      add(endpoint, { ...input, ...windowOf(endpoint, start, end) });
  }
  const ids = new Set([...records, ...owners].flatMap(({ key }) => key.split(':')));
  for (const endpoint of endpoints)
    for (const id of endpoint.params.length === 1 ? ids : [])
      add(endpoint, {
        [endpoint.params[0]!]: id,
        ...(endpoint.list !== undefined && windowOf(endpoint, 0, 1)),
      });
  yield* found.values();
}

const MOST_ITEMS = 100;
const windowOf = ({ paging }: Endpoint, start: number, end: number): object =>
  paging === 'start-index' ? { 'start-index': start + 1, 'max-results': end - start } : { start, count: end - start };

// What responses have

/** The types of the records that an endpoint returns, or that its list has. */
const typesOfEndpoint = new Map<Endpoint, Set<GraphQLObjectType>>();
for (const { type, field } of allFields(schema)) {
  const { endpoint, endpoints: several = typeof endpoint === 'object' ? [endpoint] : [] } = fieldRule(field);
  const { record } = typeRule(type);
  const node = nodeTypeOf(field);
  for (const each of several)
    if (each.list !== undefined && node)
      typesOfEndpoint.set(each, new Set([...(typesOfEndpoint.get(each) ?? []), node]));
  if (record) typesOfEndpoint.set(record.endpoint, new Set([...(typesOfEndpoint.get(record.endpoint) ?? []), type]));
}

const element = (place: string, member: string): string => `${place} ${member}`;

function withFacts(
  candidate: ReturnType<typeof candidateOf>,
  response: Values | null | undefined,
  asked: Asked,
): Request {
  const { endpoint, input } = candidate;
  const values = input as Record<string, unknown>;
  const [certain, shown] = [new Set<string>(), new Set<string>()];
  const ids = [...endpoint.params, 'user_id'].flatMap((name) =>
    values[name] === undefined ? [] : [String(values[name] as string)],
  );
  if (response) {
    const envelope = envelopes.get(endpoint);
    const told = envelope?.read(response);
    if (envelope && told && told.type !== 'site')
      for (const member of envelope.members)
        certain.add(element(`${envelope.type} ${String(values[envelope.param])}`, member));
    for (const type of typesOfEndpoint.get(endpoint) ?? []) {
      const items = endpoint.list === undefined ? [response] : (response[endpoint.list] as unknown[]);
      for (const item of Array.isArray(items) ? items : []) note(shown, type, item, 0);
    }
    // A response in another variant has the other members of its record.
    for (const { endpoint: of, owner, variant } of asked.calls)
      if (of === endpoint && owner && variant !== undefined && owner.source.endpoint === of && ids.includes(owner.key))
        for (const member of owner.source.members ?? [])
          if (member !== variant) certain.add(element(placeOf(owner), member));
  }
  return { ...candidate, ids, body: JSON.stringify(response ?? null), certain, shown };
}

/** What an object has of its record, and of the records in it. */
function note(shown: Set<string>, type: GraphQLObjectType, item: unknown, depth: number): void {
  if (typeof item !== 'object' || item === null || depth > DEEPEST) return;
  const { record } = typeRule(type);
  const object = item as Values;
  const key = record && (record.keyOf ? record.keyOf(object as never) : (object.id as string | undefined));
  if (key !== undefined && key !== null)
    for (const member of Object.keys(object)) shown.add(element(`${type.name} ${key}`, member));
  for (const field of Object.values(type.getFields())) {
    const { needs = [], embedded, idIn } = fieldRule(field);
    for (const member of embedded ? [embedded.member] : needs) {
      if (member === idIn || typeof object[member] !== 'object') continue;
      const inner = nodeTypeOf(field);
      for (const each of inner ? [inner] : typesOf(schema, field))
        for (const one of [object[member]].flat()) note(shown, each, one, depth + 1);
    }
  }
}
const DEEPEST = 3;

// What is needed

function needsOf({ members, calls, named }: Asked, isOpen: (endpoint: Endpoint) => boolean): Need[] {
  const ofMembers = [...members.values()].flatMap(({ record, names }): Need[] => {
    const own = recordRequest(record).id;
    if (!isOpen(record.source.endpoint)) return [];
    return [...names].map((name) => {
      const has = element(placeOf(record), name);
      return {
        isCertain: ({ id, certain }) => id === own || certain.has(has),
        isShown: ({ shown }) => shown.has(has),
        id: record.key,
      };
    });
  });
  const ofCalls = calls.flatMap(({ endpoint, input, owner, embedded }): Need[] => {
    const candidate = candidateOf(endpoint, input);
    const [own, has] =
      owner && embedded !== undefined ? [recordRequest(owner).id, element(placeOf(owner), embedded)] : [];
    if (!isOpen(endpoint)) return [];
    return [
      {
        isCertain: (request) => holds(request, candidate) || request.id === own,
        isShown: ({ shown }) => has !== undefined && shown.has(has),
        id: owner?.key ?? '',
      },
    ];
  });
  const ofNamed = [...named.values()].flatMap((record): Need[] => {
    const own = recordRequest(record).id;
    if (!isOpen(record.source.endpoint)) return [];
    const lists = new Set(
      calls
        .filter(({ owner, endpoint }) => {
          const isOf = owner !== undefined && placeOf(owner) === placeOf(record);
          return isOf && (endpoint.list !== undefined || endpoint === record.source.endpoint);
        })
        .map(({ endpoint, input }) => candidateOf(endpoint, input).group),
    );
    return [{ isCertain: ({ id, group }) => id === own || lists.has(group), isShown: () => false, id: record.key }];
  });
  return [...ofMembers, ...ofCalls, ...ofNamed];
}

// Sets of requests

/** The smallest set of at most so many requests; undefined if there is none. */
function smallestSet(
  needs: readonly Need[],
  requests: readonly Request[],
  text: string,
  most: number,
): readonly Request[] | undefined {
  const carriers = new Map(
    needs.map((need) => [need, requests.filter((request) => need.isCertain(request) || need.isShown(request))]),
  );
  const go = (left: readonly Need[], chosen: readonly Request[], size: number): readonly Request[] | undefined => {
    const need = left.reduce<Need | undefined>(
      (one, other) => (one && carriers.get(one)!.length <= carriers.get(other)!.length ? one : other),
      undefined,
    );
    if (!need) return suffices(needs, chosen, text) ? chosen : withMore(needs, chosen, requests, text, size);
    if (chosen.length === size) return undefined;
    for (const request of carriers.get(need)!) {
      if (chosen.includes(request)) continue;
      const found = go(
        left.filter((each) => !carriers.get(each)!.includes(request)),
        [...chosen, request],
        size,
      );
      if (found) return found;
    }
    return undefined;
  };
  for (let size = 0; size <= most; size++) {
    const found = go(needs, [], size);
    if (found) return found;
  }
  return undefined;
}

/** What leads to the ids of others is needed too. */
function withMore(
  needs: readonly Need[],
  chosen: readonly Request[],
  requests: readonly Request[],
  text: string,
  size: number,
): readonly Request[] | undefined {
  if (chosen.length >= size) return undefined;
  const waves = wavesOf(chosen, text);
  const unknown = chosen
    .filter((request) => !waves.has(request))
    .flatMap(({ ids }) => ids.filter((id) => !has(text, id)));
  for (const request of requests) {
    if (chosen.includes(request) || !unknown.some((id) => has(request.body, id))) continue;
    const more = [...chosen, request];
    const found = suffices(needs, more, text) ? more : withMore(needs, more, requests, text, size);
    if (found) return found;
  }
  return undefined;
}

function suffices(needs: readonly Need[], chosen: readonly Request[], text: string): boolean {
  const waves = wavesOf(chosen, text);
  if (waves.size < chosen.length) return false;
  /** The wave after whose responses an id is known: 0 for those of the query. */
  const knownAt = (id: string): number =>
    has(text, id)
      ? 0
      : Math.min(Infinity, ...chosen.filter(({ body }) => has(body, id)).map((request) => waves.get(request)! + 1));
  return needs.every((need) =>
    chosen.some(
      (request) => need.isCertain(request) || (need.isShown(request) && waves.get(request)! < knownAt(need.id)),
    ),
  );
}

/** When each request can be made; without those that cannot. */
function wavesOf(chosen: readonly Request[], text: string): Map<Request, number> {
  const waves = new Map<Request, number>();
  for (let [wave, known] = [0, text]; wave <= chosen.length; wave++) {
    const now = chosen.filter((request) => !waves.has(request) && request.ids.every((id) => has(known, id)));
    for (const request of now) waves.set(request, wave);
    known += now.map(({ body }) => body).join(' ');
  }
  return waves;
}

/** Whether a text has the id, and not only as a part of another. */
const has = (text: string, id: string): boolean =>
  text.split(new RegExp(`(?<!\\w)${id.replace(/\W/g, '\\$&')}(?!\\w)`)).length > 1;

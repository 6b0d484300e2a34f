/**
 * A reference implementation, as simple as possible: graphql-js runs the operation, a record is read whole if anything of it is unknown,
 * and every field with a call makes that call. It has no projection, cache, request sharing, rate limit, eager load or embedded page.
 *
 * It shares with the facade the declarations of fields (`rule.input`, `rule.mapResponse`, `rule.items`, decoders, endpoint tables, the Atom
 * reader) and the names of errors, but neither the plan nor the executor, the loading of records or the cache.
 */
import { readFileSync } from 'node:fs';
import {
  Kind,
  type DocumentNode,
  type ExecutionResult,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  GraphQLList,
  type GraphQLOutputType,
  type GraphQLSchema,
  type SelectionSetNode,
  execute,
  executeSync,
  getArgumentValues,
  getNamedType,
  getNullableType,
  isAbstractType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  TypeInfo,
  buildSchema,
  lexicographicSortSchema,
  printSchema,
  specifiedDirectives,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { pathToArray } from 'graphql/jsutils/Path.js';
import {
  type Endpoint,
  type Representation,
  type Tier,
  isProvided,
  wholeRepresentation,
} from '../../src/api/endpoint.ts';
import { bookEndpoints } from '../../src/api/book.ts';
import { eventEndpoints } from '../../src/api/event.ts';
import type { FieldRule, TypeRule } from '../../src/engine/plan/declaration-types.ts';
import { builder } from '../../src/engine/builder.ts';
import { fieldRule, timeOrderOf, typeRule } from '../../src/engine/plan/read-declarations.ts';
import { encodeAnchor, anchorAt } from '../../src/engine/values/newest-first.ts';
import { asInt, asText } from '../../src/engine/values/decode.ts';
import { deferOf, fragmentApplies, isIncluded } from '../../src/engine/plan/document.ts';
import { serviceError } from '../../src/api/errors.ts';
import { badInput, toClientError } from '../../src/engine/errors/to-client-error.ts';
import { FIRST_MAX, type Page, type PagingArgs, listIdOf } from '../../src/engine/values/paging.ts';
import { deferDirective, streamDirective } from '../../src/engine/plan/incremental-directives.ts';
import { schema } from '../../src/graph/schema.ts';
import { NotMade, TierRequired, UpstreamRejection } from '../../src/upstream/errors.ts';
import type { RecordSource } from '../../src/api/record-source.ts';
import { CachePolicy } from '../../src/upstream/cache/cache-policy.ts';
import type { UpstreamSession } from '../../src/upstream/upstream-session.ts';
import type { ResponseLoader } from '../../src/upstream/loading/response-loader.ts';
import type { Fetch } from './service.ts';
import { type Response_, readAtom } from './upstreams.ts';

/** The person who runs the operation, and the configuration of the facade. */
export interface Requester {
  /** The bearer token; undefined for none. */
  token: string | undefined;
  /** The tier that the service grants to the token. */
  tier: Tier;
  /** The facade's own token. */
  accessToken: string | undefined;
  filmTier: Tier | undefined;
  /** The name of the person who sends the operation, if any. */
  person: string | null;
  /** A person as contained in responses of the service. */
  personsOf: (id: string) => Parent[];
  /** Whether a response may contain the text about the person who sends the operation. */
  isOwn: (text: string) => boolean;
}

/** One place in the response, and what may differ there. */
export interface Place {
  /** `Type.field` */
  coordinate: string;
  isNonNull: boolean;
  /** The requests, without `fields`, that its own value depends on. */
  requests: Set<string>;
  /** Whether another value than that of the reference is correct. */
  accepts?: (value: unknown) => boolean;
  /** The record, which embeds the list, is absent: the list is null then, and is not requested. */
  isOfAbsent?: boolean;
  /** There is no such record as the field is of. */
  isBelowAbsent?: boolean;
  /** The type and key of the record at the place. */
  record?: string;
  /** The request for the record that the field is of, if it was asked for it. */
  parentRequest?: string;
  /** The code of an error that is correct here as well as below. */
  mayFail?: string;
  /** The record is absent and only fields with calls are selected: an object of nulls is as correct as null. */
  mayStand?: boolean;
  /** Requests for the record that the field is of, or for one of its lists, and whether the response says that there is none. */
  denials?: Map<string, boolean>;
}

export interface Reference {
  data: unknown;
  errors: { path: string; code: string; message: string }[];
  places: Map<string, Place>;
  /** Method and path of each write. */
  writes: string[];
  /** The operation has more fields than the reference reads: only its writes are complete. */
  isCut: boolean;
}

/** More fields than generated operations within the limits have: what has more must be refused. Deeply nested lists have millions. */
const MOST_FIELDS = 20_000;

/** A record by its key. */
export interface RecordPlace {
  type: string;
  key: string;
  source: RecordSource;
}

/** A call of a field. */
export interface FieldCall {
  endpoint: Endpoint;
  /** With the window and the variant. */
  input: object;
  /** The members selected of its record or items. */
  names: readonly string[];
  /** The record that the field is of. */
  owner: RecordPlace | undefined;
  /** The record of the items of a list. */
  items: Omit<RecordPlace, 'key'> | undefined;
  /** The member of the owner that has enough of the response. */
  embedded: string | undefined;
  /** The member of the owner that the call has in another variant. */
  variant: string | undefined;
  /** Another response told where the page is. */
  isMoved?: true;
}

/** What a planner knows that counts calls (`minimum.ts`). Each function throws while no response has told it. */
export interface Planning {
  needMembers: (record: RecordPlace, names: readonly string[]) => void;
  needCall: (call: FieldCall) => void;
  /** False if the record is known to be absent. Does not throw. */
  mayExist: (record: RecordPlace, isNamed: boolean) => boolean;
}

type Parent = Record<string, unknown>;
type Resolver = (parent: Parent, args: object, context: Run, info: GraphQLResolveInfo) => unknown;

/** The GraphQL context of one run. */
interface Run {
  requester: Requester;
  fetch: Fetch;
  places: Map<string, Place>;
  writes: string[];
  viewer: { isLoggedIn: boolean; filmTier: Tier | null; person?: { id: string; uid?: string } };
  /** What the declared resolvers use of an operation. */
  upstream: Pick<
    UpstreamSession,
    'cachePolicy' | 'rateBudget' | 'invalidate' | 'write' | 'beginChange' | 'endChange'
  > & {
    calls: Pick<UpstreamSession['calls'], 'requireLogin'>;
    responses: Pick<ResponseLoader, 'load'>;
  };
  maxPictures: number;
  serviceName: string;
  planning: Planning | undefined;
}

/** A record as its parent returned it, with what is needed to read the rest. */
interface Known {
  record: Parent;
  type: GraphQLObjectType;
  /** The names that the parent provides whenever the record has them. */
  form: Representation | undefined;
  /** The tier that the record is read with. */
  tier: Tier;
  /** Whether the tier is known not to get the name, so that it is not requested. */
  refuses: (name: string) => boolean;
  /** Reads the record by its key, once; null if it is absent. */
  whole: () => Parent | null;
  request: string | undefined;
  place: RecordPlace | undefined;
  planning: Planning | undefined;
}
/** By the source object of the resolvers of a record. */
const known = new WeakMap<object, Known>();

/** Fields of a page about positions. */
const positions: Readonly<Record<string, (page: Page<unknown>) => unknown>> = {
  'PageInfo.hasPreviousPage': ({ start }) => start > 0,
  'PageInfo.startCursor': (page) => {
    const first = page.items.findIndex((item) => item !== null);
    return page.items.length > 0 || (page.isBackward && page.end > 0) ? cursorOfItem(page, Math.max(0, first)) : null;
  },
  'PageInfo.endCursor': (page) => (page.end > page.start ? cursorOfItem(page, page.items.length - 1) : null),
};

/** The cursor of the last edge is that of the end of the page, which may lie behind items that the service leaves out. */
function cursorOfEdge({ page, index }: { page: Page<unknown>; index: number }): string {
  return cursorOfItem(page, index);
}

/** In a list ordered by time it names the item, or the nearest one before it. */
function cursorOfItem({ items, start, end, listId, newestFirst, total }: Page<unknown>, index: number): string {
  const position = index === items.length - 1 ? end - 1 : Math.min(start + index, end - 1);
  const own = index === 0 ? start : Math.max(start + index, end - items.length + index);
  const place = `${listId()}:${newestFirst || own === position ? '' : `${own}-`}${position}`;
  const shown = items.slice(0, index + 1).findLastIndex((item) => item !== null);
  const anchor = newestFirst && anchorAt(items, shown, newestFirst, total);
  return Buffer.from(anchor ? `${place}:${encodeAnchor(anchor)}` : place).toString('base64url');
}

export const referenceSchema: GraphQLSchema = withResolvers(
  builder.toSchema({ directives: [...specifiedDirectives, deferDirective, streamDirective] }),
);

export async function runReference(
  document: DocumentNode,
  operationName: string | undefined,
  variableValues: Readonly<Record<string, unknown>>,
  requester: Requester,
  fetch: Fetch,
  planning?: Planning,
): Promise<Reference> {
  const run = createRun(requester, fetch, planning);
  const result: ExecutionResult = await execute({
    schema: referenceSchema,
    document,
    operationName,
    variableValues,
    contextValue: run,
  });
  const introspected = introspect(document, variableValues);
  return {
    data: result.data ? { ...result.data, ...introspected } : null,
    errors: (result.errors ?? []).map((error) => {
      const cause = error.originalError ?? error;
      const code =
        toClientError(cause)?.extensions.code ?? (cause as { extensions?: { code?: unknown } }).extensions?.code;
      return {
        path: (error.path ?? []).join('.'),
        code: typeof code === 'string' ? code : 'none',
        message: error.message,
      };
    }),
    places: run.places,
    writes: run.writes,
    isCut: run.places.size > MOST_FIELDS,
  };
}

/** The schema as it is published, or with what `--extended` adds: that of the reference has other types of fields. */
const isExtended = schema.getType('AddedMark') !== undefined;
const published = lexicographicSortSchema(
  buildSchema(isExtended ? printSchema(schema) : readFileSync('schema.graphql', 'utf8')),
);

/** The fields `__schema` and `__type` of an operation. */
function introspect(
  document: DocumentNode,
  variableValues: Readonly<Record<string, unknown>>,
): ExecutionResult['data'] {
  if (!/\b__(?:schema|type)\b/.test(document.loc?.source.body ?? '__schema')) return {};
  const types = new TypeInfo(published);
  const alone: DocumentNode = visit(
    document,
    visitWithTypeInfo(types, {
      Field: ({ name }) =>
        types.getParentType() === published.getQueryType() && !/^__(?:schema|type)$/.test(name.value)
          ? null
          : undefined,
    }),
  );
  const { data, errors } = executeSync({ schema: published, document: alone, variableValues });
  if (errors) throw new Error(`introspection failed: ${errors[0]!.message}`);
  return data;
}

function createRun(requester: Requester, fetch: Fetch, planning?: Planning): Run {
  const run: Run = {
    requester,
    fetch,
    places: new Map(),
    writes: [],
    viewer: {
      isLoggedIn: requester.token !== undefined,
      filmTier: requester.token === undefined && requester.accessToken ? (requester.filmTier ?? null) : requester.tier,
    },
    maxPictures: 12,
    serviceName: 'the catalog service',
    planning,
    upstream: {
      cachePolicy: new CachePolicy(requester.token !== undefined),
      rateBudget: () => Promise.resolve(null),
      calls: { requireLogin: () => requireLogin(run) },
      invalidate: () => Promise.resolve(),
      // Nothing runs at once here, and no generated write keeps what it does not name.
      beginChange: () => Promise.resolve({}),
      endChange: () => undefined,
      write: (endpoint, input, path) =>
        Promise.resolve().then(() => write(run, endpoint, input, pathToArray(path).join('.'))),
      // Reads for the payload of a mutation.
      responses: {
        load: (endpoint, input, _, path) => {
          run.places.get(pathToArray(path).join('.'))?.requests.add(requestOf(endpoint, input));
          return Promise.resolve().then(() => read(run, endpoint, input) as never);
        },
      },
    },
  };
  return run;
}

function requireLogin({ requester }: Run): void {
  if (requester.token === undefined) throw new NotMade('LOGIN_REQUIRED', 'This needs a logged-in person.');
}

// Requests

/** Method, path and query of a call without `fields`: the key of its fault. */
export function requestOf({ method, path, params }: Endpoint, input: object): string {
  const values = { ...input } as Record<string, unknown>;
  const filled = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(values[name])));
  if (method !== 'GET') return `${method} ${filled}`;
  const query = Object.keys(values)
    .filter(
      (name) => !params.includes(name) && name !== 'fields' && values[name] !== undefined && values[name] !== null,
    )
    .sort()
    .map((name) => `${name}=${encodeURIComponent(String(values[name]))}`);
  return `${method} ${filled}${query.length ? `?${query.join('&')}` : ''}`;
}

/** The response of a read; null if the record is absent. */
export const readFor = (requester: Requester, fetch: Fetch, endpoint: Endpoint, input: object): unknown =>
  read(createRun(requester, fetch), endpoint, input);

function read(run: Run, endpoint: Endpoint, input: object): unknown {
  const { requester, fetch } = run;
  const isOwn = requester.token === undefined;
  if (endpoint.login) requireLogin(run);
  const goesWithOwn = isOwn && (endpoint.share === 'public' || endpoint.share === 'tier');
  if (isOwn && endpoint.share === 'tier' && requester.filmTier && !endpoint.tiers.includes(requester.filmTier))
    throw new TierRequired(endpoint.tiers, endpoint.path, true);
  const request = requestOf(endpoint, input);
  const [method, path] = request.split(' ') as [string, string];
  const token = isOwn ? (goesWithOwn ? requester.accessToken : undefined) : requester.token;
  const response = fetch({ method, path, body: '', token });
  const { status, body } = response;
  if (status >= 200 && status < 300) {
    const answer = decoded(endpoint, response);
    return goesWithOwn && endpoint.share === 'public' ? withoutViewer(endpoint, answer) : answer;
  }
  const code = codeOf(body);
  if (isAbsence(endpoint, status, code)) return null;
  if (endpoint.share === 'tier' && endpoint.tiers.length < 3 && code === 1000)
    throw new TierRequired(endpoint.tiers, endpoint.path, true);
  throw rejected(endpoint, status, code, request);
}

function decoded({ media }: Endpoint, { type, body }: Response_): Parent {
  if (media === 'empty') return {};
  return (type.includes('xml') ? readAtom(media as never, body) : JSON.parse(body)) as Parent;
}

const VIEWERS_OWN = 'current_user_collection';
/** Removes private data of the person whose token is the facade's own, because the facade shows the response to everybody. */
function withoutViewer({ list, visibility }: Endpoint, answer: Parent): Parent {
  const strike = ({ [VIEWERS_OWN]: _, ...rest }: Parent): Parent => rest;
  const items = list === undefined ? undefined : answer[list];
  if (!Array.isArray(items)) return strike(answer);
  const isForAll = (item: Parent | null) => !visibility || item?.[visibility.member] === visibility.everybody;
  return {
    ...strike(answer),
    [list!]: items.map((item: Parent | null) => (isForAll(item) && item ? strike(item) : null)),
  };
}

const codeOf = (body: string): number | undefined => {
  try {
    return (JSON.parse(body) as { code?: number }).code;
  } catch {
    return undefined;
  }
};

function rejected({ service }: Endpoint, status: number, code: number | undefined, request: string): UpstreamRejection {
  const known = code === undefined ? {} : { code, row: serviceError(code) };
  return new UpstreamRejection({ service, status, ...known, request });
}

function isAbsence({ service, scope, absentOn, params }: Endpoint, status: number, code: number | undefined): boolean {
  if (service === 'events') return status === 404;
  if (params.length === 0) return false;
  if (code === 1006) return scope === 'community_basic_note';
  if (code === undefined) return false;
  if (absentOn.includes(code)) return true;
  if (code === 1000 || code === 1001) return false;
  return [6000, 6006, 6008, 6014, 5000].includes(code) || status === 404;
}

function write(run: Run, endpoint: Endpoint, input: object, path: string): unknown {
  const request = requestOf(endpoint, input);
  const [method, wirePath] = request.split(' ') as [string, string];
  run.places.get(path)?.requests.add(request);
  run.writes.push(request);
  const values = Object.entries(input).filter(([name, value]) => !endpoint.params.includes(name) && value != null);
  const form = new URLSearchParams(values.map(([name, value]) => [name, String(value)])).toString();
  const response = run.fetch({ method, path: wirePath, body: form, token: run.requester.token });
  const { status, body } = response;
  if (status >= 200 && status < 300) return decoded(endpoint, response);
  const code = codeOf(body);
  throw rejected(endpoint, status, code, request);
}

// Fields

function withResolvers(schema: GraphQLSchema): GraphQLSchema {
  const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'));
  for (const type of types.filter(isObjectType))
    for (const field of Object.values(type.getFields())) field.resolve = resolverOf(schema, type, field) as never;
  // Errors stay at their own places; propagation of null is checked when the responses are compared.
  for (const type of types)
    if (isObjectType(type) || isInterfaceType(type))
      for (const field of Object.values(type.getFields())) field.type = nullable(field.type);
  return schema;
}

/** Fields of a person that another response may contain: of one named by a uid, also the id. */
const personFields = ['id', 'sourceId', 'name', 'avatarUrl', 'webUrl'].map((name) => `User.${name}`);

/** Fields that are the viewer. */
const viewers = /^(?:Viewer\.user|Delete\w+Payload\.(?:author|user|organizer))$/;
/** The viewer as shown by earlier responses to the token, which the reference does not remember. */
function isViewer(shown: unknown, { requester }: Run): boolean {
  const texts = Object.values(shown as object).filter((value) => typeof value === 'string' && value !== 'User');
  return texts.every((text: string) => requester.isOwn(text));
}

/** Fields that say what the viewer may do, and are null while no response has named the viewer. */
const rights = /\.viewer(?:DidAuthor|CanUpdate|CanDelete|IsOrganizer)$/;
function rightOf(record: Parent, run: Run, valueFor: (run: Run) => unknown): unknown {
  const { author_id, author_user, author, user_id } = record as Record<string, { id?: unknown } | undefined>;
  const makers = [author_user?.id, author_id, (Array.isArray(author) ? author[0] : author)?.id, user_id];
  const id = makers.map(asText).find((each) => each !== '') ?? '';
  const isOwn = run.requester.isOwn(`User:${id}`) || run.requester.isOwn(id);
  const person = isOwn ? { id } : { id: 'nobody', uid: 'nobody' };
  return valueFor({ ...run, viewer: { ...run.viewer, person } });
}

/** Whether only the caller gets an entry of the caller's shelf; undefined for those of others. */
function isPrivateEntry({ user_id, book_id }: Parent, run: Run): boolean | undefined {
  if (!run.requester.isOwn(asText(user_id))) return undefined;
  const [method, path] = requestOf(bookEndpoints.collection, { id: book_id, user_id }).split(' ') as [string, string];
  return run.fetch({ method, path, body: '', token: undefined }).status >= 400;
}

/** The record of an event, which names the organizer where feeds do not. */
function wholeEvent(event: Parent, run: Run): Parent {
  try {
    return (event.author ? undefined : (read(run, eventEndpoints.byId, { id: event.id }) as Parent | null)) ?? event;
  } catch {
    return event; // the service refuses it
  }
}

function nullable(type: GraphQLOutputType): GraphQLOutputType {
  const inner = getNullableType(type);
  return isListType(inner) ? new GraphQLList(nullable(inner.ofType)) : inner;
}

function resolverOf(schema: GraphQLSchema, type: GraphQLObjectType, field: GraphQLField<unknown, unknown>): Resolver {
  const rule = fieldRule(field);
  const declared = field.resolve as Resolver | undefined;
  const coordinate = `${type.name}.${field.name}`;
  const declaredType = field.type;
  const isNonNull = isNonNullType(declaredType);
  const position = positions[coordinate] ?? (/Edge\.cursor$/.test(coordinate) ? cursorOfEdge : undefined);
  return (parent, args, run, info) => {
    const place: Place = { coordinate, isNonNull, requests: new Set() };
    // The fields of a mutation write in any case.
    if (run.places.size > MOST_FIELDS && info.path.prev) return null;
    run.places.set(pathToArray(info.path).join('.'), place);
    // An object that is not a record depends on the request of its parent.
    if (!known.has(parent) && info.path.prev)
      for (const each of run.places.get(pathToArray(info.path.prev).join('.'))?.requests ?? [])
        place.requests.add(each);
    if (rule.viewerOnly && !run.viewer.isLoggedIn) return null;
    if (coordinate === 'PageInfo.hasNextPage')
      place.accepts = (shown) => shown === (parent as { alsoHasNext?: boolean }).alsoHasNext;
    if (viewers.test(coordinate) && run.requester.person) place.accepts = (shown) => isViewer(shown, run);
    // Which of a person's photos are in the page depends on what else the operation asks of the list.
    if (/^Photo\.(?:next|previous)$/.test(coordinate) && asText(parent.celebrity_id) !== '')
      place.accepts = (shown) => typeof shown === 'object';
    if (coordinate === 'Collection.isPrivate') {
      const [id, name] = [parent.book_id, parent.user_id];
      place.requests.add(requestOf(bookEndpoints.collection, { id, user_id: name }));
      place.requests.add(requestOf(bookEndpoints.collections, { name, count: 1 }));
      for (const request of place.requests)
        place.requests.add(request.replace(/^(GET \/v2\/book\/user\/)\w+(?=\/collections)/, `$1${asText(name)}`));
      place.accepts = (shown) => shown === isPrivateEntry(parent, run);
    }
    if (coordinate === 'DeleteCollectionPayload.deletedId')
      place.accepts = (shown) => {
        const [, user, book] = /^Collection:(\w+):(\w+)$/.exec(String(shown)) ?? [];
        return run.requester.isOwn(`User:${user}`) && book === parent.id;
      };
    if (personFields.includes(coordinate)) {
      const id = asText(parent.id);
      const persons = run.requester.personsOf(id);
      // Where the operation requests the person too, its failure may be shown here as well.
      place.requests.add(requestOf(eventEndpoints.ofUser, { id, 'max-results': 1 }));
      place.accepts = (shown) =>
        typeof shown === 'object' || persons.some((person) => declared?.(person, args, run, info) === shown);
    }
    const source = withNames(parent, namesOf(schema, rule, info), place);
    if (rights.test(coordinate) && type.name === 'Event')
      place.requests.add(requestOf(eventEndpoints.byId, { id: parent.id }));
    if (rights.test(coordinate))
      place.accepts = (shown) => {
        const whole = type.name === 'Event' ? wholeEvent(source, run) : source;
        return shown === rightOf(whole, run, (own) => declared?.(whole, args, own, info));
      };
    const value = rule.endpoint
      ? answered(rule, source, known.get(parent), args, run, info, place)
      : position
        ? position(source as never)
        : declared
          ? declared(source, args, run, info)
          : source[field.name];
    return value instanceof Promise
      ? value.then((came: unknown) => arrived(came, rule, declaredType, parent, run, info, place))
      : arrived(value, rule, declaredType, parent, run, info, place);
  };
}

/** The names of the parent's record that a field reads. */
function namesOf(schema: GraphQLSchema, rule: FieldRule, info: Info): readonly string[] {
  if (rule.endpoint) return rule.from ?? [];
  if (!rule.idIn && !rule.needsBelow) return rule.needs ?? [];
  const below = [...selectedBelow(schema, info).values()].flat();
  if (rule.idIn && below.every(({ names }) => names.every((name) => name === 'id'))) return [rule.idIn];
  const more = rule.needsBelow ? below.flatMap(({ field }) => rule.needsBelow![field.name] ?? []) : [];
  return [...(rule.needs ?? []), ...(rule.idIn ? [rule.idIn] : []), ...more];
}

/** The parent with these names: as embedded, or from the whole record. Throws if that cannot be read. */
function withNames(parent: Parent, names: readonly string[], place: Place): Parent {
  const of = known.get(parent);
  if (!of) return parent;
  const { record, isReference } = typeRule(of.type);
  const source: RecordSource = record!;
  // Names of a reference that no endpoint provides are empty.
  const missing = names.filter(
    (name) => !isKnown(of, name) && !(isReference && source.members?.includes(name) === false),
  );
  if (missing.length === 0) return parent;
  const refused = missing.find(of.refuses);
  if (refused) throw new TierRequired(source.endpoint.gates!.members[refused]!, `${of.type.name}.${refused}`);
  if (of.request) place.requests.add(of.request);
  if (of.place) of.planning?.needMembers(of.place, missing);
  const whole = of.whole();
  if (of.request) denies(place, of.request, whole === null);
  if (!whole) return parent;
  for (const name of missing) {
    const tiers = source.endpoint.gates?.members[name];
    const isGated = tiers && source.endpoint.tiers.some((tier) => !tiers.includes(tier));
    if (isGated && whole[name] === undefined && !tiers.includes(of.tier))
      throw new TierRequired(tiers, `${of.type.name}.${name}`);
  }
  return Object.assign(
    Object.create(null) as Parent,
    parent,
    Object.fromEntries(missing.map((name) => [name, whole[name]])),
  );
}

function denies(place: Place, request: string, isAbsent: boolean): void {
  place.denials ??= new Map();
  place.denials.set(request, isAbsent);
}

const isKnown = ({ record, form }: Known, name: string): boolean =>
  (name in record && !(name === 'id' && isKey(record.id))) || (form !== undefined && isProvided(form, name));

/** A record that is known by its key alone has the key in `id`: that of a collection or a comment is made of two ids. */
const isKey = (id: unknown): boolean => typeof id === 'string' && id.includes(':');

/** The result of the call of a field. */
function answered(
  rule: FieldRule,
  parent: Parent,
  of: Known | undefined,
  given: object,
  run: Run,
  info: GraphQLResolveInfo,
  place: Place,
): unknown {
  const args = pagingArgs(given, info);
  if (rule.isUnavailable?.(parent)) return null;
  if (rule.isEmpty?.(parent)) return emptyPage(rule);
  const beside = rule.atHand?.(parent);
  if (beside) return beside;
  if (of?.request) {
    place.parentRequest = of.request;
    place.isBelowAbsent = attempt(of.whole).read === null;
  }
  // The product may show the embedded list instead; then the place depends on the record.
  if (rule.embedded && of?.request) {
    place.requests.add(of.request);
    place.isOfAbsent = place.isBelowAbsent!;
    // Either error may be reported first: that of the tier or that of the arguments.
    const tiers = typeRule(of.type).record?.endpoint.gates?.members[rule.embedded.member];
    if (tiers && run.viewer.filmTier && !tiers.includes(run.viewer.filmTier)) place.mayFail = 'TIER_REQUIRED';
  }
  const endpoint = typeof rule.endpoint === 'function' ? rule.endpoint(args, parent) : rule.endpoint!;
  const input = rule.input!(parent, args);
  // A record by its key is read when it is completed.
  if (isByKey(info)) return input;
  const list = () => listIdOf(endpoint, input);
  let window = rule.pageSize === undefined ? undefined : windowOf(args, rule.pageSize, list);
  if (window && timeOrderOf(rule, args) && (args.last ?? args.before) != null) throw badInput('last or before');
  const isItemless = window !== undefined && needsNoItems(info);
  const main = rule.variants === undefined ? undefined : mainVariant(rule.variants, info);
  const inWindow = (wanted: Window | undefined) => (wanted ? { ...input, ...windowInput(endpoint, wanted) } : input);
  const inMain = (page: object) => (main === undefined ? page : { ...page, [rule.variants!]: main });
  let paged = inWindow(isItemless ? { ...window!, first: 1 } : window);
  const asked = inMain(paged);
  const listing = of && rule.variant && listings.get(of.record);
  const variant = listing && rule.variant!.of(args as never);
  if (variant !== undefined) return itemInVariant(listing!, rule, variant, parent, args, run, place);
  if (run.planning) {
    const embedded = embeddedMember(rule, args, info);
    if (embedded === undefined || !of || !isKnown(of, embedded))
      run.planning.needCall(callOf(rule, endpoint, asked, of, embedded, info));
  }
  place.requests.add(requestOf(endpoint, asked));
  let answer: unknown;
  try {
    answer = read(run, endpoint, asked);
  } catch (error) {
    const carried = error instanceof TierRequired ? carriedInstead(rule, of, args, info) : undefined;
    if (carried === undefined) throw error;
    answer = { [endpoint.list!]: carried };
  }
  // A list without a parameter in its path is of the whole service, and shows no record.
  if (of && endpoint.list !== undefined && endpoint.params.length > 0)
    denies(place, requestOf(endpoint, asked), answer === null);
  if (answer === null) return null;
  if (!window) return rule.mapResponse!(answer, args, parent);
  const itemsIn = (page: unknown) => {
    const items = rule.items ? rule.items(page, parent, args) : ((page as Parent)[endpoint.list!] as unknown[]);
    return Array.isArray(items) ? fromWindow(page as Parent, items, window!) : items;
  };
  let items = itemsIn(answer);
  const isCapped = (page: unknown) => rule.totalIsCapped?.(page, run.viewer, args) ?? false;
  const moved = window.back && moveBack(answer as Parent, items, window, isCapped(answer));
  if (moved && !isItemless) {
    window = moved;
    paged = inWindow(window);
    const again = inMain(paged);
    run.planning?.needCall({ ...callOf(rule, endpoint, again, of, undefined, info), isMoved: true });
    place.requests.add(requestOf(endpoint, again));
    answer = read(run, endpoint, again);
    if (answer === null) return null;
    items = itemsIn(answer);
  }
  if (rule.variants !== undefined) for (const item of items) if (item) listings.set(item, { endpoint, input: paged });
  const all = Array.isArray(items) ? items : [];
  return pageOf(answer as Parent, all, window, { ...info, rule, args }, list, isCapped(answer));
}

/** The default of `first` is not for pages that go backward. */
function pagingArgs(args: PagingArgs, { fieldNodes, variableValues }: Info): PagingArgs {
  const first = fieldNodes[0]!.arguments?.find(({ name }) => name.value === 'first')?.value;
  const isGiven = first && !(first.kind === Kind.VARIABLE && variableValues[first.name.value] === undefined);
  return isGiven || (args.last == null && args.before == null) ? args : { ...args, first: null };
}

/** Where the page is that goes backward, if a response shows that it is elsewhere. */
function moveBack(answer: Parent, received: unknown, window: Window, isCapped: boolean): Window | undefined {
  const { first, start } = window;
  const { most, from, end } = window.back!;
  const shown = Math.min(Array.isArray(received) ? received.length : 0, first);
  const counted = asInt(answer.total ?? answer.totalResults);
  const isWrong = counted === null || counted < 0 || (shown > 0 && start + shown > counted);
  const total = isCapped || isWrong ? Infinity : counted;
  const until = Math.min(end ?? Infinity, total);
  if (until === Infinity) throw badInput('last');
  const next = typeof answer.next_start === 'number' && answer.next_start > start ? answer.next_start - start : 0;
  const told = Math.max(shown, next);
  const isCut = total !== Infinity || (asInt(answer.count ?? answer.itemsPerPage) || first) < first;
  const isShort = start + told < until && (end === undefined || (told > 0 && isCut));
  if (!isShort && !(start >= until && until > from)) return undefined;
  const at = Math.max(from, until - (isShort && told > 0 ? Math.min(most, told) : most));
  return { first: until - at, start: at, back: window.back! };
}

/** By the items of lists that take a parameter for variants: the call without that parameter. */
const listings = new WeakMap<object, { endpoint: Endpoint; input: object }>();

/** A list is requested in the first variant selected of its items, unless the record's own is selected too. */
function mainVariant(param: string, info: Info): string | undefined {
  const items = itemsBelow(info.schema, info);
  const field = items.find(
    ({ rule, args }) => rule.variant?.param === param && rule.variant.of(args as never) !== undefined,
  );
  if (!field) return undefined;
  const member = field.rule.embedded!.member;
  const isOwn = ({ rule, names, args }: Selected) =>
    names.includes(member) || (rule.variant?.param === param && rule.variant.of(args as never) === undefined);
  return items.some(isOwn) ? undefined : field.rule.variant!.of(field.args as never);
}

const hasArgument = ({ fieldNodes }: Info, names: readonly string[]): boolean =>
  fieldNodes[0]!.arguments?.some(({ name }) => names.includes(name.value)) ?? false;

/** Whether nothing is selected of a connection but what any page of its list tells: one item is requested then. */
const needsNoItems = (info: Info, isForward = !hasArgument(info, ['last', 'before'])): boolean =>
  [...selectedBelow(info.schema, info)].every(
    ([name, selected]) =>
      typeRule(info.schema.getType(name) as GraphQLObjectType).isWrapper &&
      selected.every(
        ({ rule, field: { type }, nodes }) =>
          (rule.needsNoItems === 'forward' ? isForward : rule.needsNoItems) ??
          (isObjectType(getNamedType(type)) &&
            !isListType(getNullableType(type)) &&
            needsNoItems({ ...info, returnType: type, fieldNodes: nodes }, isForward)),
      ),
  );

/** The fields selected of the nodes of a connection. */
function itemsBelow(schema: GraphQLSchema, info: Info): Selected[] {
  return [...selectedBelow(schema, info)].flatMap(([name, selected]) =>
    typeRule(schema.getType(name) as GraphQLObjectType).isWrapper
      ? selected.flatMap(({ field, nodes }) =>
          itemsBelow(schema, { ...info, returnType: field.type, fieldNodes: nodes }),
        )
      : selected,
  );
}

function itemInVariant(
  { endpoint, input }: { endpoint: Endpoint; input: object },
  rule: FieldRule,
  variant: string,
  parent: Parent,
  args: object,
  run: Run,
  place: Place,
): unknown {
  const asked = { ...input, [rule.variant!.param]: variant };
  const names = ['id', rule.embedded!.member];
  const more = { owner: undefined, items: undefined, embedded: undefined, variant: undefined };
  run.planning?.needCall({ endpoint, input: asked, names, ...more });
  place.requests.add(requestOf(endpoint, asked));
  const answer = read(run, endpoint, asked) as Parent;
  const item = (answer[endpoint.list!] as (Parent | null)[]).find((each) => each?.id === parent.id) as Parent;
  return rule.mapResponse!(item, args, parent);
}

/** The member of its record that has enough of what is selected of a field with a call. */
function embeddedMember({ embedded, variant, pageSize }: FieldRule, args: PagingArgs, info: Info): string | undefined {
  if (!embedded || variant?.of(args as never) !== undefined || !isFromStart(args)) return undefined;
  if (embedded.upTo !== undefined && (args.first ?? pageSize ?? 0) > embedded.upTo) return undefined;
  const below = [...selectedBelow(info.schema, info).values()].flat();
  if (pageSize !== undefined && below.some(({ field }) => field.name === 'totalCount')) return undefined;
  const { members } = embedded.representation;
  const isEnough =
    members === 'all' ||
    (below.length > 0 ? memberNames(info).every((name) => members.includes(name)) : variant !== undefined);
  return isEnough ? embedded.member : undefined;
}

/** The members that are selected of a record, or of the items of a list. */
const memberNames = (info: Info): string[] => [
  ...new Set(
    itemsBelow(info.schema, info).flatMap(({ names, rule, args, nodes, field }) => {
      const embedded = embeddedMember(rule, args, { ...info, returnType: field.type, fieldNodes: nodes });
      return [...names, ...(embedded === undefined ? [] : [embedded])];
    }),
  ),
];

function callOf(
  rule: FieldRule,
  endpoint: Endpoint,
  input: object,
  of: Known | undefined,
  embedded: string | undefined,
  info: Info,
): FieldCall {
  const items = typesOf(info.schema, info.returnType).flatMap((type) => {
    const node = 'nodes' in type.getFields() ? getNamedType(type.getFields().nodes!.type) : type;
    const source = typeRule(node as GraphQLObjectType).record;
    return source ? [{ type: node.name, source: source }] : [];
  })[0];
  const variant = rule.variant && rule.embedded!.member;
  return { endpoint, input, names: memberNames(info), owner: of?.place, items, embedded, variant };
}

/** Whether a field of Query returns a record by the same call that loads such records. */
function isByKey({ parentType, returnType, fieldName }: GraphQLResolveInfo): boolean {
  const type = getNamedType(returnType);
  const { endpoint } = fieldRule(parentType.getFields()[fieldName]!);
  return (
    parentType.name === 'Query' &&
    isObjectType(type) &&
    typeRule(type).record?.endpoint === endpoint &&
    endpoint !== undefined
  );
}

/** A list that is withheld from the tier although the record embeds its first page. */
function carriedInstead(rule: FieldRule, of: Known | undefined, args: PagingArgs, info: GraphQLResolveInfo): unknown {
  const { embedded } = rule;
  if (!embedded || !of || !isFromStart(args) || (args.first ?? rule.pageSize ?? 0) > (embedded.upTo ?? 0))
    return undefined;
  const below = [...selectedBelow(info.schema, info).values()].flat();
  if (below.some(({ field }) => field.name === 'totalCount')) return undefined;
  try {
    const carried = of.record[embedded.member] ?? of.whole()?.[embedded.member];
    return Array.isArray(carried) ? carried : undefined;
  } catch {
    return undefined;
  }
}

const isFromStart = ({ after, offset, last, before }: PagingArgs): boolean =>
  after == null && !offset && last == null && before == null;

interface Window {
  first: number;
  start: number;
  /** The last `most` nodes between these positions. */
  back?: { most: number; from: number; end: number | undefined };
}

/** The page that the arguments select. A cursor is `list:position` in base64url, or `list:own-position`. */
function windowOf({ first, after, last, before, offset }: PagingArgs, byDefault: number, list: () => string): Window {
  for (const size of [first, last]) if (size != null && (size < 1 || size > FIRST_MAX)) throw badInput('size');
  if (after != null && offset != null) throw badInput('after and offset');
  if (offset != null && offset < 0) throw badInput('offset');
  const positionsIn = (cursor: string): readonly [own: number, last: number] => {
    const [of, position = ''] = Buffer.from(cursor, 'base64url').toString().split(':');
    const [, own, last] = /^(?:(\d+)-)?(\d+)$/.exec(position) ?? [];
    if (of !== list() || last === undefined) throw badInput('cursor');
    return [Number(own ?? last), Number(last)];
  };
  const from = after == null ? (offset ?? 0) : positionsIn(after)[1] + 1;
  if (last == null && before == null) return { first: first ?? byDefault, start: from };
  if ((first != null && last != null) || offset != null) throw badInput('first or offset');
  const end = before == null ? undefined : positionsIn(before)[0];
  if (first != null) return { first: Math.min(first, Math.max(0, end! - from)), start: from };
  const most = last ?? byDefault;
  const start = end === undefined ? from : Math.max(from, end - most);
  return { first: end === undefined ? most : Math.max(0, end - start), start, back: { most, from, end } };
}

/** Lists of the event service are Atom feeds, which count from 1. */
const windowInput = ({ service }: Endpoint, { first, start }: Window): object =>
  service === 'events' ? { 'start-index': start + 1, 'max-results': first || 1 } : { start, count: first || 1 };

interface ReferencePage extends Page<unknown> {
  /** What the product may return if it uses the embedded page, which has no total. */
  alsoHasNext: boolean | undefined;
}

/** The items from the window on. A service that ignores the window says where its page begins, or sends the whole list. */
function fromWindow(answer: Parent, sent: readonly unknown[], { first, start }: Window): readonly unknown[] {
  const counted = asInt(answer.total ?? answer.totalResults);
  const index = asInt(answer.startIndex);
  const begins = asInt(answer.start) ?? (index === null ? null : index - 1);
  const asked = first || 1;
  if (sent.length > asked && counted !== null && sent.length >= counted) return sent.slice(start);
  if (begins === null) return counted === null && sent.length > asked + 1 ? sent.slice(start) : sent;
  if (begins >= start || index === start) return sent;
  if (sent.length > asked || begins + sent.length > start) return sent.slice(start - begins);
  const exists = counted === null ? sent.length < asked && begins === 0 : counted > start;
  return exists ? sent : sent.slice(start - begins);
}

function pageOf(
  answer: Parent,
  all: readonly unknown[],
  { first, start, back }: Window,
  { rule, args, ...info }: GraphQLResolveInfo & { rule: FieldRule; args: object },
  list: () => string,
  capped: boolean,
): ReferencePage {
  const node = getNamedType(
    (getNamedType(info.returnType) as GraphQLObjectType).getFields().nodes!.type,
  ) as GraphQLObjectType;
  const isKeyed = 'id' in node.getFields();
  const isShown = (item: unknown) =>
    typeof item === 'object' && item !== null && (!isKeyed || (('id' in item && item.id) ?? '') !== '');
  const counted = asInt(answer.total ?? answer.totalResults);
  const shown = Math.min(all.length, first);
  const total = !capped && counted !== null && shown > 0 && start + shown > counted ? null : counted;
  const most = Math.min(first, asInt(answer.count ?? answer.itemsPerPage) || first);
  const next = answer.next_start;
  const isTold = first > 0 && all.length <= first && typeof next === 'number' && next > start;
  const end = isTold ? next : start + shown;
  const isFull = all.length > 0 && (isTold || all.length >= most);
  const byTotal = total === null || capped ? isFull : end > start && end < total;
  // The service counts fewer items than lie before the page: it repeats some of them, and nothing follows.
  const isPast = counted !== null && counted <= start && shown <= counted && !capped;
  const inHand = rule.embedded && start === 0 && first <= (rule.embedded.upTo ?? 0);
  return {
    items: all.slice(0, first).map((item) => (isShown(item) ? item : null)),
    start,
    end,
    total: total !== null && total >= 0 ? total : null,
    totalIsCapped: capped,
    isRanked: rule.isRanked ?? false,
    hasNext: !isPast && (byTotal || all.length > first),
    alsoHasNext: inHand ? all.length > 0 && all.length >= Math.min(first, rule.embedded!.upTo!) : undefined,
    title: asText(answer.title).trim() || null,
    envelope: answer,
    listId: list,
    newestFirst: timeOrderOf(rule, args),
    behind: undefined,
    isBackward: back !== undefined,
    representation: rule.representation ?? wholeRepresentation,
  };
}

const emptyPage = (rule: FieldRule): ReferencePage => ({
  items: [],
  start: 0,
  end: 0,
  total: 0,
  totalIsCapped: false,
  isRanked: false,
  hasNext: false,
  alsoHasNext: undefined,
  title: null,
  envelope: {},
  listId: () => '',
  newestFirst: undefined,
  behind: undefined,
  representation: rule.representation ?? wholeRepresentation,
});

// Records

/** The value of a field with each record in it registered in `known`. */
function arrived(
  value: unknown,
  rule: FieldRule,
  declaredType: GraphQLOutputType,
  parent: unknown,
  run: Run,
  info: GraphQLResolveInfo,
  place: Place,
): unknown {
  if (value === null || value === undefined || value instanceof Error) return value;
  const named = getNamedType(info.returnType);
  if (!isObjectType(named) && !isAbstractType(named)) return value;
  const listed = rule.mayBeReference ? undefined : formWithin(parent);
  const form = listed ?? rule.representation ?? wholeRepresentation;
  const isListed =
    !isNode(info) &&
    (listed !== undefined || rule.isItem === true || rule.endpoint !== undefined || Array.isArray(value));
  const one = (item: unknown, at: Place): unknown => arriveOne(item, form, isListed, run, info, at);
  if (!Array.isArray(value)) return one(value, place);
  const type = getNullableType(declaredType);
  const isNonNull = isListType(type) && isNonNullType(type.ofType);
  return value.map((item: unknown, index) => {
    const at: Place = { coordinate: place.coordinate, isNonNull, requests: new Set(place.requests) };
    run.places.set([...pathToArray(info.path), index].join('.'), at);
    if (item === null || item === undefined || item instanceof Error) return item;
    try {
      return one(item, at);
    } catch (error) {
      return error;
    }
  });
}

const isNode = ({ parentType, fieldName }: GraphQLResolveInfo): boolean =>
  parentType.name === 'Query' && ['node', 'nodes'].includes(fieldName);

function formWithin(parent: unknown): Representation | undefined {
  const { page = parent } = (parent ?? {}) as { page?: unknown };
  return typeof page === 'object' && page !== null && 'items' in page && 'representation' in page
    ? (page as Page<unknown>).representation
    : undefined;
}

/**
 * Whether a record exists. One that the client named, or that is known by its id only, is null if absent and fails if it cannot be read.
 * Of one that was listed or embedded, the known part stays.
 */
function arriveOne(
  item: unknown,
  form: Representation,
  isListed: boolean,
  run: Run,
  info: GraphQLResolveInfo,
  place: Place,
): unknown {
  const { schema } = info;
  const named = getNamedType(info.returnType);
  const record = item as Parent;
  const type = isObjectType(named)
    ? named
    : (schema.getType(String(record.__typename)) as GraphQLObjectType | undefined);
  const rule: TypeRule = type ? typeRule(type) : {};
  if (!type || !rule.record) return item;
  const source: RecordSource = rule.record;
  const key = source.keyOf ? source.keyOf(record as never) : asText(record.id);
  const isNamed = (isNode(info) && !rule.isReference) || isByKey(info);
  const isBare = Object.keys(record).every((name) => name === 'id' || name === '__typename');
  const isShown = !isNamed && (isListed || !isBare);
  const { requester } = run;
  const tier = requester.token === undefined ? requester.filmTier : undefined;
  let whole: { read?: Parent | null; error?: unknown } | undefined;
  // A copy, because the same object may occur in two places.
  const copy: Parent = { ...record };
  const of: Known = {
    record,
    type,
    form: isShown ? form : undefined,
    tier: requester.tier,
    refuses: (name) => tier !== undefined && !!key && source.endpoint.gates?.members[name]?.includes(tier) === false,
    request: key ? requestOf(source.endpoint, source.input(key)) : undefined,
    place: key ? { type: type.name, key, source } : undefined,
    planning: run.planning,
    whole() {
      if (!key) return null;
      whole ??= attempt(() => recordOf(run, source, key));
      if (whole.error) throw whole.error as Error;
      return whole.read!;
    },
  };
  known.set(copy, of);
  if (key) place.record = `${type.name}:${key}`;
  if (!key || isShown || rule.isReference) return copy;
  if (run.planning) return run.planning.mayExist(of.place!, isNamed) ? copy : null;

  const selected = (selectedBelow(schema, info).get(type.name) ?? []).filter(
    ({ rule }) => !rule.viewerOnly || run.viewer.isLoggedIn,
  );
  const calls = selected.filter(({ rule }) => rule.endpoint);
  const missing = (of_: readonly Selected[]) =>
    [...new Set(of_.flatMap(({ names, rule }) => (rule.endpoint ? [] : names)))].filter(
      (name) => isNamed || !isKnown(of, name),
    );
  const first = missing(selected.filter(({ isLater }) => !isLater));
  const all = first.length > 0 ? first : missing(selected);
  // A list, or the record in another variant, shows as well that a record exists of which the client named the id.
  const isShownByCall = calls
    .map(({ rule, args }) => endpointFor(rule, args))
    .some((endpoint) => endpoint.list !== undefined || endpoint === source.endpoint);
  const wanted = isNamed && isShownByCall && !isKey(record.id) && all.every((name) => name === 'id') ? [] : all;
  // A record that the client named is requested nevertheless.
  if (!isNamed && wanted.length > 0 && wanted.every(of.refuses)) {
    if (calls.length > 0) place.requests.add(of.request!);
    place.mayStand = !attempt(of.whole).read;
    denies(place, of.request!, false); // the tier is refused
    return copy;
  }
  place.requests.add(of.request!);
  if (wanted.length === 0 && calls.length > 0) {
    // Only fields with calls are selected: they, or the record if it embeds some of them, show whether it exists.
    const { read: came, error } = attempt(of.whole);
    place.mayStand = !came;
    denies(place, of.request!, came === null);
    const code = toClientError(error)?.extensions.code;
    if (typeof code === 'string') place.mayFail = code;
    return copy;
  }
  if (wanted.length === 0 && !isNamed) return copy;
  const { read: came, error } = attempt(of.whole);
  if (came) return copy;
  if (!error) return null;
  // Only the error is known. If its lists may be open, or upstream named the record, each field reports the tier error.
  if (!(error instanceof TierRequired) || (isNamed && calls.length === 0)) throw error as Error;
  place.mayStand = calls.some(({ rule }) => rule.provides);
  return copy;
}

const endpointFor = ({ endpoint }: FieldRule, args: object): Endpoint =>
  typeof endpoint === 'function' ? endpoint(args) : endpoint!;

const attempt = <T>(make: () => T): { read?: T; error?: unknown } => {
  try {
    return { read: make() };
  } catch (error) {
    return { error };
  }
};

function recordOf(run: Run, source: RecordSource, key: string): Parent | null {
  const answer = read(run, source.endpoint, source.input(key));
  if (answer === null) return null;
  return (source.read ? source.read(answer as never, key) : answer) as Parent | null;
}

// Selections

interface Selected {
  field: GraphQLField<unknown, unknown>;
  rule: FieldRule;
  names: readonly string[];
  /** Inside a deferred fragment. */
  isLater: boolean;
  nodes: readonly FieldNode[];
  args: object;
}

type Info = Pick<GraphQLResolveInfo, 'returnType' | 'fieldNodes' | 'fragments' | 'variableValues' | 'schema'>;

/** A cache: graphql-js passes the same nodes for every item of a list. */
const selections = new WeakMap<readonly FieldNode[], { variables: object; below: Map<string, Selected[]> }>();

/** The selected fields for each concrete type that a field may return. */
function selectedBelow(schema: GraphQLSchema, info: Info): Map<string, Selected[]> {
  const made = selections.get(info.fieldNodes);
  if (made && made.variables === info.variableValues) return made.below;
  const below = new Map<string, Selected[]>();
  const sets = info.fieldNodes.flatMap(({ selectionSet }) => selectionSet ?? []);
  for (const type of typesOf(schema, info.returnType)) below.set(type.name, selectedOf(schema, type, sets, info));
  selections.set(info.fieldNodes, { variables: info.variableValues, below });
  return below;
}

function argumentsIn(field: GraphQLField<unknown, unknown>, node: FieldNode, variables: object): object {
  try {
    return getArgumentValues(field, node, { ...variables });
  } catch {
    return {}; // graphql-js reports the wrong arguments
  }
}

function typesOf(schema: GraphQLSchema, returnType: GraphQLOutputType): readonly GraphQLObjectType[] {
  const named = getNamedType(returnType);
  if (isAbstractType(named)) return schema.getPossibleTypes(named);
  return isObjectType(named) ? [named] : [];
}

function selectedOf(
  schema: GraphQLSchema,
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
  info: Info,
): Selected[] {
  const nodes = new Map<string, { nodes: FieldNode[]; isLater: boolean }>();
  const { fragments, variableValues } = info;
  const collect = ({ selections }: SelectionSetNode, isLater: boolean): void => {
    for (const selection of selections) {
      if (!isIncluded(selection, variableValues)) continue;
      if (selection.kind === 'Field') {
        const key = selection.alias?.value ?? selection.name.value;
        const before = nodes.get(key);
        if (before) {
          before.nodes.push(selection);
          before.isLater &&= isLater;
        } else nodes.set(key, { nodes: [selection], isLater });
        continue;
      }
      const fragment: Pick<FragmentDefinitionNode, 'selectionSet'> | typeof selection | undefined =
        selection.kind === 'FragmentSpread' ? fragments[selection.name.value] : selection;
      const condition = fragment && 'typeCondition' in fragment ? fragment.typeCondition?.name.value : undefined;
      if (fragment && 'selectionSet' in fragment && fragmentApplies(schema, condition, type))
        collect(fragment.selectionSet, isLater || deferOf(selection, variableValues) !== undefined);
    }
  };
  for (const set of sets) collect(set, false);
  return [...nodes.values()].flatMap(({ nodes, isLater }) => {
    const field = type.getFields()[nodes[0]!.name.value];
    if (!field) return [];
    const rule = fieldRule(field);
    const names = namesOf(schema, rule, { ...info, schema, returnType: field.type, fieldNodes: nodes });
    return [{ field, rule, names, isLater, nodes, args: argumentsIn(field, nodes[0]!, variableValues) }];
  });
}

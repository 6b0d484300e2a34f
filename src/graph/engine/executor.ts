/**
 * Runs the plan of a query: what graphql-js does, in its order, with all that the plan knows worked out before.
 *
 * graphql-js is the reference, and runs mutations and questions about the schema; answers in pieces have an executor of their own. Here a
 * value in hand costs no promise, and a field that succeeds makes nothing but its value.
 */
import {
  type ExecutionResult,
  GraphQLError,
  type GraphQLLeafType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  locatedError,
} from 'graphql';
import { type Path, addPath, pathToArray } from 'graphql/jsutils/Path.js';
import {
  type ResponseRoom,
  ERROR_BYTES,
  PUNCTUATION_BYTES,
  responseTooLarge,
  bytesOf,
  isFull,
  noResponseLimits,
  roomFor,
} from './response-size.ts';
import { fieldResolversOf, infoOf } from './resolve-field.ts';
import type { Context } from './builder.ts';
import { plainlyOf } from './arguments.ts';
import type { Variables } from './document.ts';
import { type SelectionPlan, type PlannedField, type OperationPlan, responseKeyOf } from './operation-plan.ts';
import { isPromise } from '../../lib/promises.ts';
import { withoutStack } from '../../upstream/errors.ts';

export type Execute = (context: Context, variables: Variables) => ExecutionResult | Promise<ExecutionResult>;

type Source = Record<string, unknown>;

/** One run of a plan. */
interface Running {
  context: Context;
  variables: Variables;
  data: unknown;
  errors: GraphQLError[];
  /** What the response may still hold. Once it is too large, nothing more is resolved. */
  room: ResponseRoom;
  /** Values on their way, those too whose place is null by now; when the last has come, whoever waits is told the answer. */
  awaited: number;
  tell: ((answer: ExecutionResult) => void) | undefined;
}

/** Makes of a resolved value what the answer shows, for now without what in it comes later. Throws where it cannot be shown. */
type Complete = (value: unknown, running: Running, path: Path) => unknown;

/** Whether a resolved value is shown as it is: most often it is, and no more is to be asked of it. */
type IsShown = (value: unknown) => boolean;

/** Where in an answer values stand, be it a field or the items of a list; each is one key of the path. */
interface Spot {
  plan: PlannedField;
  isNonNull: boolean;
  /** What falls with it where it may not be null; undefined for the fields of the whole answer. */
  above: Spot | undefined;
}

/** What becomes of a value that is to stand there. */
interface Place {
  spot: Spot;
  complete: Complete;
  isShown: IsShown;
}

/** One field of an object in the answer. */
interface Step extends Place {
  key: string;
  parent: string;
  resolve: (source: Source, running: Running, path: Path | undefined) => unknown;
  /** Nothing below it, so no path is needed unless it fails or comes late. */
  isLeaf: boolean;
}

/** Undefined for what the reference must run. */
export function createExecutor(
  schema: GraphQLSchema,
  { root, defers, introspects }: OperationPlan,
): Execute | undefined {
  if (defers || introspects || root.type !== schema.getQueryType()) return undefined;
  const select = selection(schema, root, undefined);
  return (context, variables) => {
    const room = roomFor(context.responseLimits ?? noResponseLimits);
    const running: Running = { context, variables, data: null, errors: [], room, awaited: 0, tell: undefined };
    try {
      running.data = select({}, running, undefined);
    } catch (error) {
      running.errors.push(error as GraphQLError);
    }
    return running.awaited === 0 ? answerOf(running) : later(running);
  };
}

function answerOf({ data, errors, room, context }: Running): ExecutionResult {
  if (isFull(room)) return { errors: [responseTooLarge(room, context.responseLimits ?? noResponseLimits)], data: null };
  return errors.length ? { errors, data: data as Source | null } : { data: data as Source };
}

// Closures have functions of their own: a function with one in it makes room for what that would hold, whether it comes to be or not.

const later = (running: Running): Promise<ExecutionResult> => new Promise((resolve) => (running.tell = resolve));

/** The fields selected of an object. */
function selection(
  schema: GraphQLSchema,
  { outputFields, type }: SelectionPlan,
  above: Spot | undefined,
): (source: Source, running: Running, path: Path | undefined) => Source {
  const steps = outputFields.map((each) => (typeof each === 'string' ? each : stepOf(schema, each, above)));
  // An object without a prototype is slow; in any other this one key would be no member.
  const isOdd = steps.some((step) => typeof step !== 'string' && step.key === '__proto__');
  const bytes = steps.reduce(
    (sum, step) => sum + PUNCTUATION_BYTES + (typeof step === 'string' ? step : step.key).length,
    0,
  );
  return (source, running, path) => {
    const object = (isOdd ? Object.create(null) : {}) as Source;
    const { room } = running;
    room.values -= steps.length;
    room.bytes -= bytes;
    // Counted, because an iterator would make an object of each step.
    for (let at = 0; at < steps.length && room.bytes >= 0 && room.values >= 0; at++) {
      const step = steps[at]!;
      if (typeof step === 'string') object[step] = type.name;
      else object[step.key] = taken(step, source, running, path, object);
    }
    return object;
  };
}

function taken(step: Step, source: Source, running: Running, path: Path | undefined, object: Source): unknown {
  const here = step.isLeaf ? undefined : addPath(path, step.key, step.parent);
  try {
    const value = step.resolve(source, running, here);
    if (step.isShown(value)) {
      if (typeof value === 'string') running.room.bytes -= bytesOf(value);
      return value;
    }
    return isPromise(value)
      ? awaited(step, value, running, object, here ?? addPath(path, step.key, step.parent))
      : step.complete(value, running, here!);
  } catch (error) {
    return nulled(step.spot, error, running, here ?? addPath(path, step.key, step.parent));
  }
}

/** Null keeps its place until it has come. A promise of all that holds it, up to the whole answer, would cost more than the value. */
function awaited(place: Place, value: Promise<unknown>, running: Running, holder: object, path: Path): null {
  running.awaited++;
  value.then(
    (came) => arrived(place, came, running, holder, path),
    (error: unknown) => lost(place.spot, error, running, path),
  );
  return null;
}

function arrived({ spot, complete }: Place, came: unknown, running: Running, holder: object, path: Path): void {
  try {
    (holder as Source)[path.key] = complete(came, running, path);
  } catch (error) {
    return lost(spot, error, running, path);
  }
  settled(running);
}

/** It is null already; where it may not be, so is what holds it now, and so on. Of what has fallen before nothing more is told. */
function lost(spot: Spot, error: unknown, running: Running, path: Path): void {
  let failed: Spot | undefined = spot;
  let at: Path | undefined = path;
  for (; failed?.isNonNull; failed = failed.above) at = at?.prev;
  const holder = at && standingAt(running, at.prev);
  running.room.bytes -= ERROR_BYTES;
  if (at ? holder : running.data) {
    running.errors.push(located(spot, error, path));
    if (at) holder![at.key] = null;
    else running.data = null;
  }
  settled(running);
}

/** What stands there in the answer; nothing where it, or what held it, is null. */
function standingAt(running: Running, path: Path | undefined): Source | null | undefined {
  if (!path) return running.data as Source | null;
  return standingAt(running, path.prev)?.[path.key] as Source | null | undefined;
}

function settled(running: Running): void {
  if (--running.awaited === 0) running.tell!(answerOf(running));
}

/** A field that failed is null, or fails what it stands in. */
function nulled(spot: Spot, error: unknown, running: Running, path: Path): null {
  const failure = located(spot, error, path);
  if (spot.isNonNull) throw failure;
  running.room.bytes -= ERROR_BYTES;
  running.errors.push(failure);
  return null;
}

/** The stack that matters is that of the error itself. */
const located = ({ plan: { nodes } }: Spot, error: unknown, path: Path): GraphQLError =>
  withoutStack(() => locatedError(error, nodes, pathToArray(path)));

function stepOf(schema: GraphQLSchema, plan: PlannedField, above: Spot | undefined): Step {
  const { field, parent } = plan;
  const spot: Spot = { plan, isNonNull: isNonNullType(field.type), above };
  return {
    key: responseKeyOf(plan),
    parent,
    spot,
    resolve: resolveOf(schema, plan),
    complete: completeOf(schema, spot, field.type),
    isShown: plainlyOf(field.type),
    isLeaf: isPlainLeaf(field.type) && !fieldResolversOf(field).engine,
  };
}

function resolveOf(schema: GraphQLSchema, plan: PlannedField): Step['resolve'] {
  const { field, args } = plan;
  const { engine, plain } = fieldResolversOf(field);
  if (engine)
    return (source, { context, variables }, path) =>
      engine(plan, source, args(variables), context, { path: path!, variables });
  if (!plain) return (source) => source[field.name];
  const info = infoOf(schema);
  return (source, { context, variables }) => plain(source, args(variables), context, info);
}

const isPlainLeaf = (type: GraphQLOutputType): boolean => isLeafType(isNonNullType(type) ? type.ofType : type);

function completeOf(schema: GraphQLSchema, spot: Spot, type: GraphQLOutputType): Complete {
  if (isNonNullType(type)) {
    const { field, parent } = spot.plan;
    const inner = completeOf(schema, spot, type.ofType);
    return (value, running, path) => {
      const shown = inner(value, running, path);
      if (shown !== null) return shown;
      throw new Error(`Cannot return null for non-nullable field ${parent}.${field.name}.`);
    };
  }
  const complete = isListType(type)
    ? listOf(schema, spot, type.ofType)
    : isLeafType(type)
      ? leafOf(type)
      : objectOf(schema, spot);
  return (value, running, path) => {
    if (value instanceof Error) throw value;
    return value === null || value === undefined ? null : complete(value, running, path);
  };
}

/** What is not plainly of its type, or came late, the type makes so, or refuses. */
function leafOf(type: GraphQLLeafType): Complete {
  return (value, { room }) => {
    const shown = type.serialize(value);
    if (typeof shown === 'string') room.bytes -= bytesOf(shown);
    if (shown !== null && shown !== undefined) return shown;
    throw new Error(`Expected \`${type.name}.serialize(${String(value)})\` to return non-nullable value.`);
  };
}

function listOf(schema: GraphQLSchema, list: Spot, type: GraphQLOutputType): Complete {
  const { field, parent } = list.plan;
  const spot: Spot = { plan: list.plan, isNonNull: isNonNullType(type), above: list };
  const item: Place = { spot, complete: completeOf(schema, spot, type), isShown: plainlyOf(type) };
  return (value, running, path) => {
    if (!isIterable(value))
      throw new GraphQLError(`Expected Iterable, but did not find one for field "${parent}.${field.name}".`);
    const given: readonly unknown[] = Array.isArray(value) ? value : [...value];
    const items = new Array<unknown>(given.length).fill(null);
    for (let at = 0; at < given.length; at++) items[at] = itemOf(item, given[at], at, running, path, items);
    return items;
  };
}

function itemOf(item: Place, value: unknown, at: number, running: Running, list: Path, items: unknown[]): unknown {
  if (item.isShown(value)) {
    running.room.bytes -= typeof value === 'string' ? bytesOf(value) : PUNCTUATION_BYTES;
    return value;
  }
  const path = addPath(list, at, undefined);
  try {
    return isPromise(value) ? awaited(item, value, running, items, path) : item.complete(value, running, path);
  } catch (error) {
    return nulled(item.spot, error, running, path);
  }
}

/** An object of the one type that it can be, or of the one that it says it is. */
function objectOf(schema: GraphQLSchema, spot: Spot): Complete {
  const { selections, field } = spot.plan;
  const selectors = new Map([...selections].map(([name, each]) => [name, selection(schema, each, spot)]));
  const [only] = selectors.values();
  const abstract = abstractIn(field.type);
  if (!abstract && only) return (value, running, path) => only(value as Source, running, path);
  const info = infoOf(schema);
  return (value, running, path) => {
    const name = abstract?.resolveType
      ? abstract.resolveType(value, running.context, info, abstract)
      : (value as { __typename?: string }).__typename;
    const select = typeof name === 'string' ? selectors.get(name) : undefined;
    if (select) return select(value as Source, running, path);
    throw new GraphQLError(`Nothing says of which type this ${abstract?.name} is.`);
  };
}

function abstractIn(type: GraphQLOutputType) {
  let named = type;
  while (isListType(named) || isNonNullType(named)) named = named.ofType as GraphQLOutputType;
  return isAbstractType(named) ? named : undefined;
}

const isIterable = (value: unknown): value is Iterable<unknown> =>
  Array.isArray(value) || (typeof value === 'object' && value !== null && Symbol.iterator in value);

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
import { answeringOf, isPromise, outside } from './arrive.ts';
import type { Context } from './builder.ts';
import { plainlyOf } from './coerce.ts';
import type { Variables } from './document.ts';
import { type Below, type FieldPlan, type Plan, keyOf } from './plan.ts';
import { stackless } from '../upstream/refusal.ts';

export type Execute = (context: Context, variables: Variables) => ExecutionResult | Promise<ExecutionResult>;

type Source = Record<string, unknown>;

/** One run of a plan. */
interface Running {
  context: Context;
  variables: Variables;
  errors: GraphQLError[];
}

/** Makes of a resolved value what the answer shows: the value, or a promise of it. Throws where it cannot be shown. */
type Complete = (value: unknown, running: Running, path: Path) => unknown;

/** Whether a resolved value is shown as it is: most often it is, and no more is to be asked of it. */
type IsShown = (value: unknown) => boolean;

/** One field of an object in the answer. */
interface Step {
  key: string;
  parent: string;
  plan: FieldPlan;
  resolve: (source: Source, running: Running, path: Path | undefined) => unknown;
  complete: Complete;
  isShown: IsShown;
  /** Nothing below it, so no path is needed unless it fails. */
  isLeaf: boolean;
  isNonNull: boolean;
}

/** Undefined for what the reference must run. */
export function createExecute(schema: GraphQLSchema, { root, defers, introspects }: Plan): Execute | undefined {
  if (defers || introspects || root.type !== schema.getQueryType()) return undefined;
  const select = selection(schema, root);
  return (context, variables) => {
    const running: Running = { context, variables, errors: [] };
    const answer = (data: unknown): ExecutionResult =>
      running.errors.length ? { errors: running.errors, data: data as Source | null } : { data: data as Source };
    const failed = (error: unknown): ExecutionResult => {
      running.errors.push(error as GraphQLError);
      return answer(null);
    };
    try {
      const data = select({}, running, undefined);
      return isPromise(data) ? data.then(answer, failed) : answer(data);
    } catch (error) {
      return failed(error);
    }
  };
}

/** The fields selected of an object. */
function selection(
  schema: GraphQLSchema,
  { shown, type }: Below,
): (source: Source, running: Running, path: Path | undefined) => unknown {
  const steps = shown.map((each) => (typeof each === 'string' ? each : stepOf(schema, each)));
  // An object without a prototype is slow; in any other this one key would be no member.
  const isOdd = steps.some((step) => typeof step !== 'string' && step.key === '__proto__');
  return (source, running, path) => {
    const object = (isOdd ? Object.create(null) : {}) as Source;
    let waits: Promise<unknown>[] | undefined;
    let names: string[] | undefined;
    try {
      // Counted, because an iterator would make an object of each step.
      for (let at = 0; at < steps.length; at++) {
        const step = steps[at]!;
        if (typeof step === 'string') {
          object[step] = type.name;
          continue;
        }
        const value = taken(step, source, running, path);
        object[step.key] = value;
        if (!isPromise(value)) continue;
        (waits ??= []).push(value);
        (names ??= []).push(step.key);
      }
    } catch (error) {
      if (!waits) throw error;
      return unheard(waits, error);
    }
    return waits && names ? filled(object, names, waits) : object;
  };
}

// What follows holds all closures: a function with one in it makes room for what that would hold, whether it comes to be or not.

/** What is on its way may fail too, and must not do so unheard. */
function unheard(waits: readonly Promise<unknown>[], error: unknown): Promise<never> {
  return Promise.all(waits).finally(() => {
    throw error;
  }) as Promise<never>;
}

function filled(object: Source, names: readonly string[], waits: readonly Promise<unknown>[]): Promise<Source> {
  const put = (values: readonly unknown[]) => {
    for (let at = 0; at < names.length; at++) object[names[at]!] = values[at];
    return object;
  };
  return waits.length === 1 ? waits[0]!.then((value) => put([value])) : Promise.all(waits).then(put);
}

function taken(step: Step, source: Source, running: Running, path: Path | undefined): unknown {
  const here = step.isLeaf ? undefined : addPath(path, step.key, step.parent);
  try {
    const value = step.resolve(source, running, here);
    if (step.isShown(value)) return value;
    return isPromise(value) ? awaited(step, value, running, here!, path) : completed(step, value, running, here!, path);
  } catch (error) {
    return refused(step, error, running, path);
  }
}

const awaited = (step: Step, value: Promise<unknown>, running: Running, here: Path, path: Path | undefined) =>
  value.then(
    (came) => completed(step, came, running, here, path),
    (error: unknown) => refused(step, error, running, path),
  );

function completed(step: Step, value: unknown, running: Running, here: Path, path: Path | undefined): unknown {
  try {
    const shown = step.complete(value, running, here);
    return isPromise(shown) ? guarded(step, shown, running, path) : shown;
  } catch (error) {
    return refused(step, error, running, path);
  }
}

const guarded = (step: Step, shown: Promise<unknown>, running: Running, path: Path | undefined) =>
  shown.then(undefined, (error: unknown) => refused(step, error, running, path));

/** A field that failed is null, or fails what it stands in. */
function refused({ plan, isNonNull, key, parent }: Step, error: unknown, running: Running, path: Path | undefined) {
  return nulled(plan, isNonNull, error, running, addPath(path, key, parent));
}

function nulled({ nodes }: FieldPlan, isNonNull: boolean, error: unknown, running: Running, path: Path): null {
  // The stack that matters is that of the error itself.
  const located = stackless(() => locatedError(error, nodes, pathToArray(path)));
  if (isNonNull) throw located;
  running.errors.push(located);
  return null;
}

function stepOf(schema: GraphQLSchema, plan: FieldPlan): Step {
  const { field, parent } = plan;
  return {
    key: keyOf(plan),
    parent,
    plan,
    resolve: resolveOf(schema, plan),
    complete: completeOf(schema, plan, field.type),
    isShown: plainlyOf(field.type),
    isLeaf: isPlainLeaf(field.type) && !answeringOf(field).engine,
    isNonNull: isNonNullType(field.type),
  };
}

function resolveOf(schema: GraphQLSchema, plan: FieldPlan): Step['resolve'] {
  const { field, args } = plan;
  const { engine, plain } = answeringOf(field);
  if (engine)
    return (source, { context, variables }, path) =>
      engine(plan, source, args(variables), context, { path: path!, variables });
  if (!plain) return (source) => source[field.name];
  const info = outside(schema);
  return (source, { context, variables }) => plain(source, args(variables), context, info);
}

const isPlainLeaf = (type: GraphQLOutputType): boolean => isLeafType(isNonNullType(type) ? type.ofType : type);

function completeOf(schema: GraphQLSchema, plan: FieldPlan, type: GraphQLOutputType): Complete {
  if (isNonNullType(type)) {
    const inner = completeOf(schema, plan, type.ofType);
    const there = (value: unknown) => {
      if (value !== null) return value;
      throw new Error(`Cannot return null for non-nullable field ${plan.parent}.${plan.field.name}.`);
    };
    return (value, running, path) => {
      const shown = inner(value, running, path);
      return isPromise(shown) ? shown.then(there) : there(shown);
    };
  }
  const complete = isListType(type)
    ? listOf(schema, plan, type.ofType)
    : isLeafType(type)
      ? leafOf(type)
      : objectOf(schema, plan);
  return (value, running, path) => {
    if (value instanceof Error) throw value;
    return value === null || value === undefined ? null : complete(value, running, path);
  };
}

/** What is not plainly of its type, or came late, the type makes so, or refuses. */
function leafOf(type: GraphQLLeafType): Complete {
  return (value) => {
    const shown = type.serialize(value);
    if (shown !== null && shown !== undefined) return shown;
    throw new Error(`Expected \`${type.name}.serialize(${String(value)})\` to return non-nullable value.`);
  };
}

function listOf(schema: GraphQLSchema, plan: FieldPlan, type: GraphQLOutputType): Complete {
  const item: Item = {
    plan,
    complete: completeOf(schema, plan, type),
    isShown: plainlyOf(type),
    isLeaf: isPlainLeaf(type),
    isNonNull: isNonNullType(type),
  };
  return (value, running, path) => {
    if (!isIterable(value)) {
      throw new GraphQLError(`Expected Iterable, but did not find one for field "${plan.parent}.${plan.field.name}".`);
    }
    const given: readonly unknown[] = Array.isArray(value) ? value : [...value];
    const items = new Array<unknown>(given.length).fill(null);
    let pending = false;
    try {
      for (let at = 0; at < given.length; at++) {
        const shown = itemOf(item, given[at], at, running, path);
        items[at] = shown;
        pending ||= isPromise(shown);
      }
    } catch (error) {
      // As above: not unheard.
      if (pending) Promise.all(items).catch(() => undefined);
      throw error;
    }
    return pending ? Promise.all(items) : items;
  };
}

interface Item {
  plan: FieldPlan;
  complete: Complete;
  isShown: IsShown;
  isLeaf: boolean;
  isNonNull: boolean;
}

function itemOf(item: Item, value: unknown, index: number, running: Running, list: Path): unknown {
  if (item.isShown(value)) return value;
  const path = item.isLeaf ? list : addPath(list, index, undefined);
  return isPromise(value)
    ? itemAwaited(item, value, index, running, list, path)
    : itemCompleted(item, value, index, running, list, path);
}

const itemAwaited = (item: Item, value: Promise<unknown>, index: number, running: Running, list: Path, path: Path) =>
  value.then(
    (came) => itemCompleted(item, came, index, running, list, path),
    (error: unknown) => itemNulled(item, error, index, running, list),
  );

function itemCompleted(item: Item, value: unknown, index: number, running: Running, list: Path, path: Path): unknown {
  try {
    const shown = item.complete(value, running, path);
    return isPromise(shown) ? itemGuarded(item, shown, index, running, list) : shown;
  } catch (error) {
    return itemNulled(item, error, index, running, list);
  }
}

const itemGuarded = (item: Item, shown: Promise<unknown>, index: number, running: Running, list: Path) =>
  shown.then(undefined, (error: unknown) => itemNulled(item, error, index, running, list));

const itemNulled = ({ plan, isNonNull }: Item, error: unknown, index: number, running: Running, list: Path): null =>
  nulled(plan, isNonNull, error, running, addPath(list, index, undefined));

/** An object of the one type that it can be, or of the one that it says it is. */
function objectOf(schema: GraphQLSchema, { below, field }: FieldPlan): Complete {
  const selections = new Map([...below].map(([name, each]) => [name, selection(schema, each)]));
  const [only] = selections.values();
  const abstract = abstractIn(field.type);
  if (!abstract && only) return (value, running, path) => only(value as Source, running, path);
  const info = outside(schema);
  return (value, running, path) => {
    const name = abstract?.resolveType
      ? abstract.resolveType(value, running.context, info, abstract)
      : (value as { __typename?: string }).__typename;
    const select = typeof name === 'string' ? selections.get(name) : undefined;
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

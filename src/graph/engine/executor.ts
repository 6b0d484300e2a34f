/**
 * Executes the plan of an operation as graphql-js would, with everything that the plan knows computed beforehand.
 *
 * Only incremental delivery is executed by @graphql-tools/executor. Here a value at hand costs no promise, and a field that succeeds
 * allocates nothing but its value.
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
} from 'graphql';
import { type Path, addPath } from 'graphql/jsutils/Path.js';
import { isPromise } from '../../lib/promises.ts';
import { plainlyOf } from './arguments.ts';
import type { Context } from './builder.ts';
import type { Variables } from './document.ts';
import {
  type Complete,
  type Execution,
  type Position,
  type FieldSlot,
  type Source,
  awaitValue,
  nullWithError,
  resultOf,
} from './execution.ts';
import { type OperationPlan, type PlannedField, type SelectionPlan, responseKeyOf } from './operation-plan.ts';
import { fieldResolversOf, infoOf } from './attach-resolvers.ts';
import { PUNCTUATION_BYTES, bytesOf, roomFor } from './response-size.ts';

type Execute = (context: Context, variables: Variables) => ExecutionResult | Promise<ExecutionResult>;

/** Executes the selection on an object. */
type Select = (source: Source, execution: Execution, path: Path | undefined) => Source;

/** One field of an object in the response. */
interface Step extends FieldSlot {
  key: string;
  parent: string;
  resolve: (source: Source, execution: Execution, path: Path | undefined) => unknown;
  /** A leaf without an engine resolver needs its path only if it fails or is pending. */
  isLeaf: boolean;
}

export function createExecutor(schema: GraphQLSchema, { root }: OperationPlan): Execute {
  if (root.type !== schema.getQueryType()) return serialExecutor(schema, root);
  const select = selectOf(schema, root, undefined);
  return (context, variables) => {
    const execution = newExecution(context, variables);
    try {
      execution.data = select({}, execution, undefined);
    } catch (error) {
      execution.errors.push(error as GraphQLError);
    }
    return execution.pending === 0 ? resultOf(execution) : whenFinished(execution);
  };
}

/** Executes one root field after the other: none after an error that makes the data null, with `onError: HALT` none after any error. */
function serialExecutor(schema: GraphQLSchema, { outputFields, type }: SelectionPlan): Execute {
  const steps = outputFields.map((each) => (typeof each === 'string' ? each : stepOf(schema, each, undefined)));
  const hasProtoKey = steps.some((step) => keyOf(step) === '__proto__');
  return async (context, variables) => {
    const execution = newExecution(context, variables);
    const data = newObject(hasProtoKey);
    execution.data = data;
    try {
      for (const step of steps) {
        if (typeof step === 'string') data[step] = type.name;
        else data[step.key] = execute(step, {}, execution, undefined, data);
        if (execution.pending > 0) await whenFinished(execution);
        if (execution.data === null) break;
        if (context.onError === 'HALT' && execution.errors.length > 0) break;
      }
    } catch (error) {
      execution.errors.push(error as GraphQLError);
      execution.data = null;
    }
    return resultOf(execution);
  };
}

/** One literal: V8 gives each object made by a spread a hidden class of its own. */
const newExecution = (context: Context, variables: Variables): Execution => ({
  context,
  variables,
  data: null,
  errors: [],
  room: roomFor(context.responseLimits),
  pending: 0,
  finish: undefined,
});

// Keep closures out of hot functions: V8 allocates a context on entry to any function that contains one, even if it is never created.

const whenFinished = (execution: Execution): Promise<ExecutionResult> =>
  new Promise((resolve) => (execution.finish = resolve));

function selectOf(schema: GraphQLSchema, { outputFields, type }: SelectionPlan, parent: Position | undefined): Select {
  const steps = outputFields.map((each) => (typeof each === 'string' ? each : stepOf(schema, each, parent)));
  const keys = steps.map(keyOf);
  const hasProtoKey = keys.includes('__proto__');
  const bytes = keys.reduce((sum, key) => sum + PUNCTUATION_BYTES + key.length, 0);
  return (source, execution, path) => {
    const object = newObject(hasProtoKey);
    const { room } = execution;
    room.values -= steps.length;
    room.bytes -= bytes;
    // An index, because an iterator would allocate for each step.
    for (let at = 0; at < steps.length && room.bytes >= 0 && room.values >= 0; at++) {
      const step = steps[at]!;
      if (typeof step === 'string') object[step] = type.name;
      else object[step.key] = execute(step, source, execution, path, object);
    }
    return object;
  };
}

const keyOf = (step: Step | string): string => (typeof step === 'string' ? step : step.key);

/** Objects without a prototype are slow, but in others the key `__proto__` would set the prototype. */
const newObject = (hasProtoKey: boolean): Source => (hasProtoKey ? (Object.create(null) as Source) : {});

function execute(step: Step, source: Source, execution: Execution, path: Path | undefined, object: Source): unknown {
  const here = step.isLeaf ? undefined : addPath(path, step.key, step.parent);
  try {
    const value = step.resolve(source, execution, here);
    if (step.isComplete(value)) {
      if (typeof value === 'string') execution.room.bytes -= bytesOf(value);
      return value;
    }
    return isPromise(value)
      ? awaitValue(step, value, execution, object, here ?? addPath(path, step.key, step.parent))
      : step.complete(value, execution, here!);
  } catch (error) {
    return nullWithError(step.position, error, execution, here ?? addPath(path, step.key, step.parent));
  }
}

function stepOf(schema: GraphQLSchema, plan: PlannedField, parent: Position | undefined): Step {
  const { field } = plan;
  const position: Position = { plan, isNonNull: isNonNullType(field.type), parent };
  return {
    key: responseKeyOf(plan),
    parent: plan.parent,
    position,
    resolve: resolveOf(schema, plan),
    complete: completeOf(schema, position, field.type),
    isComplete: plainlyOf(field.type),
    isLeaf: isPlainLeaf(field.type) && !fieldResolversOf(field).engine,
  };
}

function resolveOf(schema: GraphQLSchema, plan: PlannedField): Step['resolve'] {
  const { field, args } = plan;
  const { engine, plain } = fieldResolversOf(field);
  if (engine)
    return (source, { context, variables }, path) =>
      engine(source, { plan, args: args(variables), context, path: path!, variables });
  if (!plain) return (source) => source[field.name];
  const info = infoOf(schema);
  if (plan.parent !== schema.getMutationType()?.name)
    return (source, { context, variables }) => plain(source, args(variables), context, info);
  // A write is logged with its path.
  return (source, { context, variables }, path) => plain(source, args(variables), context, { ...info, path: path! });
}

const isPlainLeaf = (type: GraphQLOutputType): boolean => isLeafType(isNonNullType(type) ? type.ofType : type);

function completeOf(schema: GraphQLSchema, position: Position, type: GraphQLOutputType): Complete {
  if (isNonNullType(type)) {
    const { field, parent } = position.plan;
    const inner = completeOf(schema, position, type.ofType);
    return (value, execution, path) => {
      const completed = inner(value, execution, path);
      if (completed !== null) return completed;
      throw new Error(`Cannot return null for non-nullable field ${parent}.${field.name}.`);
    };
  }
  const complete = isListType(type)
    ? completeList(schema, position, type.ofType)
    : isLeafType(type)
      ? completeLeaf(type)
      : completeObject(schema, position);
  return (value, execution, path) => {
    if (value instanceof Error) throw value;
    return value === null || value === undefined ? null : complete(value, execution, path);
  };
}

function completeLeaf(type: GraphQLLeafType): Complete {
  return (value, { room }) => {
    const serialized = type.serialize(value);
    if (typeof serialized === 'string') room.bytes -= bytesOf(serialized);
    if (serialized !== null && serialized !== undefined) return serialized;
    throw new Error(`Expected \`${type.name}.serialize(${String(value)})\` to return non-nullable value.`);
  };
}

function completeList(schema: GraphQLSchema, list: Position, type: GraphQLOutputType): Complete {
  const { field, parent } = list.plan;
  const position: Position = { plan: list.plan, isNonNull: isNonNullType(type), parent: list };
  const slot: FieldSlot = { position, complete: completeOf(schema, position, type), isComplete: plainlyOf(type) };
  return (value, execution, path) => {
    if (!isIterable(value))
      throw new GraphQLError(`Expected Iterable, but did not find one for field "${parent}.${field.name}".`);
    const given: readonly unknown[] = Array.isArray(value) ? value : [...value];
    const items = new Array<unknown>(given.length).fill(null);
    for (let at = 0; at < given.length; at++) items[at] = completeItem(slot, given[at], at, execution, path, items);
    return items;
  };
}

function completeItem(
  slot: FieldSlot,
  value: unknown,
  at: number,
  execution: Execution,
  list: Path,
  items: unknown[],
): unknown {
  if (slot.isComplete(value)) {
    execution.room.bytes -= typeof value === 'string' ? bytesOf(value) : PUNCTUATION_BYTES;
    return value;
  }
  const path = addPath(list, at, undefined);
  try {
    return isPromise(value) ? awaitValue(slot, value, execution, items, path) : slot.complete(value, execution, path);
  } catch (error) {
    return nullWithError(slot.position, error, execution, path);
  }
}

function completeObject(schema: GraphQLSchema, position: Position): Complete {
  const { selections, field } = position.plan;
  const selects = new Map([...selections].map(([name, each]) => [name, selectOf(schema, each, position)]));
  const [only] = selects.values();
  const abstract = abstractIn(field.type);
  if (!abstract && only) return (value, execution, path) => only(value as Source, execution, path);
  const info = infoOf(schema);
  return (value, execution, path) => {
    const name = abstract?.resolveType
      ? abstract.resolveType(value, execution.context, info, abstract)
      : (value as { __typename?: string }).__typename;
    const select = typeof name === 'string' ? selects.get(name) : undefined;
    if (select) return select(value as Source, execution, path);
    throw new GraphQLError(`The concrete type of this ${abstract?.name} is unknown.`);
  };
}

function abstractIn(type: GraphQLOutputType) {
  let named = type;
  while (isListType(named) || isNonNullType(named)) named = named.ofType as GraphQLOutputType;
  return isAbstractType(named) ? named : undefined;
}

const isIterable = (value: unknown): value is Iterable<unknown> =>
  Array.isArray(value) || (typeof value === 'object' && value !== null && Symbol.iterator in value);

/**
 * Executes the plan of an operation as graphql-js would, with everything that the plan knows computed beforehand: a value at hand costs no
 * promise, and a field that succeeds allocates nothing but its value.
 */
import {
  type ExecutionResult,
  GraphQLError,
  type GraphQLLeafType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNullableType,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
} from 'graphql';
import { type Path, addPath } from 'graphql/jsutils/Path.js';
import { isPromise, withValue } from '../../lib/promises.ts';
import { isText, plainlyOf } from '../plan/arguments.ts';
import type { Context } from '../context.ts';
import { type Variables, isStreamed } from '../plan/document.ts';
import {
  PUNCTUATION_BYTES,
  type Complete,
  type Execution,
  type FieldSlot,
  type Position,
  type Select,
  type Source,
  awaitValue,
  bytesOf,
  isIterable,
  newExecution,
  nullWithError,
  resultOf,
  runSelection,
  whenFinished,
} from './execution.ts';
import { mayComeWithItem } from './inline-fragment.ts';
import { type Delivery, deferFragment, deliver, partsOf, streamed } from './incremental.ts';
import { PartlyLoaded } from './load-record.ts';
import type { FieldRule } from '../plan/declaration-types.ts';
import { type OperationPlan, type PlannedField, type SelectionPlan, responseKeyOf } from '../plan/operation-plan.ts';
import { type EngineResolver, type Resolver, engineResolverOf, infoOf } from './resolve.ts';

/** A result; the deliveries of one that has deferred parts. */
export type Executed = ExecutionResult | AsyncIterable<Delivery>;

/** One field of an object in the response. */
interface Step extends FieldSlot {
  key: string;
  parent: string;
  resolve: (source: Source, execution: Execution, path: Path | undefined) => unknown;
  /** A leaf without an engine resolver needs its path only if it fails or is pending. */
  isLeaf: boolean;
}

export function createExecutor(
  schema: GraphQLSchema,
  { root, defers }: OperationPlan,
): (context: Context, variables: Variables) => Executed | Promise<Executed> {
  const isQuery = root.type === schema.getQueryType();
  const select = isQuery ? selectOf(schema, root, undefined) : undefined;
  const run = select ? (execution: Execution) => runSelection(select, {}, execution) : serialRunner(schema, root);
  if (!defers) return (context, variables) => run(newExecution(context, variables, undefined));
  return (context, variables) => {
    const execution = newExecution(context, variables, undefined);
    return withValue(run(execution), (result) => {
      const parts = partsOf(execution);
      return parts.length > 0 ? deliver(result as ExecutionResult, parts, execution.headroom) : result;
    }) as Executed | Promise<Executed>;
  };
}

/** Executes one root field after the other: none after an error that makes the data null, with `onError: HALT` none after any error. */
function serialRunner(
  schema: GraphQLSchema,
  { outputFields, type }: SelectionPlan,
): (execution: Execution) => Promise<ExecutionResult> {
  const steps = outputFields.map((each) => (typeof each === 'string' ? each : stepOf(schema, each, undefined)));
  return async (execution) => {
    const data = bareObject();
    execution.data = data;
    try {
      for (const step of steps) {
        if (typeof step === 'string') data[step] = type.name;
        else data[step.key] = execute(step, {}, execution, undefined, data);
        if (execution.pending > 0) await whenFinished(execution);
        if (execution.data === null) break;
        if (execution.context.onError === 'HALT' && execution.errors.length > 0) break;
      }
    } catch (error) {
      execution.errors.push(error as GraphQLError);
      execution.data = null;
    }
    return resultOf(execution);
  };
}

// Keep closures out of hot functions: V8 allocates a context on entry to any function that contains one, even if it is never created.

function selectOf(schema: GraphQLSchema, plan: SelectionPlan, parent: Position | undefined): Select {
  const select = selectFields(schema, plan, parent);
  if (plan.deferred.length === 0) return select;
  // An error in a deferred fragment nulls the fragment at most.
  const fragments = plan.deferred.map((each) => ({
    ...each,
    select: selectFields(schema, each, undefined),
    inline: mayComeWithItem(schema, each, plan, parent?.plan.mode) ? selectFields(schema, each, parent) : undefined,
  }));
  return (source: Source | PartlyLoaded, execution, path) => {
    const object = select(source instanceof PartlyLoaded ? source.record : source, execution, path);
    for (const fragment of fragments) deferFragment(object, source, fragment, execution, path);
    return object;
  };
}

function selectFields(
  schema: GraphQLSchema,
  { outputFields, type }: SelectionPlan,
  parent: Position | undefined,
): Select {
  const steps = outputFields.map((each) => (typeof each === 'string' ? each : stepOf(schema, each, parent)));
  const keys = steps.map(keyOf);
  const hasProtoKey = keys.includes('__proto__');
  const bytes = keys.reduce((sum, key) => sum + PUNCTUATION_BYTES + key.length, 0);
  return (source, execution, path) => {
    const object: Source = hasProtoKey ? bareObject() : {};
    const { headroom } = execution;
    headroom.values -= steps.length;
    headroom.bytes -= bytes;
    // An index, because an iterator would allocate for each step.
    for (let at = 0; at < steps.length && headroom.bytes >= 0 && headroom.values >= 0; at++) {
      const step = steps[at]!;
      if (typeof step === 'string') object[step] = type.name;
      else object[step.key] = execute(step, source, execution, path, object);
    }
    return object;
  };
}

/** Objects without a prototype are slow, but in others the key `__proto__` would set the prototype. */
const bareObject = (): Source => Object.create(null) as Source;

const keyOf = (step: Step | string): string => (typeof step === 'string' ? step : step.key);

function execute(step: Step, source: Source, execution: Execution, path: Path | undefined, object: Source): unknown {
  const here = step.isLeaf ? undefined : addPath(path, step.key, step.parent);
  try {
    const value = step.resolve(source, execution, here);
    // Most values are texts: no call for each.
    if (step.isComplete === isText ? typeof value === 'string' : step.isComplete?.(value)) {
      if (typeof value === 'string') execution.headroom.bytes -= bytesOf(value);
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
  const engine = engineResolverOf(schema)(field);
  return {
    key: responseKeyOf(plan),
    parent: plan.parent,
    position,
    resolve: onceNamed(plan.rule, resolveOf(schema, plan, engine)),
    complete: completeOf(schema, position, field.type),
    isComplete: plainlyOf(field.type),
    isLeaf: isLeafType(getNullableType(field.type)) && !engine,
  };
}

/** While nothing has named the caller, what depends on that waits for the other values: all objects of a response then show the same. */
function onceNamed({ viewerOnly }: FieldRule, resolve: Step['resolve']): Step['resolve'] {
  if (viewerOnly !== 'named') return resolve;
  return (source, execution, path) => {
    const { isLoggedIn, person } = execution.context.viewer;
    if (person || !isLoggedIn) return resolve(source, execution, path);
    return new Promise<void>((end) => execution.late.push(end)).then(() => resolve(source, execution, path));
  };
}

const noArguments: object = Object.freeze({});
function resolveOf(schema: GraphQLSchema, plan: PlannedField, engine: EngineResolver | undefined): Step['resolve'] {
  const { field, args } = plan;
  if (engine)
    return (source, { context, variables }, path) =>
      engine(source, { plan, args: args(variables), context, path: path!, variables });
  const plain = field.resolve as Resolver | undefined;
  if (!plain) return (source) => source[field.name];
  const info = infoOf(schema);
  if (field.args.length === 0) return (source, { context }) => plain(source, noArguments, context, info);
  if (plan.parent !== schema.getMutationType()?.name)
    return (source, { context, variables }) => plain(source, args(variables), context, info);
  // A write is logged with its path.
  return (source, { context, variables }, path) => plain(source, args(variables), context, { ...info, path: path! });
}

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
  return (value, { headroom }) => {
    const serialized = type.serialize(value);
    if (typeof serialized === 'string') headroom.bytes -= bytesOf(serialized);
    if (serialized !== null && serialized !== undefined) return serialized;
    throw new Error(`Expected \`${type.name}.serialize(${String(value)})\` to return non-nullable value.`);
  };
}

function completeList(schema: GraphQLSchema, list: Position, type: GraphQLOutputType): Complete {
  const { field, parent } = list.plan;
  const position: Position = { plan: list.plan, isNonNull: isNonNullType(type), parent: list };
  const slot: FieldSlot = { position, complete: completeOf(schema, position, type), isComplete: plainlyOf(type) };
  const complete: Complete = (value, execution, path) => {
    if (!isIterable(value))
      throw new GraphQLError(`Expected Iterable, but did not find one for field "${parent}.${field.name}".`);
    const given: readonly unknown[] = Array.isArray(value) ? value : [...value];
    const items = new Array<unknown>(given.length).fill(null);
    for (let at = 0; at < given.length; at++) items[at] = completeItem(slot, given[at], at, execution, path, items);
    return items;
  };
  const [node] = list.plan.nodes;
  const isInner = list.parent?.plan === list.plan;
  if (isInner || !isStreamed(node!)) return complete;
  // An error in an item that comes later ends the list, and does not null it.
  const later: FieldSlot = { ...slot, position: { ...position, parent: undefined } };
  return streamed(node!, complete, (...item) => completeItem(later, ...item));
}

function completeItem(
  slot: FieldSlot,
  value: unknown,
  at: number,
  execution: Execution,
  list: Path,
  items: object,
): unknown {
  if (slot.isComplete?.(value)) {
    execution.headroom.bytes -= typeof value === 'string' ? bytesOf(value) : PUNCTUATION_BYTES;
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
  if (!abstract && only) return only as Complete;
  const info = infoOf(schema);
  return (value, execution, path) => {
    const record = value instanceof PartlyLoaded ? value.record : value;
    const name = abstract?.resolveType
      ? abstract.resolveType(record, execution.context, info, abstract)
      : (record as { __typename?: string }).__typename;
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

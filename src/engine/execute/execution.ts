/**
 * The state of one execution, of an operation or of a deferred part: its data, its errors, the values that are still pending, and the size
 * of the response, which is counted while it is built, so that one that is too large is not built completely.
 */
import { type ExecutionResult, GraphQLError, locatedError } from 'graphql';
import { type Path, pathToArray } from 'graphql/jsutils/Path.js';
import { withoutStack } from '../../upstream/errors.ts';
import type { Context, ResponseLimits } from '../context.ts';
import type { ClientCode } from '../errors/codes.ts';
import type { Variables } from '../plan/document.ts';
import type { PlannedField } from '../plan/operation-plan.ts';

export type Source = Record<string, unknown>;

/** What may still be added to a response; negative if it is too large. */
export interface ResponseHeadroom {
  values: number;
  bytes: number;
  readonly limits: ResponseLimits;
}

export interface Execution {
  context: Context;
  variables: Variables;
  /** The path of the data; undefined for that of the operation. */
  base: Path | undefined;
  data: unknown;
  errors: GraphQLError[];
  /** What the response may still hold. When it is full, nothing more is resolved. */
  headroom: ResponseHeadroom;
  /** The number of pending values, including those whose parent is null by now. */
  pending: number;
  /** Those of them that wait until nothing else is pending: by then responses may have named the caller. */
  late: (() => void)[];
  /** Called with the result when the last pending value has arrived. */
  finish: ((result: ExecutionResult) => void) | undefined;
  /** The deferred parts of its objects and lists. */
  parts: Map<object, Part[]> | undefined;
}

/** A deferred fragment of an object, or the rest of a streamed list. */
export interface Part {
  readonly label: string | undefined;
  /** The path of its object or list. */
  readonly path: readonly (string | number)[];
  /** Runs it. It reports one result if it is a fragment, and one for each item if it is a list. */
  readonly run: (report: (result: IncrementalResult) => void) => Promise<void>;
}

/** What a part adds to the response. */
export interface IncrementalResult {
  part: Part;
  /** The fields of a deferred fragment; null if it failed. */
  data?: unknown;
  /** Items of a streamed list; null if the list failed. */
  items?: readonly unknown[] | null;
  /** The index of the first item. */
  index?: number;
  errors: readonly GraphQLError[] | undefined;
  /** The parts in it. */
  parts: readonly Part[];
  isLast: boolean;
}

/** Executes the selection on an object. */
export type Select = (source: Source, execution: Execution, path: Path | undefined) => Source;

/** Turns a resolved value into response data, with null for parts that are pending. Throws if that is not possible. */
export type Complete = (value: unknown, execution: Execution, path: Path) => unknown;

/** A position in the response: a field, or the items of a list. */
export interface Position {
  plan: PlannedField;
  isNonNull: boolean;
  /** The position that becomes null with it if it is non-null; undefined for root fields. */
  parent: Position | undefined;
}

/** What happens to a value at a position. */
export interface FieldSlot {
  position: Position;
  complete: Complete;
  /** Whether a value needs no completion; undefined if each does. */
  isComplete: ((value: unknown) => boolean) | undefined;
}

const noLimits: ResponseLimits = { maxValues: Infinity, maxResponseBytes: Infinity };

/** One literal: V8 gives each object made by a spread a hidden class of its own. */
export function newExecution(
  context: Context,
  variables: Variables,
  base: Path | undefined,
  given?: ResponseHeadroom,
): Execution {
  const limits = context.responseLimits ?? noLimits;
  const headroom = given ?? { values: limits.maxValues, bytes: limits.maxResponseBytes, limits };
  return {
    context,
    variables,
    base,
    data: null,
    errors: [],
    headroom,
    pending: 0,
    late: [],
    finish: undefined,
    parts: undefined,
  };
}

/** Executes the selection as the data of an execution. */
export function runSelection(
  select: Select,
  source: Source,
  execution: Execution,
): ExecutionResult | Promise<ExecutionResult> {
  try {
    execution.data = select(source, execution, execution.base);
  } catch (error) {
    execution.errors.push(error as GraphQLError);
  }
  return execution.pending === 0 ? resultOf(execution) : whenFinished(execution);
}

export const whenFinished = (execution: Execution): Promise<ExecutionResult> =>
  new Promise((resolve) => {
    execution.finish = resolve;
    goOn(execution);
  });

export function resultOf({ data, errors, headroom }: Execution): ExecutionResult {
  if (isFull(headroom)) return { errors: [responseTooLarge(headroom)], data: null };
  return errors.length ? { errors, data: data as Source | null } : { data: data as Source };
}

/** Puts null at the position until the value arrives. A promise for each enclosing object would cost more than the value. */
export function awaitValue(
  slot: FieldSlot,
  value: Promise<unknown>,
  execution: Execution,
  holder: object,
  path: Path,
): null {
  execution.pending++;
  value.then(
    (resolved) => onResolved(slot, resolved, execution, holder, path),
    (error: unknown) => onRejected(slot.position, error, execution, path),
  );
  return null;
}

function onResolved(
  { position, complete }: FieldSlot,
  value: unknown,
  execution: Execution,
  holder: object,
  path: Path,
) {
  try {
    (holder as Source)[path.key] = complete(value, execution, path);
  } catch (error) {
    return onRejected(position, error, execution, path);
  }
  settle(execution);
}

/** Nulls the nearest nullable position and reports the error, unless an earlier error has nulled an enclosing position. */
function onRejected(position: Position, error: unknown, execution: Execution, path: Path): void {
  let failed: Position | undefined = position;
  let at: Path | undefined = path;
  if (!nullsInPlace(execution)) for (; failed?.isNonNull; failed = failed.parent) at = at?.prev;
  const isWhole = at === execution.base;
  const holder = isWhole ? execution.data : valueAt(execution, at!.prev);
  execution.headroom.bytes -= ERROR_BYTES;
  if (holder) {
    execution.errors.push(located(position, error, path));
    if (isWhole) execution.data = null;
    else (holder as Source)[at!.key] = null;
  }
  settle(execution);
}

/** The data at a path; null or undefined if it, or an enclosing value, is null. */
function valueAt(execution: Execution, path: Path | undefined): Source | null | undefined {
  if (path === execution.base) return execution.data as Source | null;
  return valueAt(execution, path!.prev)?.[path!.key] as Source | null | undefined;
}

function settle(execution: Execution): void {
  execution.pending--;
  goOn(execution);
}

/** Ends what is late when nothing else is pending, then the execution. */
function goOn(execution: Execution): void {
  const { late, pending, context } = execution;
  if (pending > late.length) return;
  if (pending === 0) return execution.finish!(resultOf(execution));
  execution.late = [];
  // A deferred part agrees with what was delivered before it.
  if (!context.plan.defers) context.upstream.learnPerson();
  for (const end of late) end();
}

/** Null with an error; throws if the position is non-null, so that the enclosing one becomes null. */
export function nullWithError(position: Position, error: unknown, execution: Execution, path: Path): null {
  const failure = located(position, error, path);
  if (position.isNonNull && !nullsInPlace(execution)) throw failure;
  execution.headroom.bytes -= ERROR_BYTES;
  execution.errors.push(failure);
  return null;
}

const nullsInPlace = ({ context }: Execution): boolean => context.onError === 'NULL';

/** Only the stack of the original error is of use. */
const located = ({ plan: { nodes } }: Position, error: unknown, path: Path): GraphQLError =>
  withoutStack(() => locatedError(error, nodes, pathToArray(path)));

export const isIterable = (value: unknown): value is Iterable<unknown> =>
  Array.isArray(value) || (typeof value === 'object' && value !== null && Symbol.iterator in value);

export const isFull = ({ values, bytes }: ResponseHeadroom): boolean => values < 0 || bytes < 0;

/** Shorter texts count one byte per character: measuring them would take longer than sending them. */
const SHORT = 100;
/** Quotes or brackets, and a comma. */
export const PUNCTUATION_BYTES = 3;
/** An error with its path, message and code. More than its text, because it takes longer to build. */
export const ERROR_BYTES = 1_000;

/** Characters that JSON writes as six bytes. Line breaks and quotes take two, which need not be counted. */
const ESCAPED = /[\0-\x07\v\x0e-\x1f]/;

export const bytesOf = (text: string): number =>
  PUNCTUATION_BYTES +
  (text.length < SHORT ? text.length : Buffer.byteLength(ESCAPED.test(text) ? JSON.stringify(text) : text));

/** The error for a response that is too large: TOO_MANY_VALUES or ANSWER_TOO_LARGE. */
export function responseTooLarge({ values, limits }: ResponseHeadroom): GraphQLError {
  const isTooMany = values < 0;
  const code: ClientCode = isTooMany ? 'TOO_MANY_VALUES' : 'ANSWER_TOO_LARGE';
  const limit = isTooMany ? limits.maxValues : limits.maxResponseBytes;
  const message = `The response has more than ${limit} ${isTooMany ? 'values' : 'bytes'}.`;
  return new GraphQLError(message, { extensions: { code, limit } });
}

/**
 * Incremental delivery. The executor notes each deferred part while it completes an object or a list; when the data around them is whole,
 * the parts whose object no error has nulled are announced and run, each as an execution of its own.
 */
import { type ExecutionResult, type FieldNode, type GraphQLError, locatedError } from 'graphql';
import { type Path, pathToArray } from 'graphql/jsutils/Path.js';
import { isPromise } from '../../lib/promises.ts';
import { streamOf } from '../plan/document.ts';
import {
  type Complete,
  type Execution,
  type IncrementalResult,
  type Part,
  type ResponseHeadroom,
  type Select,
  type Source,
  isFull,
  isIterable,
  newExecution,
  responseTooLarge,
  runSelection,
} from './execution.ts';
import { PartlyLoaded } from './load-record.ts';

/** What is sent at once: the initial result, or incremental results. */
export interface Delivery {
  initial?: ExecutionResult;
  results: readonly IncrementalResult[];
  /** Parts that the client has to expect from now on. */
  announced: readonly Part[];
  /** Set if the response ends here because it is too large. */
  tooLarge?: GraphQLError;
  hasNext: boolean;
}

/** The deferred parts of an execution that has ended, in the order of the document. Data that an error has nulled has no parts. */
export function partsOf({ data, parts }: Execution): Part[] {
  const found: Part[] = [];
  if (parts) collect(data);
  return found;

  function collect(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    found.push(...(parts!.get(value) ?? []));
    for (const each of Object.values(value) as unknown[]) collect(each);
  }
}

/** The initial result, then the incremental results as they are ready. */
export async function* deliver(
  initial: ExecutionResult,
  parts: readonly Part[],
  headroom: ResponseHeadroom,
): AsyncGenerator<Delivery> {
  let ready: IncrementalResult[] = [];
  let wake: (() => void) | undefined;
  const report = (result: IncrementalResult) => {
    ready.push(result);
    wake?.();
  };
  let announced = parts;
  let open = parts.length;
  yield { initial, results: [], announced, hasNext: true };
  while (open > 0) {
    for (const part of announced) void part.run(report);
    if (ready.length === 0) await new Promise<void>((resolve) => (wake = resolve));
    const results = ready;
    ready = [];
    announced = results.flatMap((result) => result.parts);
    open += announced.length - results.filter(({ isLast }) => isLast).length;
    if (isFull(headroom)) {
      yield { results: [], announced: [], tooLarge: responseTooLarge(headroom), hasNext: false };
      return;
    }
    yield { results, announced, hasNext: open > 0 };
  }
}

interface Fragment {
  label: string | undefined;
  /** The members that it reads of the record. */
  members: readonly string[];
  select: Select;
  /** Selects it as a part of its object; undefined if more than members may be needed. */
  inline: Select | undefined;
}

/** Notes the deferred fragment of an object. One whose members are known comes with the object: to deliver it later would gain nothing. */
export function deferFragment(
  object: object,
  source: Source | PartlyLoaded,
  { label, members, select, inline }: Fragment,
  execution: Execution,
  path: Path | undefined,
): void {
  const known = source instanceof PartlyLoaded ? source.record : source;
  if (inline && members.every((member) => member in known)) {
    Object.assign(object, inline(known, execution, path));
    return;
  }
  const part: Part = {
    label,
    path: pathToArray(path),
    run: async (report) => {
      const own = newExecution(execution.context, execution.variables, path, execution.headroom);
      let result: ExecutionResult;
      try {
        const record = source instanceof PartlyLoaded ? await source.loadedWith(members) : source;
        result = await runSelection(select, record, own);
      } catch (error) {
        result = { data: null, errors: [locatedError(error, undefined, pathToArray(path))] };
      }
      const { data, errors } = result;
      mergeInto(object, data);
      report({ part, data, errors, parts: partsOf(own), isLast: true });
    },
  };
  note(execution, object, part);
}

/**
 * Adds the fields of a part to its object as delivered. What an error has nulled there leaves the part: a part that needs less of it may have
 * got it, and the client would merge that into an object without the other fields.
 */
function mergeInto(delivered: unknown, part: unknown): void {
  if (!isObject(part) || !isObject(delivered)) return;
  for (const name in part) {
    if (!(name in delivered)) delivered[name] = part[name];
    else if (delivered[name] === null) delete part[name];
    else mergeInto(delivered[name], part[name]);
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Completes one item of a list, into a holder by its index. */
type CompleteItem = (item: unknown, at: number, execution: Execution, list: Path, holder: Source) => unknown;

/** Completes the first items of a list, and notes the others. They run at once and are delivered in their order. */
export function streamed(node: FieldNode, complete: Complete, completeItem: CompleteItem): Complete {
  return (value, execution, path) => {
    const stream = streamOf(node, execution.variables);
    if (!stream || !isIterable(value)) return complete(value, execution, path);
    const given = [...value];
    const rest = given.slice(stream.initialCount);
    const items = complete(given.slice(0, stream.initialCount), execution, path) as object;
    if (rest.length > 0) note(execution, items, restOfList(stream, rest, completeItem, execution, path));
    return items;
  };
}

function restOfList(
  { label, initialCount }: { label: string | undefined; initialCount: number },
  items: readonly unknown[],
  completeItem: CompleteItem,
  { context, variables, headroom }: Execution,
  path: Path,
): Part {
  for (const item of items) if (isPromise(item)) item.catch(() => undefined); // the error is reported when the part is run
  const selectItem =
    (item: unknown, index: number): Select =>
    (holder, execution) => {
      holder[index] = completeItem(item, index, execution, path, holder);
      return holder;
    };
  const part: Part = {
    label,
    path: pathToArray(path),
    run: async (report) => {
      const executions = items.map(() => newExecution(context, variables, path, headroom));
      const results = items.map((item, at) => runSelection(selectItem(item, initialCount + at), {}, executions[at]!));
      for (const [at, result] of results.entries()) {
        const { data, errors } = isPromise(result) ? await result : result;
        const parts = partsOf(executions[at]!);
        const index = initialCount + at;
        const isLast = !data || at === results.length - 1;
        report({ part, items: data ? Object.values(data) : null, index, errors, parts, isLast });
        if (!data) return;
      }
    },
  };
  return part;
}

function note(execution: Execution, holder: object, part: Part): void {
  const parts = (execution.parts ??= new Map<object, Part[]>());
  const known = parts.get(holder);
  if (known) known.push(part);
  else parts.set(holder, [part]);
}

/**
 * Incremental delivery: which parts of a response may still be sent, and in which format. In the current one, `incrementalSpec=v0.2`, each
 * part is announced with the data around it, and named by an id from then on. The executor has the format before it, in which a part has
 * its path.
 */
import { type ExecutionResult, type GraphQLError, getDirectiveValues } from 'graphql';
import type { Variables } from '../../graph/engine/document.ts';
import { streamDirective } from '../../graph/engine/incremental.ts';
import { type PlannedField, type SelectionPlan, responseKeyOf } from '../../graph/engine/operation-plan.ts';

type PathKey = string | number;

export interface IncrementalResult extends ExecutionResult {
  hasNext?: boolean;
  incremental?: readonly Patch[];
}

/** Fields of an object (`data`) or items of a list (`items`), to be added at a path. */
interface Patch {
  path?: readonly PathKey[];
  label?: string;
  data?: unknown;
  items?: readonly unknown[] | null;
  errors?: readonly GraphQLError[];
}

/**
 * Leaves out patches whose position is not in what was sent before. The executor still produces them if an error nulls an object while
 * its parts are loaded; the specification forbids to send them, and a client cannot merge them.
 */
export async function* mergeableOnly(results: AsyncIterable<IncrementalResult>): AsyncGenerator<IncrementalResult> {
  const sent = new SentData();
  for await (const result of results) {
    if (!result.incremental) {
      if (result.data !== undefined) sent.add([], result.data);
      yield result;
      continue;
    }
    const incremental = result.incremental.filter((patch) => sent.addPatch(patch));
    if (incremental.length > 0) yield { ...result, incremental };
    else if (!result.hasNext) yield { hasNext: false };
  }
}

/** The data of one response that was sent so far. */
class SentData {
  /** By the path where they were added. */
  private readonly parts = new Map<string, unknown[]>();

  add(path: readonly PathKey[], data: unknown): void {
    const key = path.join('.');
    const parts = this.parts.get(key);
    if (parts) parts.push(data);
    else this.parts.set(key, [data]);
  }

  /** False if the client has nothing to which the patch could be added. */
  addPatch({ path = [], data, items }: Patch): boolean {
    const isOfList = items !== undefined;
    if (!this.has(isOfList ? path.slice(0, -1) : path)) return false;
    if (!isOfList) this.add(path, data);
    else items?.forEach((item, at) => this.add([...path.slice(0, -1), Number(path.at(-1)) + at], item));
    return true;
  }

  /** Whether there is an object or a list at the path, and no part that was sent is null there or above. */
  private has(path: readonly PathKey[]): boolean {
    let isThere = false;
    for (let length = 0; length <= path.length; length++) {
      for (const part of this.parts.get(path.slice(0, length).join('.')) ?? []) {
        if (part === null) continue; // a deferred part that failed; what else was sent of its object stays
        const found = valueAt(part, path.slice(length));
        if (found === null) return false;
        isThere ||= found !== undefined;
      }
    }
    return isThere;
  }
}

function valueAt(data: unknown, path: readonly PathKey[]): unknown {
  let found = data;
  for (const key of path) {
    if (found === null || found === undefined) return found;
    found = (found as Record<PathKey, unknown>)[key];
  }
  return found;
}

interface Pending {
  id: string;
  path: readonly PathKey[];
  label?: string | undefined;
}

/** An announced part that is not complete. */
interface OpenPart extends Pending {
  key: string;
  /** Of a deferred fragment. */
  selection?: SelectionPlan;
  /** Of a streamed list. */
  field?: PlannedField;
}

type Errors = readonly GraphQLError[] | undefined;

interface CurrentResult {
  data?: unknown;
  errors?: Errors;
  extensions?: unknown;
  pending?: readonly Pending[];
  incremental?: readonly { id: string; data?: unknown; items?: readonly unknown[]; errors?: Errors }[];
  completed?: readonly { id: string; errors: Errors }[];
  hasNext?: boolean | undefined;
}

/** The results of one operation that is delivered incrementally, in either format. */
export type ResultParts = AsyncIterable<IncrementalResult | CurrentResult>;

/** `root` is the selection of the initial result. */
export async function* inCurrentFormat(
  results: AsyncIterable<IncrementalResult>,
  root: SelectionPlan,
  variables: Variables,
): AsyncGenerator<CurrentResult> {
  const conversion = new Conversion(variables);
  let first: SelectionPlan | undefined = root;
  for await (const result of results) {
    yield conversion.convert(result, first);
    first = undefined;
  }
}

class Conversion {
  private readonly variables: Variables;
  /** By kind, label and path. Several deferred fragments without a label may have one path. */
  private readonly open = new Map<string, Set<OpenPart>>();
  private count = 0;
  private pending: Pending[] = [];
  private completed: { id: string; errors: Errors }[] = [];

  constructor(variables: Variables) {
    this.variables = variables;
  }

  convert({ incremental = [], hasNext, errors, ...rest }: IncrementalResult, root?: SelectionPlan): CurrentResult {
    this.pending = [];
    this.completed = [];
    if (root && isObject(rest.data)) this.announceIn(root, rest.data, []);
    const parts = incremental.flatMap((patch) => this.convertPatch(patch) ?? []);
    // Only the initial result may have errors of its own.
    if (!hasNext)
      for (const parts of this.open.values())
        for (const { id } of parts) this.completed.push({ id, errors: root ? undefined : errors });
    return {
      ...rest,
      ...(root && errors && { errors }),
      ...(this.pending.length > 0 && { pending: this.pending }),
      ...(parts.length > 0 && { incremental: parts }),
      ...(this.completed.length > 0 && { completed: this.completed }),
      hasNext,
    };
  }

  private convertPatch({ path = [], label, data, items, errors }: Patch) {
    const isStream = items !== undefined;
    const part = this.find(isStream ? path.slice(0, -1) : path, label, isStream, data);
    const { id, selection, field } = part;
    const isFailed = isStream ? items === null : !isObject(data);
    if (isFailed || !isStream) {
      this.open.get(part.key)!.delete(part);
      this.completed.push({ id, errors: isFailed ? errors : undefined });
    }
    if (isFailed) return undefined;
    if (!isStream) {
      if (selection) this.announceIn(selection, data as object, path);
      return { id, data, errors };
    }
    const first = Number(path.at(-1));
    items?.forEach((item, at) => field && this.announceWithin(field, item, [...part.path, first + at]));
    return { id, items: items ?? [], errors };
  }

  /** The announced part; one that was not is announced now. */
  private find(path: readonly PathKey[], label: string | undefined, isStream: boolean, data: unknown): OpenPart {
    const parts = [...(this.open.get(keyOf(path, label, isStream)) ?? [])];
    const fitting = isObject(data) ? parts.find(({ selection }) => selection && hasKeysOf(data, selection)) : undefined;
    return fitting ?? parts[0] ?? this.announce({ path, label }, isStream);
  }

  private announce(part: Omit<OpenPart, 'id' | 'key'>, isStream: boolean): OpenPart {
    const { path, label } = part;
    const key = keyOf(path, label, isStream);
    const id = String(this.count++);
    this.pending.push({ id, path, label });
    const opened = { ...part, key, id };
    const others = this.open.get(key);
    if (others) others.add(opened);
    else this.open.set(key, new Set([opened]));
    return opened;
  }

  /** Announces the deferred fragments and streamed lists of an object and of the objects in it. */
  private announceIn(selection: SelectionPlan, object: object, path: readonly PathKey[]): void {
    for (const part of selection.deferred) this.announce({ path, label: part.label, selection: part }, false);
    for (const field of selection.fields) {
      const key = responseKeyOf(field);
      const value = (object as Record<string, unknown>)[key];
      const at = [...path, key];
      const stream = Array.isArray(value) ? this.streamOf(field) : undefined;
      if (stream) this.announce({ path: at, ...stream, field }, true);
      this.announceWithin(field, value, at);
    }
  }

  private announceWithin(field: PlannedField, value: unknown, path: readonly PathKey[]): void {
    if (Array.isArray(value)) value.forEach((item, at) => this.announceWithin(field, item, [...path, at]));
    else if (isObject(value)) {
      const selection = field.onlySelection ?? selectionOf(field, value);
      if (selection) this.announceIn(selection, value, path);
    }
  }

  private streamOf({ nodes }: PlannedField): { label: string | undefined } | undefined {
    const values = nodes[0] && getDirectiveValues(streamDirective, nodes[0], this.variables);
    if (!values || values.if === false) return undefined;
    return { label: values.label as string | undefined };
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const keyOf = (path: readonly PathKey[], label: string | undefined, isStream: boolean): string =>
  JSON.stringify([isStream, label ?? null, ...path]);

/** The selection of the object's concrete type: it has that type's name, or at least its keys. */
function selectionOf({ selections }: PlannedField, object: object): SelectionPlan | undefined {
  const record = object as Record<string, unknown>;
  const all = [...selections.values()];
  const named = all.find(({ outputFields, type }) =>
    outputFields.some((each) => typeof each === 'string' && record[each] === type.name),
  );
  return named ?? all.find((each) => hasKeysOf(object, each));
}

function hasKeysOf(object: object, { outputFields }: SelectionPlan): boolean {
  const keys = Object.keys(object);
  return (
    keys.length === outputFields.length &&
    outputFields.every((each) => Object.hasOwn(object, typeof each === 'string' ? each : responseKeyOf(each)))
  );
}

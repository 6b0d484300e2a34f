/**
 * The current format of incremental delivery, `incrementalSpec=v0.2`: each part is announced with the data around it, and named by an id
 * from then on. The executor has the format before it, in which a part has its path.
 */
import { type GraphQLError, getDirectiveValues } from 'graphql';
import type { Variables } from '../../graph/engine/document.ts';
import { streamDirective } from '../../graph/engine/incremental.ts';
import { type PlannedField, type SelectionPlan, responseKeyOf } from '../../graph/engine/operation-plan.ts';
import type { IncrementalResult, Patch, PathKey } from './incremental-delivery.ts';

interface Pending {
  id: string;
  path: readonly PathKey[];
  label?: string | undefined;
}

/** An announced part that is not complete. */
interface OpenPart extends Pending {
  /** Of a deferred fragment. */
  selection?: SelectionPlan;
  /** Of a streamed list. */
  field?: PlannedField;
}

type Errors = readonly GraphQLError[] | undefined;

export interface CurrentResult {
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

interface WithErrors {
  errors?: Errors;
}

/** All errors in a part, in either format. */
export function errorsOf(
  part: WithErrors & { incremental?: readonly WithErrors[]; completed?: readonly WithErrors[] },
): readonly GraphQLError[] {
  const { incremental = [], completed = [] } = part;
  return [part, ...incremental, ...completed].flatMap(({ errors }) => errors ?? []);
}

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
  private readonly open = new Map<string, OpenPart[]>();
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
      for (const { id } of [...this.open.values()].flat())
        this.completed.push({ id, errors: root ? undefined : errors });
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
      this.close(part, isStream);
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
    const parts = this.open.get(keyOf(path, label, isStream)) ?? [];
    const fitting = isObject(data) ? parts.find(({ selection }) => selection && hasKeysOf(data, selection)) : undefined;
    return fitting ?? parts[0] ?? this.announce({ path, label }, isStream);
  }

  private close(part: OpenPart, isStream: boolean): void {
    const key = keyOf(part.path, part.label, isStream);
    const others = this.open.get(key)?.filter((each) => each !== part);
    if (others?.length) this.open.set(key, others);
    else this.open.delete(key);
  }

  private announce(part: Omit<OpenPart, 'id'>, isStream: boolean): OpenPart {
    const opened = { ...part, id: String(this.count++) };
    const { id, path, label } = opened;
    this.pending.push({ id, path, label });
    const key = keyOf(path, label, isStream);
    this.open.set(key, [...(this.open.get(key) ?? []), opened]);
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

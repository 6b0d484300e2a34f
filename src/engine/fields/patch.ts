/**
 * How a mutation keeps what its input leaves out. The PUT of the service would clear it, so the record is read with the caller's own token,
 * never from a cache, and what it shows is brought to the form in which it is written. Nothing is written unless that is certain.
 */
import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { GraphQLError, type GraphQLInputObjectType, type GraphQLSchema, getNamedType, isEnumType } from 'graphql';
import { createApiRequest } from '../../api/api-request.ts';
import type { Endpoint } from '../../api/endpoint.ts';
import type { Viewer } from '../../upstream/auth/viewer.ts';
import { CodedRejection, detailsOf } from '../../upstream/errors.ts';
import type { FilledIn, PatchSource } from '../../upstream/write-guard.ts';
import { type ClientCode, messageOf } from '../errors/codes.ts';
import { asFloat, asText } from '../values/decode.ts';
import type { FieldBuilder } from './node.ts';
import { type Violation, invalidIf, requireValid } from '../errors/violations.ts';

type FieldOf<Whole> = keyof Whole & string;

/** One thing that the PUT writes. */
export interface Column<Whole, Shown> {
  /** The fields of the input that give it: each of them does. */
  readonly fields: readonly [FieldOf<Whole>, ...FieldOf<Whole>[]];
  /** A field that clears this one if it has a value: the service takes one of the two. */
  readonly clearedBy?: FieldOf<Whole>;
  /** Null clears it. Without it, null is a violation. */
  readonly isClearable?: true;
  /** What may be read beside the record. */
  readonly reads?: readonly Endpoint[];
  /** What the record shows, as the input gives it and in the form in which it is written; undefined if that is not certain. */
  readonly keep: (shown: Shown, reading: PatchContext) => Kept<Whole> | Promise<Kept<Whole>>;
  /** What the client reads if it is not certain. */
  readonly doubt?: string;
  /** What these values come to where they are written, if others come to the same; by default they themselves. */
  written?(this: void, values: Partial<Whole>): unknown;
  /** What the record shows of it, for the revision. Absent: no read of the record shows it. */
  readonly shown?: (shown: Shown) => unknown;
}
type Kept<Whole> = Partial<Whole> | undefined;

/** A text or number of the record as it can be written again: null if there is none, undefined if it is something else. */
export const sureText = (value: unknown) => ((value ?? '') === '' ? null : asText(value) || undefined);
export const neededText = (value: unknown) => sureText(value) ?? undefined;
export const sureNumber = (value: unknown) =>
  Number.isInteger(asFloat(value ?? 0)) ? asFloat(value ?? 0) || null : undefined;

export const sureFlag = (value: unknown) => (typeof value === 'boolean' ? value : undefined);
export const sureWord =
  <Word>(words: readonly Word[]) =>
  (value: unknown) =>
    words[words.indexOf(value as Word)];

/** What is kept in one field; undefined if it is not certain. */
export const keptAs = <Name extends string, Value>(name: Name, value: Value | undefined) =>
  value === undefined ? undefined : ({ [name]: value } as Record<Name, Value>);

/** A column of one field, which one member shows. `sure`: the value in the form in which it is written; undefined if it is not certain. */
export const column = <Field extends string, Member extends string, Value, More extends object>(
  field: Field,
  member: Member,
  sure: (value: unknown) => Value | undefined,
  more?: More,
) => ({
  ...(more as More),
  fields: [field] as const,
  keep: (record: { readonly [Name in Member]?: unknown }) => keptAs(field, sure(record[member])),
  shown: ({ [member]: value }: { readonly [Name in Member]?: unknown }) => (value || value === false ? value : null),
});

export interface PatchContext extends PatchSource {
  /** The id in the input. */
  readonly id: string;
  readonly viewer: Viewer;
  /** Shows the value of a field as clients give it. */
  readonly showIn: ReturnType<typeof showIn>;
}

/** How the rest of a record is kept. `Whole`: an input that gives everything. */
export interface Patch<Whole, Shown> {
  /** The read that shows it. */
  readonly read: Endpoint;
  readonly input: (id: string) => object;
  /** The id of the person whose record it is. */
  readonly owner: (shown: Shown) => string | undefined;
  /** The code of a record that is not there. */
  readonly absent: ClientCode;
  /** Why the caller certainly cannot change the record. */
  readonly refusal?: (shown: Shown, viewer: Viewer) => ClientCode | undefined;
  readonly columns: readonly Column<Whole, Shown>[];
}

type Given = Readonly<Record<string, unknown>>;
const hasValue = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/** The columns that the input leaves out. */
const leftOut = <Whole, Shown>({ columns }: Patch<Whole, Shown>, input: Given): readonly Column<Whole, Shown>[] =>
  columns.filter(({ fields, clearedBy }) => {
    for (const field of fields) if (input[field] !== undefined) return false;
    return clearedBy === undefined || !hasValue(input[clearedBy]);
  });

/** The field of the input with the revision that the caller has shown. */
export const UNCHANGED_SINCE = 'unchangedSince';

/** The reads before a write with this input: none if it gives everything; all that there may be if it is not known. */
export function readsBefore(patch: Patch<never, never>, input: Given | undefined): readonly Endpoint[] {
  const columns = input ? leftOut(patch, input) : patch.columns;
  const needsNone = columns.length === 0 && input && input[UNCHANGED_SINCE] == null;
  return needsNone ? [] : [patch.read, ...columns.flatMap(({ reads = [] }) => reads)];
}

/** What is wrong with the input as it is given: rules about what it leaves out are those of the record. */
export function violationsOfGiven<Whole, Shown>(
  patch: Patch<Whole, Shown> | undefined,
  input: Given,
  violations: readonly (Violation | undefined)[],
): readonly (Violation | undefined)[] {
  if (!patch) return violations;
  const excused = new Set<unknown>(leftOut(patch, input).flatMap(({ fields }) => fields));
  const cleared: (Violation | undefined)[] = [];
  for (const { fields, isClearable } of patch.columns) {
    if (isClearable || !fields.some((field) => input[field] === null)) continue;
    if (fields.some((field) => hasValue(input[field]))) continue;
    cleared.push(invalidIf(true, fields[0], 'MISSING_ARGUMENT', { message: 'This cannot be cleared.' }));
    excused.add(fields[0]);
  }
  return [...cleared, ...violations.filter((each) => !excused.has(each?.path[1]))];
}

/** What is kept of the record: the fields that the input leaves out. Throws if one of them is not certain, or the record is absent. */
export async function keptOf<Whole, Shown>(
  patch: Patch<Whole, Shown>,
  input: Given,
  reading: PatchContext,
): Promise<FilledIn> {
  const columns = leftOut(patch, input);
  const since = input[UNCHANGED_SINCE];
  if (columns.length === 0 && since == null) return {};
  const { read, absent } = patch;
  const request = patch.input(reading.id);
  const shown = await reading.read(read, request);
  if (shown === null) throw new CodedRejection(detailsOf(createApiRequest(read, request)), absent);
  const code = patch.refusal?.(shown as Shown, reading.viewer);
  if (code) throw new GraphQLError(messageOf(code)!, { extensions: { code } });
  if (since != null) await requireUnchanged(patch, since as string, shown as Shown, reading);
  const known = { endpoint: read, record: shown };
  if (await changesNothing(patch, input, columns, shown as Shown, reading)) return { known, isUnchanged: true };
  const kept: Partial<Whole> = {};
  const doubts: Violation[] = [];
  for (const { fields, keep, doubt } of columns) {
    const values = await keep(shown as Shown, reading);
    if (values) Object.assign(kept, values);
    else doubts.push({ path: ['input', fields[0]], code: 'PRESENT_VALUE_UNKNOWN', message: doubt });
  }
  requireValid(doubts);
  return { kept, known, owner: asText(patch.owner(shown as Shown)) || undefined };
}

/** Whether the record certainly shows all that the input gives: the columns that are not open. */
async function changesNothing<Whole, Shown>(
  { columns }: Patch<Whole, Shown>,
  input: Given,
  open: readonly Column<Whole, Shown>[],
  shown: Shown,
  reading: PatchContext,
): Promise<boolean> {
  if ((input['pictures'] as readonly unknown[] | undefined)?.length) return false;
  for (const column of columns) {
    if (open.includes(column)) continue;
    const { fields, keep, reads, written = valuesOf(fields) } = column;
    const kept = reads ? undefined : await keep(shown, reading); // the write costs less than to find that out
    if (!kept || !isDeepStrictEqual(written(input as Partial<Whole>), written(kept))) return false;
  }
  return true;
}

const valuesOf = (fields: readonly string[]) => (values: Given) =>
  fields.map((field) => (hasValue(values[field]) ? values[field] : null));

/** Characters of the revision for each column: 48 bits of a hash, so that two values of one column hardly ever have the same. */
const HASH_CHARACTERS = 8;

/** What a read of the caller shows of all that the PUT writes, as a short text: each column has its part. */
export const revisionOf = <Whole, Shown>(columns: readonly Column<Whole, Shown>[], record: Partial<Shown>): string =>
  shownColumns(columns)
    .map(({ shown }) => JSON.stringify(shown(record as Shown) ?? null))
    .map((text) => hash('sha256', text, 'base64url').slice(0, HASH_CHARACTERS))
    .join('');

/** The field that shows it; `needs`: the members that the columns show. */
export const revisionField = <Whole, Shown, Shape, Needs extends keyof Shape & keyof Shown & string>(
  t: FieldBuilder<Shape>,
  { columns }: Pick<Patch<Whole, Shown>, 'columns'>,
  needs: readonly Needs[],
) =>
  t.computed({
    type: 'String',
    description:
      'What an update changes, as a short text that changes with it: `unchangedSince` of the input. It is of what the caller is shown.',
    needs,
    resolve: (record) => revisionOf(columns, record as unknown as Partial<Shown>),
  });

function shownColumns<Whole, Shown>(columns: readonly Column<Whole, Shown>[]) {
  return columns.flatMap(({ shown, ...column }) => (shown ? { ...column, shown } : []));
}

/** Throws if the record is not as the caller has shown it, with the present values of what differs. */
async function requireUnchanged<Whole, Shown>(
  { columns }: Patch<Whole, Shown>,
  since: string,
  record: Shown,
  context: PatchContext,
): Promise<void> {
  const revision = revisionOf<Whole, Shown>(columns, record);
  if (revision === since) return;
  const partOf = (text: string, at: number) => text.slice(at * HASH_CHARACTERS, (at + 1) * HASH_CHARACTERS);
  const current: Record<string, unknown> = {};
  for (const [at, { keep }] of shownColumns(columns).entries()) {
    if (partOf(revision, at) === partOf(since, at)) continue;
    const values = Object.entries((await keep(record, context)) ?? {});
    for (const [field, value] of values) current[field] = context.showIn(field, value ?? null);
  }
  const extensions = { code: 'CONFLICT' satisfies ClientCode, current, revision };
  throw new GraphQLError(messageOf('CONFLICT')!, { extensions });
}

/** Shows values of an input as clients give them: an enum by its name; undefined for what is no field of it. */
export function showIn(schema: GraphQLSchema, inputName: string) {
  const fields = (schema.getType(inputName) as GraphQLInputObjectType).getFields();
  return (field: string, value: unknown): unknown => {
    const type = getNamedType(fields[field]?.type);
    return isEnumType(type) && value !== null ? type.serialize(value) : type && value;
  };
}

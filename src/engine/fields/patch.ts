/**
 * How a mutation keeps what its input leaves out. The PUT of the service would clear it, so the record is read with the caller's own token,
 * never from a cache, and what it shows is brought to the form in which it is written. Nothing is written unless that is certain.
 */
import { createApiRequest, requestLine } from '../../api/api-request.ts';
import type { Endpoint } from '../../api/endpoint.ts';
import { CodedRejection } from '../../upstream/errors.ts';
import type { FilledIn, PatchReads } from '../../upstream/write-guard.ts';
import type { ClientCode } from '../errors/codes.ts';
import { type Violation, invalidIf, violationError } from '../errors/violations.ts';

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
  /** What the client is told if it is not certain. */
  readonly doubt?: string;
}
type Kept<Whole> = Partial<Whole> | undefined;

export interface PatchContext extends PatchReads {
  /** The id in the input. */
  readonly id: string;
}

/** How the rest of a record is kept. `Whole`: an input that gives everything. */
export interface Patch<Whole, Shown> {
  /** The read that shows it. */
  readonly read: Endpoint;
  readonly input: (id: string) => object;
  /** The code of a record that is not there. */
  readonly absent: ClientCode;
  readonly columns: readonly Column<Whole, Shown>[];
}

type Given = Readonly<Record<string, unknown>>;
const hasValue = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/** The columns that the input leaves out. */
const leftOut = <Whole, Shown>({ columns }: Patch<Whole, Shown>, input: Given): readonly Column<Whole, Shown>[] =>
  columns.filter(
    ({ fields, clearedBy }) =>
      fields.every((field) => input[field] === undefined) && (clearedBy === undefined || !hasValue(input[clearedBy])),
  );

/** The reads before a write with this input: none if it gives everything; all that there may be if it is not known. */
export function readsBefore(patch: Patch<never, never>, input: Given | undefined): readonly Endpoint[] {
  const columns = input ? leftOut(patch, input) : patch.columns;
  return columns.length === 0 ? [] : [patch.read, ...columns.flatMap(({ reads = [] }) => reads)];
}

/** What is wrong with the input as it is given: rules about what it leaves out are those of the record. */
export function violationsOfGiven<Whole, Shown>(
  patch: Patch<Whole, Shown>,
  input: Given,
  violations: readonly (Violation | undefined)[],
): (Violation | undefined)[] {
  const open = new Set<unknown>(leftOut(patch, input).flatMap(({ fields }) => fields));
  const cleared = patch.columns.map(({ fields, isClearable }) => {
    const isNull = fields.some((field) => input[field] === null) && !fields.some((field) => hasValue(input[field]));
    return invalidIf(isNull && !isClearable, fields[0], 'MISSING_ARGUMENT', { message: KEEP_INSTEAD });
  });
  const isCleared = (path: unknown) => cleared.some((each) => each?.path[1] === path);
  return [...cleared, ...violations.filter((each) => !open.has(each?.path[1]) && !isCleared(each?.path[1]))];
}

const KEEP_INSTEAD = 'This cannot be null. Leave it out to keep what is there.';
const GIVE_IT = 'What is there now cannot be told for certain, so it is not kept.';

/** What is kept of the record: the fields that the input leaves out. Throws if one of them is not certain, or the record is absent. */
export async function keptOf<Whole, Shown>(
  patch: Patch<Whole, Shown>,
  input: Given,
  reading: PatchContext,
): Promise<FilledIn> {
  const columns = leftOut(patch, input);
  if (columns.length === 0) return {};
  const request = patch.input(reading.id);
  const shown = await reading.read(patch.read, request);
  if (shown === null) throw absence(patch, request);
  const kept: Partial<Whole> = {};
  const doubts: Violation[] = [];
  for (const { fields, keep, doubt } of columns) {
    const values = await keep(shown as Shown, reading);
    if (values) Object.assign(kept, values);
    else doubts.push({ path: ['input', fields[0]], code: 'PRESENT_VALUE_UNKNOWN', message: doubt ?? GIVE_IT });
  }
  const [first, ...more] = doubts;
  if (first) throw violationError([first, ...more]);
  return { kept, known: { endpoint: patch.read, record: shown } };
}

const absence = ({ read, absent }: Pick<Patch<never, unknown>, 'read' | 'absent'>, input: object): CodedRejection =>
  new CodedRejection({ service: read.service, request: requestLine(createApiRequest(read, input)) }, absent);

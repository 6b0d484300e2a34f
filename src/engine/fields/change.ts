/**
 * The two mutations of a record that the service replaces as a whole: `replace…` is its PUT, which clears what the input leaves out;
 * `update…` keeps that. The service cannot say what it has of some records: of these there is `replace…` alone.
 */
import type { InputFieldMap, InputShapeFromFields } from '@pothos/core';
import type { InputBuilder } from '../builder.ts';
import { type MutationDeclaration, type Payload, mutation } from './mutation.ts';
import { type Patch, UNCHANGED_SINCE } from './patch.ts';

interface ChangeDeclaration<In, Out, Fields extends InputFieldMap, Result, Shown> extends Omit<
  MutationDeclaration<In, Out, Fields, Result>,
  'description' | 'input' | 'payload'
> {
  /** The record as descriptions name it: `a note of the caller`. */
  what: string;
  /** What is cleared if it is left out, and what is not. */
  cleared: string;
  /** `isWhole`: of `replace…`, where what the PUT needs is required. In an `update…` all is optional. */
  fields: (t: InputBuilder, isWhole: true) => Fields;
  payload: Payload<Result>;
  patch?: DescribedPatch<InputShapeFromFields<Fields>, Shown>;
}

const unchangedSince = (t: InputBuilder) =>
  t.string({
    description:
      'The `revision` of the record that the caller was shown. If it was changed since, nothing is written: the code is CONFLICT, and `extensions.current` has what differs. Costs the read of the record.',
  });

export interface DescribedPatch<Whole, Shown> extends Patch<Whole, Shown> {
  /** What is said of it beside the rest. */
  notes: string;
}

export function changeMutations<In, Out, Fields extends InputFieldMap, Result, Shown>(
  type: string,
  { what, cleared, fields, patch, ...rest }: ChangeDeclaration<In, Out, Fields, Result, Shown>,
): void {
  mutation<In, Out, Fields, Result>(`replace${type}`, {
    ...rest,
    description: `Replaces ${what} as a whole.`,
    input: {
      description: `The new values: ${cleared}`,
      fields: (t) => fields(t, true),
    },
  });
  if (!patch) return;
  mutation<In, Out, Fields, Result, Shown>(`update${type}`, {
    ...rest,
    description: `Changes ${what}: what the input leaves out stays. Unless the input gives everything, the record is read first, a call more, and nothing is written if nothing changes. ${patch.notes}`,
    input: {
      description: 'What is to be changed. What is left out stays, and null clears what can be cleared.',
      // The types are those of the whole input, because that is what rules and requests get.
      fields: (t) => ({ ...fields(t, false as true), [UNCHANGED_SINCE]: unchangedSince(t) }),
    },
    patch,
  });
}

/** Payloads that several mutations have in common. */
import type { ObjectRef } from '@pothos/core';
import type { Endpoint } from '../../api/endpoint.ts';
import type { BuilderTypes } from '../builder.ts';
import { type ErrorCodes, type Payload, type Written, mutation } from './mutation.ts';
import { globalId } from '../values/global-id.ts';
import type { FieldBuilder } from './node.ts';

/** The record in the response to a write. */
export const returnedField = <Shape, Result = Shape>(
  t: FieldBuilder<Written<Result>>,
  type: ObjectRef<BuilderTypes, Shape>,
  name: string,
  recordOf = ({ result }: Written<Result>): unknown => result,
) =>
  t.field({
    type,
    nullable: true,
    description: `The ${name} in the response of the service.`,
    nullIf: false,
    resolve: (written) => recordOf(written) as never,
  });

/** The record that a mutation changes. What the response does not provide of it is loaded, if it is selected. */
export const changedField = <Shape, Result>(
  t: FieldBuilder<Written<Result>>,
  type: ObjectRef<BuilderTypes, Shape>,
  description = `The ${type.name.toLowerCase()}. Fields other than the id cost one call.`,
  recordOf = ({ id }: Written<Result>): object | null => ({ id }),
) =>
  t.field({
    type,
    nullable: true,
    description,
    nullIf: 'the service has it no longer',
    resolve: (written) => recordOf(written) as never,
  });

/** A payload with the record in the response, in a field of this name. */
export const recordPayload = <Shape>(
  description: string,
  name: string,
  type: ObjectRef<BuilderTypes, Shape>,
): Payload<Shape> => ({ description, fields: (t) => ({ [name]: returnedField(t, type, name) }) });

/** A payload with the id of the record that was deleted, and with what had it in its lists. */
export const deletionPayload = <Result>(
  type: string,
  parents: Payload<Result>['fields'],
  idOf = ({ id }: Written<Result>): string => globalId(type, id),
): Payload<Result> => ({
  description: `The result of deleting ${/^[AEIOU]/.test(type) ? 'an' : 'a'} ${wordsOf(type)}.`,
  fields: (t) => ({
    deletedId: t.id({ description: `The global id of the deleted ${wordsOf(type)}.`, resolve: idOf }),
    ...parents(t),
  }),
});

const wordsOf = (type: string): string => type.replace(/\B[A-Z]/g, ' $&').toLowerCase();

interface Deletion {
  description: string;
  endpoint: Endpoint<{ id: string }>;
  /** The person whose lists had it, in the payload. */
  owner: Payload<unknown>['fields'];
  invalidates: ((id: string) => readonly string[]) | 'nothing';
  errorCodes?: ErrorCodes;
}

/** A mutation that deletes the record with the id in its input. */
export function deletion(type: string, { owner, ...rest }: Deletion): void {
  mutation<{ id: string }, unknown>(`delete${type}`, {
    ...rest,
    target: ['id', type],
    input: { description: `The ${wordsOf(type)} to delete.` },
    payload: deletionPayload(type, owner),
  });
}

/** Payloads that several mutations have in common. */
import type { ObjectRef } from '@pothos/core';
import type { Endpoint } from '../../api/endpoint.ts';
import type { WriteRule } from '../../upstream/write-guard.ts';
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
  recordOf = ({ id }: Written<Result>): object => ({ id }),
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

/** A payload with the id of the record that was deleted. */
export const deletionPayload = (type: string): Payload<unknown> => ({
  description: `The result of deleting ${/^[AEIOU]/.test(type) ? 'an' : 'a'} ${type.toLowerCase()}.`,
  fields: (t) => ({
    deletedId: t.id({
      description: `The global id of the deleted ${type.toLowerCase()}.`,
      resolve: ({ id }) => globalId(type, id),
    }),
  }),
});

/** A mutation that deletes the record with the id in its input. */
export const deletion = (
  type: string,
  endpoint: Endpoint<{ id: string }>,
  description: string,
  more: {
    invalidates: ((id: string) => readonly string[]) | 'nothing';
    settling: WriteRule<{ id: string }>;
    errorCodes?: ErrorCodes;
  },
): void =>
  mutation(`delete${type}`, {
    description,
    endpoint,
    target: ['id', type],
    input: { description: `The ${type.toLowerCase()} to delete.` },
    payload: deletionPayload(type),
    ...more,
  });

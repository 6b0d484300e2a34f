/** Inputs and payloads that several mutations have in common. */
import type { ObjectRef } from '@pothos/core';
import type { Endpoint } from '../../api/endpoint.ts';
import { type BuilderTypes, builder } from '../engine/builder.ts';
import type { WriteOptions, WriteRun } from '../engine/mutation.ts';
import { globalId } from './global-id.ts';

/** An input with nothing but the id of a record: `record` is its name in the description. */
export const idInput = (name: string, description: string, record: string) =>
  builder.inputType(name, {
    description,
    fields: (t) => ({ id: t.id({ required: true, description: `Global or bare id of the ${record}.` }) }),
  });

/** A payload with the record that was written, in a field of this name. */
export const recordPayload = <Name extends string, Shape>(
  payload: string,
  description: string,
  name: Name,
  type: ObjectRef<BuilderTypes, Shape>,
) =>
  builder.objectRef<Record<Name, Shape>>(payload).implement({
    description,
    fields: (t) => ({
      [name]: t.field({
        type,
        nullable: true,
        description: `The ${name} in the response of the service.`,
        nullIf: false,
        resolve: (written) => written[name] as never,
      }),
    }),
  });

/** A payload with the id of the record that was deleted: `record` is its name in the description. */
export const deletionPayload = (type: string, record: string) =>
  builder.objectRef<{ deletedId: string }>(`Delete${type}Payload`).implement({
    description: `The result of deleting ${/^[aeiou]/.test(record) ? 'an' : 'a'} ${record}.`,
    fields: (t) => ({ deletedId: t.exposeID('deletedId', { description: `The global id of the deleted ${record}.` }) }),
  });

/** A mutation that deletes the record with the id in its input. */
export function deletion(
  type: string,
  endpoint: Endpoint<{ id: string }>,
  description: string,
  more: Pick<WriteOptions<BuilderTypes, { deletedId: string }, { id: string }>, 'invalidates' | 'errorCodes'>,
) {
  const record = type.toLowerCase();
  return {
    endpoint,
    payload: deletionPayload(type, record),
    input: idInput(`Delete${type}Input`, `The ${record} to delete.`, record),
    target: ['id', type] as const,
    description,
    run: async ({ write, id }: WriteRun) => {
      await write(endpoint, { id });
      return { deletedId: globalId(type, id) };
    },
    ...more,
  };
}

import type { ObjectRef } from '@pothos/core';
import type { Endpoint, Fields } from '../../api/endpoint.ts';
import { type BuilderTypes, builder } from '../builder.ts';
import { asObject, asText, idText, isReadableId } from '../values/decode.ts';
import { globalId, isKeyByName, isSourceId, keyInGlobalId, sourceIdOf } from '../values/global-id.ts';

/** The Relay interface for objects that `node` can load by their id. */
export const Node = builder.interfaceRef<object>('Node').implement({
  description: 'An object that can be loaded by its id.',
  fields: (t) => ({
    id: t.id({ description: 'The global id. Treat it as opaque.', nullable: false }),
  }),
});

/** The builder of the fields of a record. */
export type FieldBuilder<Shape> = PothosSchemaTypes.ObjectFieldBuilder<BuilderTypes, Shape>;

/** `id` and `sourceId` of a record whose upstream id is in `id`. */
export const identity = <Shape extends { id: string | number }>(t: FieldBuilder<Shape>, type: string) => ({
  id: t.computed({
    type: 'ID',
    description: 'The global id. Treat it as opaque.',
    needs: ['id'],
    resolve: ({ id }) => globalId(type, asText(id)),
  }),
  sourceId: t.reads('id', idText, 'The id in the service.'),
});

/**
 * An embedded record, which may have its id only beside it; without a record, a reference made from that id; null without any id. The
 * engine loads what is selected of a reference.
 */
export function recordOrReference(record: unknown, id: unknown): object | null {
  const embedded: { id?: unknown } = asObject(record as object | null);
  if (isReadableId(embedded.id)) return embedded;
  const reference = referenceOf(asText(id));
  return reference && { ...embedded, ...reference };
}

/** The query for a record by its id. `example`: an id that there is in the demo. */
export function queryById<Shape>(
  type: ObjectRef<BuilderTypes, Shape>,
  endpoint: Endpoint<{ id: string } & Fields, Shape>,
  description: string,
  example: string,
): void {
  builder.queryField(type.name.toLowerCase(), (t) =>
    t.call({
      type,
      description,
      args: { id: t.arg.id({ required: true, description: idLike(example) }) },
      endpoint,
      input: (_, { id }) => ({ id: sourceIdOf(type.name, id) }),
    }),
  );
}

/** What is said of the argument `id` of a query. */
export const idLike = (example: string, others = ''): string => `Global or bare id${others}, such as \`${example}\`.`;

/** The query for an object that is known by its id alone. `byName`: for the key of one that the service returned without an id. */
export function queryReference<Shape extends { id: string }>(
  type: ObjectRef<BuilderTypes, Shape>,
  description: string,
  idDescription: string,
  reference = (id: string) => ({ id }) as Shape,
  byName?: (key: string) => Shape | null,
): void {
  builder.queryField(type.name.toLowerCase(), (t) =>
    t.field({
      type,
      nullable: true,
      nullIf: `every call that is made for it says that there is none; without a call, as for \`{ id }\` alone, nothing is claimed`,
      description,
      isNamed: true,
      args: { id: t.arg.id({ required: true, description: idDescription }) },
      resolve: (_, { id }) => {
        const key = byName && keyInGlobalId(type.name, id);
        return (key !== undefined && isKeyByName(key) ? byName!(key) : reference(sourceIdOf(type.name, id))) as never;
      },
    }),
  );
}

/** The reference for the key of a global id; null if it cannot be an id. */
export const referenceOf = (key: string): { id: string } | null => (isSourceId(key) ? { id: key } : null);

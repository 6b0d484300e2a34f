import type { GraphTypes } from './builder.ts';
import { builder } from './builder.ts';
import { globalId } from './ids.ts';

/** The Relay interface: anything that its id alone finds again. */
export const Node = builder.interfaceRef<object>('Node').implement({
  description: 'Anything that can be read again by its id.',
  fields: (t) => ({
    id: t.id({ description: 'The global id, to be treated as opaque.', nullable: false }),
  }),
});

type FieldBuilder<Shape> = PothosSchemaTypes.ObjectFieldBuilder<PothosSchemaTypes.ExtendDefaultTypes<GraphTypes>, Shape>;

/** `id` and `sourceId` of a record whose upstream id stands in `id`. */
export const identity = <Shape extends { id: string | number }>(t: FieldBuilder<Shape>, type: string) => ({
  id: t.id({
    description: 'The global id, to be treated as opaque.',
    needs: ['id'],
    resolve: ({ id }) => globalId(type, id),
  }),
  sourceId: t.id({ description: 'The bare id, as the service knows it.', needs: ['id'], resolve: ({ id }) => String(id) }),
});

import type { GraphTypes } from '../engine/builder.ts';
import { builder } from '../engine/builder.ts';
import { asText } from './decode.ts';
import { globalId, isSourceId } from './global-id.ts';

/** The Relay interface for objects that `node` can load by their id. */
export const Node = builder.interfaceRef<object>('Node').implement({
  description: 'An object that can be loaded by its id.',
  fields: (t) => ({
    id: t.id({ description: 'The global id. Treat it as opaque.', nullable: false }),
  }),
});

/** The builder of the fields of a record. */
export type FieldBuilder<Shape> = PothosSchemaTypes.ObjectFieldBuilder<
  PothosSchemaTypes.ExtendDefaultTypes<GraphTypes>,
  Shape
>;

/** `id` and `sourceId` of a record whose upstream id is in `id`. */
export const identity = <Shape extends { id: string | number }>(t: FieldBuilder<Shape>, type: string) => ({
  id: t.id({
    description: 'The global id. Treat it as opaque.',
    needs: ['id'],
    resolve: ({ id }) => globalId(type, asText(id)),
  }),
  sourceId: t.id({
    description: 'The id in the service.',
    needs: ['id'],
    resolve: ({ id }) => asText(id),
  }),
});

/** An embedded record; without it, a reference made from the id beside it; null without either. The engine loads what is selected of a reference. */
export function recordOrReference(record: unknown, id: unknown): object | null {
  if (typeof record === 'object' && record !== null && asText((record as { id?: unknown }).id) !== '') return record;
  return referenceOf(asText(id));
}

/** The reference for the key of a global id; null if it cannot be an id. */
export const referenceOf = (key: string): { id: string } | null => (isSourceId(key) ? { id: key } : null);

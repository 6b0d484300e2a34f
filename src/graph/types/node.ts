import type { GraphTypes } from '../engine/builder.ts';
import { builder } from '../engine/builder.ts';
import { asText } from './decode.ts';
import { globalId, isSourceId } from './global-id.ts';

/** The Relay interface: anything that its id alone finds again. */
export const Node = builder.interfaceRef<object>('Node').implement({
  description: 'Anything that can be read again by its id.',
  fields: (t) => ({
    id: t.id({ description: 'The global id, to be treated as opaque.', nullable: false }),
  }),
});

/** Where the fields of a record are declared. */
export type FieldBuilder<Shape> = PothosSchemaTypes.ObjectFieldBuilder<
  PothosSchemaTypes.ExtendDefaultTypes<GraphTypes>,
  Shape
>;

/** `id` and `sourceId` of a record whose upstream id stands in `id`. */
export const identity = <Shape extends { id: string | number }>(t: FieldBuilder<Shape>, type: string) => ({
  id: t.id({
    description: 'The global id, to be treated as opaque.',
    needs: ['id'],
    resolve: ({ id }) => globalId(type, asText(id)),
  }),
  sourceId: t.id({
    description: 'The bare id, as the service knows it.',
    needs: ['id'],
    resolve: ({ id }) => asText(id),
  }),
});

/**
 * A record as another one embeds it; where it does not, the bare handle of the id that stands beside it; null without either.
 * The engine promises nothing of a handle, so what is selected of it is asked for.
 */
export function recordOrReference<Shape extends { id: string }>(
  record: Shape | null | undefined,
  id?: unknown,
): Shape | null {
  if (typeof record === 'object' && record !== null && asText(record.id) !== '') return record;
  const key = asText(id);
  return isSourceId(key) ? ({ id: key } as Shape) : null;
}

/** The handle behind a global id's key; null for what no id looks like. */
export const referenceOf = (key: string): { id: string } | null => (isSourceId(key) ? { id: key } : null);

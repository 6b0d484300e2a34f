/** The number of values in the result of introspection, counted on the schema itself before anything is run. */
import { type GraphQLNamedType, type GraphQLResolveInfo, type GraphQLSchema } from 'graphql';
import { oncePer } from '../../lib/remember.ts';
import { hasVariables } from './document.ts';
import { type PlannedField, type SelectionPlan, isIntrospection } from './operation-plan.ts';

/** No response may have so many: what has more objects is not counted to its end. */
const OBJECTS_MAX = 100_000;

/** The most values that `__schema` and `__type` can return. */
export function introspectedValues(schema: GraphQLSchema, root: SelectionPlan): number {
  const info = { schema } as GraphQLResolveInfo;
  let objects = 0;
  // The result has each object that is met at least once.
  const valuesOf = oncePer((selection: SelectionPlan) =>
    oncePer((object: object): number => {
      if (++objects > OBJECTS_MAX) return Infinity;
      const parts = [selection, ...selection.deferred];
      return sumOf(
        parts,
        ({ fields, outputFields }) => outputFields.length + sumOf(fields, (each) => below(each, object)),
      );
    }),
  );
  const fields = [root, ...root.deferred].flatMap((part) => part.fields.filter(isIntrospection));
  return sumOf(fields, (field) =>
    field.field.name === '__schema'
      ? valuesOf(field.onlySelection!)(schema)
      : Math.max(0, ...typesNamedBy(field).map(valuesOf(field.onlySelection!))),
  );

  function below({ field, onlySelection }: PlannedField, object: object): number {
    if (!onlySelection) return 0;
    const value: unknown = field.resolve!(object, { includeDeprecated: true }, undefined, info);
    const items = (Array.isArray(value) ? value : [value ?? []].flat()) as readonly object[];
    return sumOf(items, valuesOf(onlySelection));
  }

  function typesNamedBy({ nodes, args }: PlannedField): readonly GraphQLNamedType[] {
    if (hasVariables(nodes[0]!)) return Object.values(schema.getTypeMap());
    return [schema.getType((args({}) as { name: string }).name) ?? []].flat();
  }
}

const sumOf = <Each>(all: readonly Each[], of: (each: Each) => number): number =>
  all.reduce((sum, each) => sum + of(each), 0);

/** The ways through the schema to the objects with an id. */
import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isObjectType,
} from 'graphql';

export interface PathStep {
  parent: GraphQLObjectType;
  field: GraphQLField<unknown, unknown>;
  /** The type that the field leads to. */
  type: GraphQLObjectType;
}
export type Path = readonly PathStep[];

export const hasId = (type: GraphQLObjectType): boolean => 'id' in type.getFields();

/** `nodes` shows the same items. */
const skipped = new Set(['edges', 'pageInfo', '__typename']);

/**
 * By the name of each type with an id, all paths from Query that pass at most so many objects with an id, the last one included. No field
 * occurs twice in a path.
 */
export function pathsTo(schema: GraphQLSchema, most: number): Map<string, Path[]> {
  const found = new Map<string, Path[]>();
  const go = (from: GraphQLObjectType, path: Path, passed: number): void => {
    for (const field of Object.values(from.getFields())) {
      if (skipped.has(field.name) || path.some((step) => step.parent === from && step.field === field)) continue;
      const named = getNamedType(field.type);
      const types = isAbstractType(named) ? schema.getPossibleTypes(named) : isObjectType(named) ? [named] : [];
      for (const type of types) {
        const longer = [...path, { parent: from, field, type }];
        if (!hasId(type)) go(type, longer, passed);
        else {
          found.set(type.name, [...(found.get(type.name) ?? []), longer]);
          if (passed + 1 < most) go(type, longer, passed + 1);
        }
      }
    }
  };
  go(schema.getQueryType()!, [], 0);
  return found;
}

/** The selection along a path, with the id of each object that has one. `argumentsOf` has the parentheses of a field. */
export function along(path: Path, inner: string, argumentsOf: (step: PathStep) => string, alias = ''): string {
  const [step, ...rest] = path;
  if (!step) return inner;
  const { field, type } = step;
  const below = along(rest, inner, argumentsOf);
  const own = hasId(type) ? `id ${below}` : below;
  const selection = isAbstractType(getNamedType(field.type)) ? `__typename ... on ${type.name} { ${own} }` : own;
  return `${alias}${field.name}${argumentsOf(step)} { ${selection} }`;
}

import { type GraphQLNamedType, Kind, type SelectionSetNode, getNamedType, isObjectType, parse } from 'graphql';
import { markedFields } from '../../src/engine/null-conditions.ts';
import { schema } from '../../src/graph/schema.ts';
import type { GraphQLResponse } from './facade.ts';

const marked = markedFields(schema);

/** Of the fields in a response that are marked as null only on error: those with a value, and those that are null without an error. */
export function marksIn(
  query: string,
  { data, errors = [] }: GraphQLResponse,
): { shown: Set<string>; broken: string[] } {
  const shown = new Set<string>();
  const broken: string[] = [];
  const failed = errors.map(({ path }) => (path ?? []).join('.'));
  for (const definition of parse(query).definitions)
    if (definition.kind === Kind.OPERATION_DEFINITION)
      walk(definition.selectionSet, schema.getRootType(definition.operation)!, data, []);
  return { shown, broken };

  function walk(
    { selections }: SelectionSetNode,
    type: GraphQLNamedType,
    value: unknown,
    path: (string | number)[],
  ): void {
    if (Array.isArray(value))
      return value.forEach((item, at) => walk({ kind: Kind.SELECTION_SET, selections }, type, item, [...path, at]));
    if (typeof value !== 'object' || value === null) return;
    for (const selection of selections) {
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        walk(selection.selectionSet, schema.getType(selection.typeCondition!.name.value)!, value, path);
        continue;
      }
      if (selection.kind !== Kind.FIELD) throw new Error('named fragments are not followed');
      const key = (selection.alias ?? selection.name).value;
      const field = isObjectType(type) ? type.getFields()[selection.name.value] : undefined;
      if (!field || !(key in value)) continue;
      const found = (value as Record<string, unknown>)[key];
      const coordinate = `${type.name}.${field.name}`;
      const at = [...path, key].join('.');
      const isFailed = failed.some((place) => place === at || place.startsWith(`${at}.`));
      if (marked.has(coordinate) && found !== null) shown.add(coordinate);
      if (marked.has(coordinate) && found === null && !isFailed) broken.push(at);
      if (selection.selectionSet) walk(selection.selectionSet, getNamedType(field.type), found, [...path, key]);
    }
  }
}

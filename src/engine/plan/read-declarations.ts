/** The declarations of fields and types, read back from the schema. */
import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  getNamedType,
  isAbstractType,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import type { Endpoint } from '../../api/endpoint.ts';
import { oncePer } from '../../lib/remember.ts';
import type { NewestFirst } from '../values/newest-first.ts';
import type { FieldRule, TypeRule } from './declaration-types.ts';

/** The fields of all object types, introspection apart. */
export function* allFields(schema: GraphQLSchema) {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields()))
      yield { type, field, coordinate: `${type.name}.${field.name}` };
  }
}

/** Computed once for each type: the predicates of graphql-js would cost more than the rest of a walk. */
export const fieldInfosOf = oncePer((schema: GraphQLSchema) =>
  oncePer((type: GraphQLObjectType) => {
    const introspection = type === schema.getQueryType() ? [SchemaMetaFieldDef, TypeMetaFieldDef] : [];
    const fields = [...Object.values(type.getFields()), ...introspection];
    return new Map(
      fields.map((field) => [field.name, { field, rule: fieldRule(field), types: typesOf(schema, field) }] as const),
    );
  }),
);

/** The concrete types that a field may return; none for leaves. */
export function typesOf(schema: GraphQLSchema, { type }: GraphQLField<unknown, unknown>): readonly GraphQLObjectType[] {
  const named = getNamedType(type);
  if (isAbstractType(named)) return schema.getPossibleTypes(named);
  return isObjectType(named) ? [named] : [];
}

/** The type of the nodes, if the field is a connection. */
export function nodeTypeOf({ type }: GraphQLField<unknown, unknown>): GraphQLObjectType | undefined {
  const connection = getNamedType(type);
  const nodes = isObjectType(connection) && typeRule(connection).isWrapper && connection.getFields().nodes;
  const node = nodes && getNamedType(nodes.type);
  return isObjectType(node) ? node : undefined;
}

export const fieldRule = ({ extensions }: GraphQLField<unknown, unknown>): FieldRule =>
  (extensions as { rule?: FieldRule }).rule ?? noRule;

export const typeRule = oncePer((type: GraphQLObjectType): TypeRule => {
  const rule = declaredRule(type);
  return rule.record ? { ...rule, record: { ...rule.record, embeds: embeddedRecords(type) } } : rule;
});

const declaredRule = (type: GraphQLObjectType): TypeRule => (type.extensions as { rule?: TypeRule }).rule ?? noRule;
const noRule = Object.freeze({});

/** Members that hold other records, or the first page of a list of them. */
function embeddedRecords(type: GraphQLObjectType): string[] {
  const members = Object.values(type.getFields()).flatMap((field): readonly string[] => {
    const { embedded, needs = [], idIn, pageSize, viewerOnly } = fieldRule(field);
    if (viewerOnly) return [];
    if (embedded) return pageSize === undefined ? [] : [embedded.member];
    const shown = getNamedType(field.type);
    const isRecord = isObjectType(shown) ? declaredRule(shown).record !== undefined : isInterfaceType(shown);
    return isRecord ? needs.filter((member) => member !== idIn) : [];
  });
  return [...new Set(members)];
}

/** The endpoint of a field, for these arguments and this parent. */
export const endpointOf = ({ endpoint }: FieldRule, args: object, parent?: Record<string, unknown>): Endpoint =>
  typeof endpoint === 'function' ? endpoint(args, parent) : endpoint!;

/** The type and the key in the global id of a node; undefined if it is none. */
export function partsOfId(id: string): { type: string; key: string } | undefined {
  const [, type, key] = /^([A-Za-z]+):(.*)$/s.exec(id) ?? [];
  return type === undefined || key === undefined ? undefined : { type, key };
}

/** The members that order a list; undefined if it is not ordered by time with these arguments. */
export const timeOrderOf = ({ newestFirst }: FieldRule, args: object): NewestFirst | undefined =>
  newestFirst?.when?.(args) === false ? undefined : newestFirst;

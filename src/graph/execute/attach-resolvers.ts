/** Attaches the engine's resolvers to the schema, once. */
import type { GraphQLField, GraphQLResolveInfo, GraphQLSchema } from 'graphql';
import { allFields, fieldRule, nodeTypeOf, typeRule, typesOf } from '../plan/read-declarations.ts';
import { type EngineResolver, type Resolver, callResolver, recordResolver } from './resolve.ts';

/** The resolvers of a field: the engine's, which gets its plan, and the one that the field declared. */
interface FieldResolvers {
  engine?: EngineResolver | undefined;
  plain: Resolver | undefined;
}
const fieldResolvers = new WeakMap<GraphQLField<unknown, unknown>, FieldResolvers>();
export const fieldResolversOf = (field: GraphQLField<unknown, unknown>): FieldResolvers =>
  fieldResolvers.get(field) ?? { plain: field.resolve as Resolver | undefined };

/** Attaches the engine's resolvers to the fields that call endpoints or return records. */
export function attachResolvers(schema: GraphQLSchema): GraphQLSchema {
  for (const { field } of allFields(schema)) {
    const { plain } = fieldResolversOf(field);
    fieldResolvers.set(field, { engine: engineResolverOf(schema, field, plain), plain });
  }
  return schema;
}

function engineResolverOf(
  schema: GraphQLSchema,
  field: GraphQLField<unknown, unknown>,
  plain: Resolver | undefined,
): EngineResolver | undefined {
  const rule = fieldRule(field);
  const node = nodeTypeOf(field);
  const keys = node && 'id' in node.getFields() ? (typeRule(node).record?.keyFields ?? ['id']) : undefined;
  if (rule.endpoint) return callResolver(rule, keys);
  const returnsRecords = typesOf(schema, field).some((each) => typeRule(each).record);
  return plain && returnsRecords ? recordResolver(rule, plain, infoOf(schema)) : undefined;
}

/** The only part of the info that resolvers may read: nothing in it depends on the selection. */
export const infoOf = (schema: GraphQLSchema): GraphQLResolveInfo => ({ schema }) as GraphQLResolveInfo;

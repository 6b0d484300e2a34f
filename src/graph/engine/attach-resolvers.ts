/** Attaches the engine's resolvers to the schema, once. */
import { type GraphQLField, type GraphQLFieldResolver, type GraphQLResolveInfo, type GraphQLSchema } from 'graphql';
import type { Context } from './builder.ts';
import { allFields, fieldRule, nodeTypeOf, typeRule, typesOf } from './declarations.ts';
import { withPostponed } from './load-record.ts';
import type { ParentRecord } from './field-call.ts';
import type { PlannedField } from './operation-plan.ts';
import { type EngineResolver, type Resolver, callResolver, recordResolver } from './resolve-field.ts';

/** The resolvers of a field for an executor that has its plan: the engine's, and the one that the field declared. */
interface FieldResolvers {
  engine?: EngineResolver | undefined;
  plain: Resolver | undefined;
}
const fieldResolvers = new WeakMap<GraphQLField<unknown, unknown>, FieldResolvers>();
export const fieldResolversOf = (field: GraphQLField<unknown, unknown>): FieldResolvers =>
  fieldResolvers.get(field) ?? { plain: field.resolve as Resolver | undefined };

/** Attaches the engine's resolvers to the fields that call endpoints or return records. */
export function attachResolvers(schema: GraphQLSchema): GraphQLSchema {
  for (const { type, field } of allFields(schema)) {
    const { plain } = fieldResolversOf(field);
    const engine = engineResolverOf(schema, field, plain);
    fieldResolvers.set(field, { engine, plain });
    if (engine || (plain && typeRule(type).record))
      field.resolve = byPlan({ engine, plain }) as GraphQLFieldResolver<unknown, unknown>;
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

/** For other executors: looks the plan of the field up, and loads what is postponed for incremental delivery. */
function byPlan({ engine, plain }: FieldResolvers): Resolver {
  return (parent, args, context, info) => {
    const { path, variableValues: variables } = info;
    const plan = planOf(context, info);
    return withPostponed(parent, plan, (record) =>
      engine
        ? engine(record as ParentRecord, { plan, args, context, path, variables })
        : plain!(record as ParentRecord, args, context, info),
    );
  };
}

/** A field without a plan would be null although it has a value, so this throws. */
function planOf({ plan }: Context, { fieldNodes, parentType, fieldName }: GraphQLResolveInfo): PlannedField {
  const planned = plan.fieldAt(fieldNodes, parentType.name);
  if (!planned) throw new Error(`${parentType.name}.${fieldName} was not planned`);
  return planned;
}

/** The only part of the info that resolvers may read: nothing in it depends on the selection. */
export const infoOf = (schema: GraphQLSchema): GraphQLResolveInfo => ({ schema }) as GraphQLResolveInfo;

/** Attaches the engine's resolvers to the schema, once. */
import {
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isObjectType,
} from 'graphql';
import type { Context } from './builder.ts';
import { allFields, fieldRule, typeRule } from './declarations.ts';
import { loadingPostponed } from './load-record.ts';
import type { PlannedField } from './operation-plan.ts';
import { type EngineResolver, type Resolver, callResolver, recordResolver } from './resolve-field.ts';

/** The resolvers of a field for an executor that has its plan: the engine's, and the one that the field declared. */
export interface FieldResolvers {
  engine?: EngineResolver;
  plain?: Resolver;
}
const fieldResolvers = new WeakMap<GraphQLField<unknown, unknown>, FieldResolvers>();
export const fieldResolversOf = (field: GraphQLField<unknown, unknown>): FieldResolvers =>
  fieldResolvers.get(field) ?? (field.resolve ? { plain: field.resolve as Resolver } : {});

/** Attaches the engine's resolvers to the fields that call endpoints or return records. */
export function attachResolvers(schema: GraphQLSchema): GraphQLSchema {
  for (const { type, field } of allFields(schema)) {
    const rule = fieldRule(field);
    const plain = field.resolve as Resolver | undefined;
    const engine = rule.endpoint
      ? callResolver(rule, keysOfItems(field.type))
      : plain && returnsRecords(schema, field.type)
        ? recordResolver(rule, plain, infoOf(schema))
        : undefined;
    fieldResolvers.set(field, { ...(engine ? { engine } : {}), ...(plain ? { plain } : {}) });
    let resolve = engine ? byPlan(engine) : plain;
    if (typeRule(type).record && resolve) resolve = loadingPostponed(resolve);
    if (resolve) field.resolve = resolve as GraphQLFieldResolver<unknown, unknown>;
  }
  return schema;
}

/** For other executors: looks the plan of the field up. */
function byPlan(engine: EngineResolver): Resolver {
  return (parent, args, context, info) =>
    engine(parent, { plan: planOf(context, info), args, context, path: info.path, variables: info.variableValues });
}

/** A field without a plan would be null although it has a value, so this throws. */
function planOf({ plan }: Context, { fieldNodes, parentType, fieldName }: GraphQLResolveInfo): PlannedField {
  const planned = plan.fieldAt(fieldNodes, parentType.name);
  if (!planned) throw new Error(`${parentType.name}.${fieldName} was not planned`);
  return planned;
}

/** The only part of the info that resolvers may read: nothing in it depends on the selection. */
export const infoOf = (schema: GraphQLSchema): GraphQLResolveInfo => ({ schema }) as GraphQLResolveInfo;

/** The members that identify the nodes of a connection; undefined if they have no id. */
function keysOfItems(type: GraphQLOutputType): readonly string[] | undefined {
  const connection = getNamedType(type);
  const nodes = isObjectType(connection) ? connection.getFields().nodes : undefined;
  const node = nodes && getNamedType(nodes.type);
  return isObjectType(node) && 'id' in node.getFields() ? (typeRule(node).record?.keyFields ?? ['id']) : undefined;
}

function returnsRecords(schema: GraphQLSchema, type: GraphQLOutputType): boolean {
  const named = getNamedType(type);
  const types = isAbstractType(named) ? schema.getPossibleTypes(named) : [named];
  return types.some((each) => isObjectType(each) && (typeRule(each).record || typeRule(each).isReference));
}

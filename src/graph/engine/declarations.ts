/** What fields and types declared of themselves, read back from the schema. */
import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isObjectType,
} from 'graphql';
import type { Endpoint } from '../../api/endpoint.ts';
import type { FieldRule, TypeRule } from './field-options.ts';

const handedFields = new WeakMap<GraphQLSchema, ReadonlySet<string>>();
/** Names of the fields whose first page may be in hand. */
export function fieldsWithEmbedded(schema: GraphQLSchema): ReadonlySet<string> {
  let names = handedFields.get(schema);
  if (!names) {
    const types = Object.values(schema.getTypeMap()).filter(isObjectType);
    const fields = types.flatMap((type) => Object.values(type.getFields()));
    names = new Set(fields.filter((field) => fieldRule(field).embedded).map((field) => field.name));
    handedFields.set(schema, names);
  }
  return names;
}

/** What the planner asks of a field, looked up once: graphql's own predicates cost more than the walk. */
export interface FieldInfo {
  field: GraphQLField<unknown, unknown>;
  rule: FieldRule;
  /** The concrete types that it may give; none for a leaf. */
  types: readonly GraphQLObjectType[];
}
const facts = new WeakMap<GraphQLObjectType, ReadonlyMap<string, FieldInfo>>();

export function fieldInfoOf(schema: GraphQLSchema, type: GraphQLObjectType): ReadonlyMap<string, FieldInfo> {
  let known = facts.get(type);
  if (!known) {
    known = new Map(
      Object.values(type.getFields()).map((field) => [
        field.name,
        { field, rule: fieldRule(field), types: typesOf(schema, field) },
      ]),
    );
    facts.set(type, known);
  }
  return known;
}

function typesOf(schema: GraphQLSchema, { type }: GraphQLField<unknown, unknown>): readonly GraphQLObjectType[] {
  const named = getNamedType(type);
  if (isAbstractType(named)) return schema.getPossibleTypes(named);
  return isObjectType(named) ? [named] : [];
}

/** What a field declared of itself. */
export function fieldRule(field: GraphQLField<unknown, unknown>): FieldRule {
  const { pothosOptions, pothosExposedField } = field.extensions as {
    pothosOptions?: FieldRule;
    pothosExposedField?: string;
  };
  if (pothosExposedField && !pothosOptions?.needs) return { needs: [pothosExposedField] };
  return pothosOptions ?? noRule;
}

/** What a type declared of itself. */
export function typeRule(type: GraphQLObjectType): TypeRule {
  return (type.extensions as { pothosOptions?: TypeRule }).pothosOptions ?? noRule;
}
const noRule = Object.freeze({});

/** The endpoint that answers a field, for these arguments. */
export const endpointOf = ({ endpoint }: FieldRule, args: object): Endpoint =>
  typeof endpoint === 'function' ? endpoint(args) : endpoint!;

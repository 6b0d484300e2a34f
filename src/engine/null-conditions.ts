/** When a nullable field is null: said in its description, or marked in the printed schema as null only beside an error. */
import {
  DirectiveLocation,
  GraphQLDirective,
  type GraphQLField,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  Kind,
  getNamedType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  parse,
  printSchema,
} from 'graphql';
import { isOfWholeService, tiers } from '../api/endpoint.ts';
import { allFields, fieldRule, typeRule } from './plan/read-declarations.ts';
import { withSentence } from './cost/describe-cost.ts';
import type { FieldRule } from './plan/declaration-types.ts';
import type { NullCondition } from './values/decode.ts';
import { tiersOnEveryPath } from './requirements/requirements.ts';

export const semanticNonNullDirective = new GraphQLDirective({
  name: 'semanticNonNull',
  description:
    'The field is null only beside an error at its path. `levels`: 0 is the field itself, 1 the items of its list. ' +
    'Clients that handle errors need no check for null.',
  locations: [DirectiveLocation.FIELD_DEFINITION],
  args: {
    levels: {
      type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(GraphQLInt))),
      defaultValue: [0],
      description: 'The levels of the type that are null only beside an error.',
    },
  },
});

export function describeNulls(schema: GraphQLSchema): GraphQLSchema {
  for (const { field, coordinate, condition } of nullableFields(schema)) {
    if (condition === undefined) throw new Error(`${coordinate} may be null and does not say when: set nullIf`);
    const sentence = condition === false ? 'Null only beside an error.' : `Null if ${condition}.`;
    field.description = withSentence(field.description, sentence);
  }
  return schema;
}

/** The fields that may be null or have null items: `levels` of their types, 0 for the field itself. */
function* nullableFields(schema: GraphQLSchema) {
  for (const { type, field, coordinate } of allFields(schema)) {
    const levels = nullableLevels(field.type);
    if (levels.length > 0) {
      const condition = conditionOf(type, field, type === schema.getQueryType());
      yield { field, levels, coordinate, condition };
    }
  }
}

/** The declared condition. Lists have one in common, and so have objects that a record names, and fields that not every tier gets. */
function conditionOf(
  type: GraphQLObjectType,
  field: GraphQLField<unknown, unknown>,
  isRoot: boolean,
): NullCondition | undefined {
  const { pageSize, endpoint, nullIf = pageSize === undefined ? undefined : ofList(type, endpoint) } = fieldRule(field);
  const having = tiersOnEveryPath(type, field);
  const isGated = having && having.length < tiers.length;
  if (isGated && nullIf === false) {
    const lacking = "the caller's tier does not get it";
    return isRoot ? lacking : `${lacking}; the error \`TIER_REQUIRED\` is reported once for all items of a list`;
  }
  const named = getNamedType(field.type);
  if (nullIf !== undefined || !isObjectType(named)) return nullIf;
  const { record, isReference } = typeRule(named);
  return record && !isReference ? 'the service names none, or has it no longer' : 'the service names none';
}

/** A list of a record is absent if the record is. A list of the whole service is always there, or refused. */
const ofList = (type: GraphQLObjectType, endpoint: FieldRule['endpoint']): NullCondition => {
  const { record, noun = type.name.toLowerCase() } = typeRule(type);
  const isOfService = typeof endpoint === 'object' && isOfWholeService(endpoint);
  return isOfService && !record ? false : `the service no longer has the ${noun}`;
};

function nullableLevels(type: GraphQLOutputType, level = 0): number[] {
  const own = isNonNullType(type) ? type.ofType : type;
  const below = isListType(own) ? nullableLevels(own.ofType, level + 1) : [];
  return own === type ? [level, ...below] : below;
}

/** The fields that are null only beside an error, by coordinate, with the levels of their types that are; of an interface, if all its objects say so. */
export function markedFields(schema: GraphQLSchema): ReadonlyMap<string, readonly number[]> {
  const marked = new Map<string, readonly number[]>();
  for (const { coordinate, levels, condition } of nullableFields(schema))
    if (condition === false) marked.set(coordinate, levels);
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isInterfaceType(type)) continue;
    const objects = schema.getPossibleTypes(type);
    for (const { name, type: shown } of Object.values(type.getFields())) {
      const levels = nullableLevels(shown);
      if (levels.length > 0 && objects.every((object) => marked.has(`${object.name}.${name}`)))
        marked.set(`${type.name}.${name}`, levels);
    }
  }
  return marked;
}

/** The schema as text, with the marks: graphql-js prints no directives of fields. */
export function printMarkedSchema(schema: GraphQLSchema): string {
  const text = printSchema(schema);
  const marked = markedFields(schema);
  const parts: string[] = [];
  let from = 0;
  for (const type of parse(text).definitions) {
    if (type.kind !== Kind.OBJECT_TYPE_DEFINITION && type.kind !== Kind.INTERFACE_TYPE_DEFINITION) continue;
    for (const field of type.fields ?? []) {
      const levels = marked.get(`${type.name.value}.${field.name.value}`)?.join(', ');
      if (levels === undefined) continue;
      const { end } = field.type.loc!;
      parts.push(
        text.slice(from, end),
        levels === '0' ? ' @semanticNonNull' : ` @semanticNonNull(levels: [${levels}])`,
      );
      from = end;
    }
  }
  return parts.join('') + text.slice(from);
}

import {
  type GraphQLField,
  type GraphQLObjectType,
  getNamedType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';
import { fieldRule, typeRule } from '../../../../engine/plan/read-declarations.ts';

/** All of a record that one call brings: its own values, and those of the objects in it that are no records. */
export function recordDocument(type: GraphQLObjectType): string {
  const fields = Object.values(type.getFields()).flatMap((field) => selectionOf(field) ?? []);
  return `query ($id: ID!) { record: node(id: $id) { __typename ... on ${type.name} { ${fields.join(' ')} } } }`;
}

function selectionOf(field: GraphQLField<unknown, unknown>): string | undefined {
  const { name, args, type, deprecationReason } = field;
  const { endpoint, viewerOnly } = fieldRule(field);
  if (endpoint || viewerOnly || deprecationReason !== undefined || args.some(isRequiredArgument)) return undefined;
  const of = getNamedType(type);
  if (isLeafType(of)) return name;
  if (!isObjectType(of) || of.getFields().id || typeRule(of).isWrapper) return undefined;
  const inner = Object.values(of.getFields()).filter((each) => isLeafType(getNamedType(each.type)));
  return inner.length > 0 ? `${name} { ${inner.map((each) => each.name).join(' ')} }` : undefined;
}

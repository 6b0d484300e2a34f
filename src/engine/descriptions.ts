/** What descriptions say of all fields and types of a kind: where a value comes from, always last, and what may grow. */
import {
  type GraphQLField,
  type GraphQLInputObjectType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isUnionType,
} from 'graphql';
import type { Endpoint } from '../api/endpoint.ts';
import { withSentence } from './cost/describe-cost.ts';
import { allFields, fieldRule } from './plan/read-declarations.ts';

/**
 * Says of each field which operation of the service it calls, or which member it reads, if that has another name; of an update, what null
 * does not clear.
 */
export function describeSources(schema: GraphQLSchema): GraphQLSchema {
  for (const { field } of allFields(schema)) {
    const source = sourceOf(field);
    const given = () => (getNamedType(field.args[0]!.type) as GraphQLInputObjectType).getFields();
    for (const each of fieldRule(field).uncleared?.map((name) => given()[name]!) ?? [])
      each.description = withSentence(each.description, 'Cannot be cleared.');
    if (source) field.description = withSentence(field.description, `Upstream: ${source}.`);
  }
  return schema;
}

/** Says of the enums and unions in responses that they may grow: a client of today must expect values of tomorrow. */
export function describeGrowth(schema: GraphQLSchema): GraphQLSchema {
  const shown = new Set([...allFields(schema)].map(({ field }) => getNamedType(field.type)));
  for (const type of shown) {
    if (isEnumType(type)) type.description = withSentence(type.description, 'More values may be added.');
    if (isUnionType(type)) type.description = withSentence(type.description, 'More types may be added.');
  }
  return schema;
}

function sourceOf(field: GraphQLField<unknown, unknown>): string | undefined {
  const { upstream, endpoint, endpoints, writeEndpoint, readsBefore, needs: members } = fieldRule(field);
  if (upstream !== undefined) return upstream === false ? undefined : upstream;
  if (writeEndpoint) {
    const reads = [...new Set(readsBefore?.(undefined).map(operationOf))];
    return [operationOf(writeEndpoint), ...reads.map((read) => `after ${read}`)].join(', ');
  }
  if (endpoints) return endpoints.map(operationOf).join(', ');
  if (typeof endpoint === 'object') return operationOf(endpoint);
  // The members of what the engine makes itself are not those of the service.
  const needs = members && !('pothosExposedField' in field.extensions) ? members : [];
  const isSameName = needs.some((member) => camelCased(member) === field.name);
  // What is made of many members has no source that a name could tell.
  return isSameName || needs.length === 0 || needs.length > 3
    ? undefined
    : needs.map((member) => `\`${member}\``).join(', ');
}

/** `GET /v2/book/{id}/tags`, quoted. */
const operationOf = ({ method, path }: Endpoint): string => `\`${method} ${path.replace(/:(\w+)/g, '{$1}')}\``;

const camelCased = (member: string): string => member.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** The tables of the interface, and what the schema declares of their rows. */
import {
  type GraphQLField,
  type GraphQLNamedType,
  getNamedType,
  getNullableType,
  isListType,
  isObjectType,
} from 'graphql';
import { bookEndpoints } from '../../src/api/book.ts';
import type { Endpoint } from '../../src/api/endpoint.ts';
import { eventEndpoints } from '../../src/api/event.ts';
import { filmEndpoints } from '../../src/api/film.ts';
import { noteEndpoints } from '../../src/api/note.ts';
import { allFields, fieldRule, nodeTypeOf, typeRule } from '../../src/engine/plan/read-declarations.ts';
import { schema } from '../../src/graph/schema.ts';

export const endpoints = [bookEndpoints, noteEndpoints, filmEndpoints, eventEndpoints].flatMap((table) =>
  Object.values<Endpoint>(table),
);

export const lineOf = ({ method, path }: Endpoint): string => `${method} ${path}`;

const shapes = endpoints
  // A fixed word in the place of an id is an endpoint of its own.
  .toSorted((a, b) => a.params.length - b.params.length)
  .map((endpoint) => ({ endpoint, shape: new RegExp(`^${endpoint.path.replace(/:\w+/g, '[^/]+')}$`) }));

/** The row that a request line, as `GET /v2/book/1?fields=id`, is a call of. */
export function endpointAt(line: string): Endpoint {
  const [method = '', url = ''] = line.split(' ');
  const path = url.replace(/\?.*$/, '');
  const found = shapes.find(({ endpoint, shape }) => endpoint.method === method && shape.test(path));
  if (!found) throw new Error(`no endpoint is called by ${line}`);
  return found.endpoint;
}

const typeNames = new Map<Endpoint, string>();
for (const { type, field } of allFields(schema)) {
  const { endpoint, endpoints = typeof endpoint === 'object' ? [endpoint] : [] } = fieldRule(field);
  for (const each of endpoints)
    if (each.list !== undefined || !typeNames.has(each)) typeNames.set(each, itemTypeOf(field).name);
  const { record } = typeRule(type);
  if (record && record.endpoint.list === undefined) typeNames.set(record.endpoint, type.name);
}

/** The type of the nodes of a connection, of the items of another list, as of a chart, or else of the field. */
function itemTypeOf(field: GraphQLField<unknown, unknown>): GraphQLNamedType {
  const type = getNamedType(field.type);
  const isRecord = isObjectType(type) && typeRule(type).record;
  const lists = isObjectType(type) && !isRecord ? Object.values(type.getFields()) : [];
  const items = lists.find((list) => {
    const item = getNamedType(list.type);
    return isListType(getNullableType(list.type)) && isObjectType(item) && !typeRule(item).isWrapper;
  });
  return nodeTypeOf(field) ?? getNamedType((items ?? field).type);
}

/** The type of the record that a read returns, or of the items of its list, as the schema declares it. */
export function typeNameOf(endpoint: Endpoint): string {
  const name = typeNames.get(endpoint);
  if (name === undefined) throw new Error(`no field of the schema calls ${endpoint.method} ${endpoint.path}`);
  return name;
}

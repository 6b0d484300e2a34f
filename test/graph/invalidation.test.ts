import type { GraphQLObjectType } from 'graphql';
import { expect, test } from 'vitest';
import type { Endpoint } from '../../src/api/endpoint.ts';
import { fieldRule, typeRule } from '../../src/engine/plan/read-declarations.ts';
import { catalogService } from '../../src/graph/service/descriptor.ts';
import { schema } from '../../src/graph/schema.ts';

/** What `invalidates` names of a kind, a path or an endpoint that is called read only. */
function readOnlyAmong(names: readonly string[]): readonly string[] {
  const kindOf = (name: string) => schema.getType(name.split(':')[0]!) as GraphQLObjectType | undefined;
  const matches = ({ path }: Endpoint, name: string) =>
    path === name || new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`).test(name);
  const endpointOf = (name: string) =>
    name.startsWith('/')
      ? catalogService.endpoints.find((each) => each.method === 'GET' && matches(each, name))
      : typeRule(kindOf(name)!).record!.endpoint;
  return names.filter((name) => endpointOf(name)?.isReadOnly);
}

/** Any member of an input: a bare id. */
const anyInput = new Proxy({}, { get: () => '1' });

test.for(Object.values(schema.getMutationType()!.getFields()))(
  '$name invalidates nothing that is called read only',
  (field) => {
    const { invalidates } = fieldRule(field);
    if (invalidates === undefined || invalidates === 'nothing') return;
    for (const made of [undefined, '2']) expect(readOnlyAmong(invalidates('1', anyInput as never, made))).toEqual([]);
  },
);

test('a record, a list and an endpoint of films are called read only, those of books are not', () => {
  const films = [
    'Subject:7',
    'Subject',
    '/v2/movie/top250',
    '/v2/movie/subject/7/photos',
    '/v2/movie/subject/:id/photos',
  ];
  expect(readOnlyAmong([...films, 'Book:7', '/v2/book/7/tags', '/v2/book/user/:name/collections'])).toEqual(films);
});

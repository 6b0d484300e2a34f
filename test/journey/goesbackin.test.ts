/** What comes out of the graph goes back in: a value of a response is accepted by every input of the same meaning. */
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import {
  type DocumentNode,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type OperationDefinitionNode,
  TypeInfo,
  coerceInputValue,
  getNamedType,
  isInputObjectType,
  parse,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { cheapestVariables } from '../../src/engine/cost/variable-bounds.ts';
import { schema } from '../../src/graph/schema.ts';
import type { GraphQLResponse } from '../support/facade.ts';
import { journey } from '../support/journey.ts';

const { execute, facade } = await journey();
const token = 'demo-alice';

/** The ready pages, and what they do not select. */
const documents = [
  ...readdirSync('operations').map((file) => readFileSync(`operations/${file}`, 'utf8')),
  `{ viewer { rateBudget { resetsAt } } city(id: "beijing") { id events(first: 2) { nodes { id startsAt endsAt city { id } } } } }`,
  `{ user(id: "alice") { id notes { nodes { id createdAt updatedAt comments { nodes { id createdAt } } } }
     annotations { nodes { id time } } bookCollections { nodes { id updatedAt } } } }`,
].map((text) => ({ text, document: parse(text) }));

interface Value {
  type: string;
  parent: string;
  field: string;
  value: string;
}

/** The texts of a response, with the types and names of their fields. */
function valuesIn(document: DocumentNode, data: unknown): Value[] {
  const fields = new Map<string, Omit<Value, 'value'>>();
  const info = new TypeInfo(schema);
  const visitor = {
    Field(node: { name: { value: string }; alias?: { value: string }; selectionSet?: unknown }) {
      const [type, parent] = [getNamedType(info.getType()!), info.getParentType()!];
      const found = { type: String(type), parent: parent.name, field: node.name.value };
      if (!node.selectionSet) fields.set(`${parent.name} ${node.alias?.value ?? node.name.value}`, found);
    },
  };
  visit(document, visitWithTypeInfo(info, visitor as never));
  const values: Value[] = [];
  const names = [...fields.entries()];
  const walk = (value: unknown, name: string): void => {
    if (Array.isArray(value)) return value.forEach((each) => walk(each, name));
    if (typeof value === 'object' && value !== null)
      return Object.entries(value).forEach(([key, each]) => walk(each, key));
    if (typeof value !== 'string') return;
    for (const [place, found] of names) if (place.endsWith(` ${name}`)) values.push({ ...found, value });
  };
  walk(data, '');
  return values;
}

const values = await (async () => {
  const found: Value[] = [];
  for (const { text, document } of documents) {
    for (const definition of document.definitions) {
      if (definition.kind !== 'OperationDefinition' || definition.operation !== 'query') continue;
      const { data } = await execute(text, { token, variables: { ...cheapestVariables(schema, definition) } });
      found.push(...valuesIn(document, data));
    }
  }
  return found;
})();

/** Global ids by type. */
const ids = new Map<string, string>();
for (const { type, field, value } of values)
  if (type === 'ID' && field === 'id' && !value.includes('~')) ids.set(value.split(':')[0]!, value);

/** Whether the input of this name was refused. */
const refusals = ({ errors = [] }: GraphQLResponse, name: string) =>
  errors.filter(({ message, extensions }) => {
    const {
      code,
      argument,
      violations = [],
    } = extensions as {
      code: string;
      argument?: string;
      violations?: { path: unknown[] }[];
    };
    if (argument !== undefined) return argument === name;
    return (
      violations.some(({ path }) => path.includes(name)) ||
      (code === 'BAD_USER_INPUT' && message.includes(`"input.${name}"`))
    );
  });

describe('a time of a response', () => {
  const times = values.filter(({ type }) => /DateTime$/.test(type));

  test('has one form in whole seconds, with an offset if it is a DateTime', () => {
    expect(new Set(times.map(({ type }) => type))).toEqual(new Set(['DateTime', 'LocalDateTime']));
    for (const { type, value } of times) {
      expect(value).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/);
      expect(value.slice(19)).toMatch(type === 'DateTime' ? /^(?:Z|[+-]\d\d:\d\d)$/ : /^$/);
    }
  });

  test('is accepted by every input that takes a time', () => {
    const input = schema.getType('DateTime') as GraphQLInputType;
    for (const { value } of times) expect(() => coerceInputValue(value, input)).not.toThrow();
  });

  test('of an entry narrows the list to this entry and those before or after it', async () => {
    const shelf = async (args: string) =>
      (await execute(`{ user(id: "alice") { bookCollections(first: 100 ${args}) { nodes { id updatedAt } } } }`)).data
        .user.bookCollections.nodes as { id: string; updatedAt: string }[];
    const all = await shelf('');
    const { updatedAt } = all[4]!;
    expect(await shelf(`updatedFrom: "${updatedAt}"`)).toEqual(all.slice(0, 5));
    expect(await shelf(`updatedTo: "${updatedAt}"`)).toEqual(all.slice(4));
  });
});

describe('an id of a response', () => {
  const nodes = schema.getType('Node');
  const nodeTypes = schema.getPossibleTypes(nodes as never).map(({ name }) => name);

  test.for(nodeTypes)('%s is loaded by node, as a global id', async (type) => {
    const id = ids.get(type);
    if (id === undefined) return expect(['Organization', 'Review', 'FilmReview', 'FilmComment']).toContain(type);
    const { data, errors } = await execute('query ($id: ID!) { node(id: $id) { id } }', { token, variables: { id } });
    expect(errors).toBeUndefined();
    expect(data.node).toEqual({ id });
  });

  const queries = Object.values(schema.getQueryType()!.getFields()).filter(
    ({ name, type, args }) => name !== 'node' && args.some((each) => each.name === 'id') && ids.has(String(type)),
  );
  test.for(queries.map(({ name, type }) => [name, String(type)] as const))(
    'is accepted by %s(id:), as a global and as a bare id',
    async ([name, type]) => {
      const id = ids.get(type)!;
      for (const given of [id, id.slice(type.length + 1)]) {
        const response = await execute(`query ($id: ID!) { ${name}(id: $id) { id } }`, {
          token,
          variables: { id: given },
        });
        expect(response.errors).toBeUndefined();
        expect(response.data[name]).toEqual({ id });
      }
    },
  );

  test('of a city known by its name is accepted', async () => {
    const id = `City:~${encodeURIComponent('北京')}`;
    const query = `{ city(id: "${id}") { id name } inTheaters(city: "${id}") { totalCount } }`;
    const { data, errors } = await execute(query);
    expect(errors).toBeUndefined();
    expect(data.city).toEqual({ id, name: '北京' });
  });

  // The service has no endpoint that takes the name in place of the id.
  test.for([
    ['celebrity', 'id', 'Celebrity', '李安'],
    ['celebrity', 'id', 'Celebrity', 'Tom'],
    ['searchEvents', 'cityId', 'City', '北京'],
  ] as const)(
    '%s(%s:) says that a %s known by a name alone cannot be looked up',
    async ([field, argument, type, name]) => {
      const id = `${type}:~${encodeURIComponent(name)}`;
      const { errors } = await execute(`{ ${field}(${argument}: "${id}") { __typename } }`, { token });
      expect(errors).toMatchObject([
        {
          message: expect.stringContaining(`${type} ("${name}") without an id`),
          extensions: { code: 'BAD_USER_INPUT', argument },
        },
      ]);
    },
  );

  /** The inputs of mutations that take an id, with the type that their name says. */
  const writes = Object.values(schema.getMutationType()!.getFields()).flatMap(({ name, args }) => {
    const input = getNamedType(args[0]!.type);
    if (!isInputObjectType(input)) return [];
    const fields = Object.values(input.getFields()).filter(({ type }) => String(getNamedType(type)) === 'ID');
    return fields.map(({ name: field }) => ({
      mutation: name,
      input: input.name,
      field,
      type: typeNamed(field, name),
    }));
  });
  /** Times that are valid, so that the rest of an input is looked at. */
  function times(input: string): object {
    const fields = Object.values((schema.getType(input) as GraphQLInputObjectType).getFields());
    const valid = fields.filter(({ type }) => String(getNamedType(type)) === 'DateTime');
    return Object.fromEntries(valid.map(({ name }) => [name, '2026-12-18T19:30:00+08:00']));
  }
  function typeNamed(field: string, mutation: string): string {
    const words = field === 'id' ? mutation : field === 'commentId' ? 'NoteComment' : field.replace(/Id$/, '');
    const inWords = [...nodeTypes, 'Review'].filter((type) => words.toLowerCase().includes(type.toLowerCase()));
    return inWords.sort((a, b) => b.length - a.length)[0]!;
  }

  test.for(writes.map((each) => [each.mutation, each.field, each] as const))(
    'is accepted by %s in %s, as a global and as a bare id',
    async ([mutation, field, { input, type }]) => {
      expect(ids.has(type) || type === 'Review').toBe(true);
      const text = `mutation ($input: ${input}!) { ${mutation}(input: $input) { __typename } }`;
      const cheapest = cheapestVariables(schema, parse(text).definitions[0] as OperationDefinitionNode);
      for (const given of [`${type}:999999999`, '999999999']) {
        const variables = { input: { ...(cheapest.input as object), ...times(input), [field]: given } };
        const response = await execute(text, { token, variables });
        expect(refusals(response, field)).toEqual([]);
      }
    },
  );
});

describe('the hash of a document', () => {
  const query = '{ book(id: "6082808") { id } }';
  const hash = createHash('sha256').update(query).digest('hex');
  const post = (body: object) =>
    fetch(`${facade.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const get = (query: string) => fetch(`${facade.url}/graphql?${query}`, { headers: { 'x-graphql-csrf': '1' } });
  const persisted = (sha256Hash: string) => ({ persistedQuery: { version: 1, sha256Hash } });

  test.for([hash, `sha256:${hash}`])('%s is accepted at every door', async (given) => {
    await (await post({ query, extensions: persisted(given) })).json();
    const form = new FormData();
    form.set('operations', JSON.stringify({ documentId: given }));
    form.set('map', '{}');
    const responses = [
      await post({ documentId: given }),
      await post({ extensions: persisted(given) }),
      await get(`documentId=${encodeURIComponent(given)}`),
      await get(`extensions=${encodeURIComponent(JSON.stringify(persisted(given)))}`),
      await fetch(`${facade.url}/graphql`, { method: 'POST', headers: { 'x-graphql-csrf': '1' }, body: form }),
      await fetch(`${facade.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-graphql-csrf': '1' },
        body: new URLSearchParams({ documentId: given }),
      }),
    ];
    for (const response of responses) expect(await response.json()).toEqual({ data: { book: { id: 'Book:6082808' } } });
  });
});

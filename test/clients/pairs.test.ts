/** After any two queries of one list, and any two operations of this package, each cache shows what the server says. */
import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import { Client, fetchExchange } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import {
  type DocumentNode,
  getNamedType,
  getOperationAST,
  isObjectType,
  parse,
  print,
  valueFromASTUntyped,
} from 'graphql';
import relay from 'relay-runtime';
import type { GraphQLResponse } from 'relay-runtime';
import { describe, expect, test } from 'vitest';
import { cacheOptions as apolloOptions } from '../../client/src/apollo.ts';
import { cacheOptions as urqlOptions } from '../../client/src/urql.ts';
import * as operations from '../../generated/operations.ts';
import { schema } from '../../src/graph/schema.ts';
import { readTabs } from '../../src/server/graphql/documents/tabs.ts';
import { journey } from '../support/journey.ts';
import { everyNth } from '../support/optional.ts';
import { relayRequest } from './relay-request.ts';

interface Request {
  document: DocumentNode;
  variables?: Record<string, unknown>;
  /** Sent although the response is in the cache. */
  reload?: boolean;
}

const here = await journey();
const files = readTabs('operations').map((tab) => ({ ...tab, file: parse(tab.query) }));

/** The server's responses, by request: a mutation runs once. */
const responses = new Map<string, Promise<string>>();
const recorded: typeof fetch = async (_, init) => {
  const body = init?.body as string;
  const { query, variables } = JSON.parse(body) as { query: string; variables?: object };
  // Clients add __typename in different places, order variables, and send those without a value as null.
  const given = Object.entries(variables ?? {}).filter(([, value]) => value !== null);
  const key = `${query.replaceAll(/__typename|\s/g, '')}${JSON.stringify(given.sort())}`;
  const response = responses.get(key) ?? send(body);
  responses.set(key, response);
  return new Response(await response, { headers: { 'content-type': 'application/json' } });
};
async function send(body: string): Promise<string> {
  const headers = { 'content-type': 'application/json', authorization: 'Bearer demo-alice' };
  return (await fetch(`${here.facade.url}/graphql`, { method: 'POST', headers, body })).text();
}

const uri = 'http://127.0.0.1/graphql';

/** What a new client shows for these requests, one after the other. */
const clients: Record<string, (requests: readonly Request[]) => Promise<unknown[]>> = {
  'Apollo Client': async (requests) => {
    const link = new HttpLink({ uri, fetch: recorded });
    const client = new ApolloClient({ link, cache: new InMemoryCache(apolloOptions()) });
    const shown: unknown[] = [];
    for (const { document, variables = {}, reload } of requests) {
      const fetchPolicy = reload ? 'network-only' : 'cache-first';
      const { data } = isMutation(document)
        ? await client.mutate({ mutation: document, variables, errorPolicy: 'all' })
        : await client.query({ query: document, variables, errorPolicy: 'all', fetchPolicy });
      shown.push(data);
    }
    client.stop();
    return shown;
  },
  urql: async (requests) => {
    const exchanges = [cacheExchange(urqlOptions()), fetchExchange];
    const client = new Client({ url: uri, preferGetMethod: false, fetch: recorded, exchanges });
    const shown: unknown[] = [];
    for (const { document, variables = {}, reload } of requests) {
      const requestPolicy = reload ? 'network-only' : 'cache-first';
      const { data } = await client[isMutation(document) ? 'mutation' : 'query'](document, variables, {
        requestPolicy,
      }).toPromise();
      shown.push(data);
    }
    return shown;
  },
  Relay: async (requests) => {
    const network = relay.Network.create(async ({ text }, variables) => {
      const response = await recorded(uri, { body: JSON.stringify({ query: text, variables }) });
      return (await response.json()) as GraphQLResponse;
    });
    const environment = new relay.Environment({ network, store: new relay.Store(new relay.RecordSource()) });
    const shown: unknown[] = [];
    for (const { document, variables = {}, reload } of requests) {
      const operation = relay.createOperationDescriptor(relayRequest(document), variables);
      environment.retain(operation);
      if (isMutation(document))
        await new Promise((resolve, reject) =>
          environment.executeMutation({ operation }).subscribe({ complete: () => resolve(undefined), error: reject }),
        );
      else if (reload || environment.check(operation).status !== 'available')
        await environment.execute({ operation }).toPromise();
      shown.push(environment.lookup(operation.fragment).data);
    }
    return shown;
  },
};

const isMutation = ({ definitions }: DocumentNode): boolean =>
  definitions.some((each) => each.kind === 'OperationDefinition' && each.operation === 'mutation');

const withTypename = new InMemoryCache();
async function fromServer({ document, variables = {} }: Request): Promise<unknown> {
  const query = print(withTypename.transformDocument(document));
  const response = await recorded(uri, { body: JSON.stringify({ query, variables }) });
  return ((await response.json()) as { data: unknown }).data;
}

/** Without what clients add to documents. */
const withoutTypename = (data: unknown): unknown =>
  JSON.parse(JSON.stringify(data, (name, value: unknown) => (name === '__typename' ? undefined : value)));

/**
 * Runs each `nth` of all pairs, the first request once more after the second, and returns those that show something else than the server.
 * Another `round` has others.
 */
async function differences(
  show: (typeof clients)[string],
  requests: ReadonlyMap<string, Request>,
  nth = 1,
  round = 0,
): Promise<string[]> {
  const found: string[] = [];
  const wanted = new Map<string, string>();
  for (const [name, request] of requests) wanted.set(name, JSON.stringify(withoutTypename(await fromServer(request))));
  for (const [at, [firstName, first]] of [...requests].entries())
    for (const [secondName, second] of everyNth([...requests], nth, at + round)) {
      const shown = await show(isMutation(first.document) ? [first, second] : [first, second, first]);
      shown.forEach((data, at) => {
        const isSame = JSON.stringify(withoutTypename(data)) === wanted.get(at === 1 ? secondName : firstName);
        if (!isSame) found.push(`${firstName}, ${secondName}: ${['first', 'second', 'first again'][at]}`);
      });
    }
  return found;
}

/** Where each type with lists is found. */
const parents: Record<string, [string, string]> = {
  Query: ['', ''],
  Book: ['book(id: "27025715") { id', '}'],
  Celebrity: ['celebrity(id: "1054395") { id', '}'],
  City: ['city(id: "beijing") { id', '}'],
  Event: ['event(id: "99000412") { id', '}'],
  Organization: ['organization(id: "site-9") { id', '}'],
  Note: ['user(id: "alice") { id notes(first: 1) { nodes { id', '} } }'],
  Series: ['book(id: "27025715") { id series { id', '} }'],
  Subject: ['subject(id: "1295644") { id', '}'],
  BookTag: ['book(id: "27025715") { id tags { name', '} }'],
  User: ['user(id: "alice") { id', '}'],
  FilmTag: ['subject(id: "26266893") { id genreTags { name', '} }'],
  UserBookTag: ['user(id: "alice") { id bookTags(first: 1) { nodes { name', '} } }'],
};
const required: Record<string, string> = {
  searchBooks: 'query: "百年"',
  searchSubjects: 'query: "的"',
  searchEvents: 'query: "音乐"',
};

/** The ways to ask for a list. */
async function waysOf(type: string, field: string): Promise<Map<string, Request>> {
  const node = nodeOf(type, field);
  const [before, after] = parents[type]!;
  const request = (args: string, selected: string, variables?: { after?: string }): Request => {
    const all = [required[field], args].filter(Boolean).join(', ');
    const list = `${field}${all ? `(${all})` : ''} { ${selected} }`;
    return {
      document: parse(`query ${variables ? 'Paged($after: String) ' : ''}{ ${before} ${list} ${after} }`),
      ...(variables && { variables }),
    };
  };
  const first = request('first: 2', 'pageInfo { endCursor }');
  const cursor = /"endCursor":"([^"]+)"/.exec(JSON.stringify(await fromServer(first)))?.[1];
  const edges = `edges { cursor node { ${node} } } pageInfo { hasNextPage endCursor }`;
  return new Map([
    ['first: 2 nodes', request('first: 2', `nodes { ${node} }`)],
    ['first: 5 nodes', request('first: 5', `nodes { ${node} }`)],
    ['first: 2 edges', request('first: 2', edges)],
    ['first: 5 edges', request('first: 5', edges)],
    ['cursors', request('first: 2', 'edges { cursor }')],
    ['both', request('first: 2', `totalCount nodes { ${node} } edges { node { ${node} } }`)],
    ['totalCount', request('', 'totalCount')],
    ['totalCount of 2', request('first: 2', 'totalCount')],
    ['no arguments', request('', `nodes { ${node} }`)],
    ['offset', request('first: 2, offset: 1', edges)],
    ['$after, null', request('first: 2, after: $after', edges, {})],
    ...(cursor
      ? ([
          ['after, edges', request(`first: 2, after: "${cursor}"`, edges)],
          ['after, nodes', request(`first: 2, after: "${cursor}"`, `nodes { ${node} }`)],
          ['after, first: 3', request(`first: 3, after: "${cursor}"`, edges)],
          ['$after', request('first: 2, after: $after', edges, { after: cursor })],
        ] as const)
      : []),
  ]);
}

function nodeOf(type: string, field: string): string {
  const parent = schema.getType(type);
  const connection = isObjectType(parent) && getNamedType(parent.getFields()[field]!.type);
  const node = isObjectType(connection) && getNamedType(connection.getFields().nodes!.type);
  if (!isObjectType(node)) throw new Error(`${type}.${field} is not a list of objects`);
  return { CelebrityWork: 'roles subject { id title }', UserBookTag: 'name count' }[node.name] ?? 'id';
}

const lists = Object.entries(operations.connections)
  .flatMap(([type, fields]) => Object.keys(fields).map((field) => [type, field] as const))
  .map(([type, field], round) => [type, field, round] as const);

describe.each(Object.entries(clients))('%s shows what the server says', (name, show) => {
  // One policy is made for all lists, so each pair of queries is tried with half of them.
  test.each(lists)('for any two queries of the list %s.%s', async (type, field, round) => {
    const found = await differences(show, await waysOf(type, field), 2, round);
    // A list with the argument `after` shows the loaded pages after it.
    expect(found.filter((line) => !isJoined(line))).toEqual([]);
  });

  test('for any two operations of catalog-graphql-client', async () => {
    const documents = Object.entries(operations).filter(([each]) => each.endsWith('Document'));
    expect(documents).toHaveLength(22);
    // A change of an entry is shown wherever the entry is, and the recorded responses do not have it.
    const kept = documents.filter(([each]) => !/^(Update|Delete|Replace)/.test(each));
    const requests = kept.map(([each, document]) => [each, withDefaults(document as DocumentNode)] as const);
    expect(await differences(show, new Map(requests)), name).toEqual([]);
  });
});

// Relay joins pages with @connection only.
const { Relay: _, ...joining } = clients;
describe.each(Object.entries(joining))('%s, for a list with the argument after', async (_name, show) => {
  const document = parse(`query Annotations($first: Int, $after: String) {
    book(id: "27025715") {
      id
      annotations(first: $first, after: $after) { edges { cursor node { id } } pageInfo { hasNextPage endCursor } }
    }
  }`);
  type Data = { book: { annotations: { edges: { cursor: string }[]; pageInfo: { endCursor: string } } } };
  const list = (variables: { first: number; after?: string }, reload = false): Request => ({
    document,
    variables,
    reload,
  });
  const listIn = (data: unknown) => (withoutTypename(data) as Data).book.annotations;
  const wanted = async (first: number) => listIn(await fromServer(list({ first })));
  const { endCursor } = (await wanted(2)).pageInfo;
  // Recorded before the mutations of the tests above.
  for (const size of [2, 3]) {
    await wanted(2 + size);
    await fromServer(list({ first: size, after: endCursor }));
  }

  test.each([[2], [3]])('shows the first page with a loaded page of %i after it', async (size) => {
    const shown = await show([list({ first: 2 }), list({ first: size, after: endCursor }), list({ first: 2 })]);
    expect(listIn(shown[2])).toEqual(await wanted(2 + size));
  });

  test('drops the pages after a page that is loaded again', async () => {
    const page = list({ first: 2, after: endCursor });
    const shown = await show([list({ first: 2 }), page, list({ first: 2 }, true), list({ first: 2 })]);
    for (const data of shown.slice(2)) expect(listIn(data)).toEqual(await wanted(2));
  });
});

test('Apollo Client drops pages that were stored by a clock that was ahead, after the first page is loaded again', () => {
  const query = parse(
    'query ($after: String) { top250(first: 1, after: $after) { nodes { id } pageInfo { endCursor } } }',
  );
  const page = (id: string, endCursor: string) => ({
    top250: {
      __typename: 'SubjectConnection',
      nodes: [{ __typename: 'Subject', id }],
      pageInfo: { __typename: 'PageInfo', endCursor },
    },
  });
  const before = new InMemoryCache(apolloOptions());
  before.writeQuery({ query, variables: { after: null }, data: page('Subject:1', 'one') });
  before.writeQuery({ query, variables: { after: 'one' }, data: page('Subject:2', 'two') });
  const ahead = (_: string, time: string) => `"writtenAt":${Number(time) + 3_600_000}`;
  const stored = JSON.stringify(before.extract()).replaceAll(/"writtenAt":(\d+)/g, ahead);
  const cache = new InMemoryCache(apolloOptions()).restore(JSON.parse(stored) as never);
  const shown = () => {
    const data = cache.readQuery<ReturnType<typeof page>>({ query, variables: { after: null } });
    return data?.top250.nodes.map(({ id }) => id);
  };
  expect(shown()).toEqual(['Subject:1', 'Subject:2']);
  cache.writeQuery({ query, variables: { after: null }, data: page('Subject:3', 'one') });
  expect(shown()).toEqual(['Subject:3']);
});

/** With the variables and the defaults of its file: an id is an example, which the document itself does not have. */
function withDefaults(document: DocumentNode): Request {
  const { name } = getOperationAST(document)!;
  const { file, variables } = files.find((each) => getOperationAST(each.file)?.name?.value === name?.value)!;
  const definitions = file.definitions.flatMap((each) =>
    each.kind === 'OperationDefinition' ? (each.variableDefinitions ?? []) : [],
  );
  const defaults = definitions.flatMap(({ variable, defaultValue }) =>
    defaultValue ? [[variable.name.value, valueFromASTUntyped(defaultValue)] as const] : [],
  );
  return { document, variables: { ...Object.fromEntries(defaults), ...variables } };
}

const isJoined = (line: string): boolean =>
  /^\$after, null, (\$after|after, (edges|first: 3)): first again$/.test(line);

/** A store loses nothing of a page when another page is loaded into it. */
import { readFileSync, readdirSync } from 'node:fs';
import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import { Client, fetchExchange } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import { type DocumentNode, parse, print, valueFromASTUntyped } from 'graphql';
import relay from 'relay-runtime';
import type { GraphQLResponse } from 'relay-runtime';
import { describe, expect, test } from 'vitest';
import { cacheOptions as apolloOptions } from '../../client/src/apollo.ts';
import { cacheOptions as urqlOptions } from '../../client/src/urql.ts';
import { withIds } from '../oracle/identity.ts';
import { journey } from '../support/journey.ts';
import { relayRequest } from './relay-request.ts';

const here = await journey();

interface Page {
  name: string;
  /** As clients with a normalised cache send it. */
  document: DocumentNode;
  variables: Record<string, unknown>;
}

const graphql = /^```graphql\n([^]*?)^```/m;
const files = ['operations', 'welcome'].flatMap((folder) =>
  readdirSync(folder).flatMap((file) => (file.endsWith('.graphql') ? [`${folder}/${file}`] : [])),
);
const texts: [name: string, text: string][] = [
  ['README.md', graphql.exec(readFileSync('README.md', 'utf8'))![1]!],
  ...files.map((file): [string, string] => [file, readFileSync(file, 'utf8')]),
  // Pages that show the same people, and one series, by other paths.
  ['a profile', '{ user(id: "1000001") { name avatarUrl webUrl } }'],
  ['a header', '{ viewer { user { avatarUrl } } }'],
  ['a series', '{ series(id: "10489") { books(first: 2) { nodes { title } } } }'],
  ['a book of it', '{ book(id: "6082808") { title series { title } } }'],
  ['a film', '{ subject(id: "1292052") { comments(first: 52) { nodes { author { name avatarUrl } } } } }'],
  ['an event', '{ event(id: "10504885") { participants(first: 7) { nodes { name } } organizer { name avatarUrl } } }'],
];
/** The queries of the README, the page at / and the operations of the package. */
const pages: Page[] = texts.flatMap(([name, text]) => {
  const document = parse(withIds(parse(text)));
  const operation = document.definitions.find((each) => each.kind === 'OperationDefinition')!;
  if (operation.operation !== 'query') return [];
  const defaults = (operation.variableDefinitions ?? []).flatMap(({ variable, defaultValue }) =>
    defaultValue ? [[variable.name.value, valueFromASTUntyped(defaultValue)] as const] : [],
  );
  return [{ name, document, variables: Object.fromEntries(defaults) }];
});

/** The server's responses: nothing is written in between. */
const responses = new Map<string, Promise<string>>();
const recorded: typeof fetch = async (_, init) => {
  const body = init?.body as string;
  const response = responses.get(body) ?? send(body);
  responses.set(body, response);
  return new Response(await response, { headers: { 'content-type': 'application/json' } });
};
async function send(body: string): Promise<string> {
  const headers = { 'content-type': 'application/json', authorization: 'Bearer demo-alice' };
  return (await fetch(`${here.facade.url}/graphql`, { method: 'POST', headers, body })).text();
}
const uri = 'http://127.0.0.1/graphql';

/** A store of a client: what it shows of a page when it has been loaded, and without a request. */
interface Store {
  load: (page: Page) => Promise<unknown>;
  read: (page: Page) => Promise<unknown>;
}

const stores: Record<string, () => Store> = {
  'Apollo Client': () => {
    const link = new HttpLink({ uri, fetch: recorded });
    const client = new ApolloClient({ link, cache: new InMemoryCache(apolloOptions()) });
    const read = ({ document: query, variables }: Page) =>
      Promise.resolve(client.cache.diff({ query, variables, optimistic: false, returnPartialData: true }).result);
    return {
      read,
      async load(page) {
        const { document: query, variables } = page;
        await client.query({ query, variables, errorPolicy: 'all', fetchPolicy: 'network-only' });
        return read(page);
      },
    };
  },
  urql: () => {
    const exchanges = [cacheExchange(urqlOptions()), fetchExchange];
    const client = new Client({ url: uri, preferGetMethod: false, fetch: recorded, exchanges });
    const run =
      (requestPolicy: 'network-only' | 'cache-only') =>
      async ({ document, variables }: Page): Promise<unknown> =>
        (await client.query(document, variables, { requestPolicy }).toPromise()).data;
    return { load: run('network-only'), read: run('cache-only') };
  },
  Relay: () => {
    const network = relay.Network.create(async ({ text }, variables) => {
      const response = await recorded(uri, { body: JSON.stringify({ query: text, variables }) });
      return (await response.json()) as GraphQLResponse;
    });
    const environment = new relay.Environment({ network, store: new relay.Store(new relay.RecordSource()) });
    const operationOf = ({ document, variables }: Page) =>
      relay.createOperationDescriptor(relayRequest(document), variables);
    const read = (page: Page) => Promise.resolve(environment.lookup(operationOf(page).fragment).data);
    return {
      read,
      async load(page) {
        const operation = operationOf(page);
        environment.retain(operation);
        await environment.execute({ operation }).toPromise();
        return read(page);
      },
    };
  },
};

const shown = (value: unknown): string => JSON.stringify(value) ?? 'nothing';

/** The places that had a value and have another one, or none. */
function lostIn(before: unknown, after: unknown, path = ''): string[] {
  if (before === null || before === undefined) return [];
  if (typeof before !== 'object') return before === after ? [] : [`${path}: ${shown(before)}, then ${shown(after)}`];
  if (typeof after !== 'object' || after === null) return [`${path}: an object, then ${shown(after)}`];
  return Object.entries(before).flatMap(([key, value]) =>
    lostIn(value, (after as Record<string, unknown>)[key], path ? `${path}.${key}` : key),
  );
}

test('there are pages', () => {
  expect(pages.length).toBeGreaterThanOrEqual(15);
});

describe.each(Object.entries(stores))('the store of %s', (_, open) => {
  test.each(pages.map((page) => [page.name, page] as const))('has all of %s after any other page', async (_, page) => {
    const lost: string[] = [];
    for (const other of pages) {
      if (other === page) continue;
      const store = open();
      const before = await store.load(page);
      expect(before, print(page.document)).toBeTruthy();
      const copy: unknown = JSON.parse(JSON.stringify(before));
      await store.load(other);
      lost.push(...lostIn(copy, await store.read(page)).map((each) => `${other.name}: ${each}`));
    }
    expect(lost).toEqual([]);
  });
});

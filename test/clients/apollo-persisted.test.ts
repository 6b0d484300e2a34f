import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ApolloClient, CombinedGraphQLErrors, HttpLink, InMemoryCache, gql } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { type DocumentNode, print } from 'graphql';
import { expect, onTestFinished, test, vi } from 'vitest';
import { fieldErrors } from '../../client/src/errors.ts';
import { documentId } from '../../client/src/trusted.ts';
import * as documents from '../../generated/operations.ts';
import { schema } from '../../src/graph/schema.ts';
import { createManifest } from '../../src/commands/manifest-text.ts';
import { journey } from '../support/journey.ts';
import { temporaryDirectory } from '../support/service.ts';

const { AnnotateDocument, BookDocument } = documents;

const directory = temporaryDirectory();
const bookPage = `
  query BookPage($id: ID!) {
    book(id: $id) { title series { books(first: 2) { nodes { ...Short } } } }
    subject(id: "1292052") { ... on Subject { title } }
  }
  fragment Short on Book { id title }
`;
const uncollect = 'mutation Uncollect { deleteCollection(input: { bookId: "6082808" }) { __typename } }';
const variables = { id: '6082808' };

/** Apollo Client with the stock link for persisted queries, and the requests that it sends. */
function apolloClient(url: string, useGETForHashedQueries: boolean) {
  const requests: { method: string; sendsText: boolean; cacheControl: string | null }[] = [];
  const http = new HttpLink({
    uri: `${url}/graphql`,
    headers: { authorization: 'Bearer demo-alice' },
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      const sent = init?.method === 'GET' ? decodeURIComponent(response.url) : init?.body;
      requests.push({
        method: init?.method ?? 'GET',
        sendsText: typeof sent === 'string' && /BookPage\(|mutation/.test(sent),
        cacheControl: response.headers.get('cache-control'),
      });
      return response;
    },
  });
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  const client = new ApolloClient({
    link: new PersistedQueryLink({ sha256, useGETForHashedQueries }).concat(http),
    cache: new InMemoryCache(),
    defaultOptions: { query: { fetchPolicy: 'network-only' } },
  });
  return { client, requests };
}

test.each([[true], [false]])(
  'Apollo Client sends the text of a query once and its hash from then on, GET: %s',
  async (byGet) => {
    const { facade, execute } = await journey();
    const { client, requests } = apolloClient(facade.url, byGet);
    const first = await client.query({ query: gql(bookPage), variables });
    const again = await client.query({ query: gql(bookPage), variables });
    const plain = await execute(bookPage, { variables, token: 'demo-alice' });
    expect(first.data).toMatchObject(plain.data as object);
    expect(again.data).toEqual(first.data);
    const byHash = byGet ? 'GET' : 'POST';
    expect(requests.map(({ method, sendsText }) => [method, sendsText])).toEqual([
      [byHash, false],
      ['POST', true],
      [byHash, false],
    ]);
    if (byGet) {
      expect(requests[0]?.cacheControl).toBe('no-store');
      expect(requests[2]?.cacheControl).toMatch(/^private, max-age=[1-9]/);
    }
  },
);

test('Apollo Client with a manifest sends hashes only, and operations outside the manifest are rejected', async () => {
  const source = join(directory, 'app.graphql');
  writeFileSync(source, bookPage);
  const persistedOperations = join(directory, 'manifest.json');
  writeFileSync(persistedOperations, createManifest([source], schema, { format: 'apollo', typename: true }));
  const { facade } = await journey({ persistedOperations, persistedOnly: 'on' });
  const { client, requests } = apolloClient(facade.url, true);
  const { data } = await client.query({ query: gql(bookPage), variables });
  expect(data).toMatchObject({ book: { __typename: 'Book', title: '百年孤独' } });
  expect(requests).toEqual([{ method: 'GET', sendsText: false, cacheControl: expect.stringMatching(/^private, /) }]);
  await expect(client.mutate({ mutation: gql(uncollect) })).rejects.toThrow(/trusted documents/);
  await expect(client.query({ query: gql('{ book(id: "6082808") { title } }') })).rejects.toThrow(/trusted documents/);
});

test('Apollo Client sends the documents of catalog-graphql-client by their ids in its manifest', async () => {
  const persistedOperations = fileURLToPath(new URL('../../client/manifest.json', import.meta.url));
  const { facade } = await journey({ persistedOperations, persistedOnly: 'on', automaticPersistedQueries: 'off' });
  const sent = vi.spyOn(globalThis, 'fetch');
  onTestFinished(() => sent.mockRestore());
  const client = new ApolloClient({
    link: new PersistedQueryLink({ generateHash: documentId, useGETForHashedQueries: true }).concat(
      new HttpLink({ uri: `${facade.url}/graphql`, headers: { authorization: 'Bearer demo-alice' } }),
    ),
    cache: new InMemoryCache(),
  });
  const { data } = await client.query({ query: BookDocument, variables: { id: '6082808' } });
  expect(data?.book?.title).toBe('百年孤独');
  const { error } = await client.mutate({
    mutation: AnnotateDocument,
    variables: { book: '1003078', content: '短', isPrivate: true },
    errorPolicy: 'all',
  });
  expect(CombinedGraphQLErrors.is(error) && fieldErrors(error.errors)).toEqual({
    content: expect.stringContaining('must have more than 15 characters') as string,
  });
  expect(sent.mock.calls.map(([, init]) => [init?.method, JSON.stringify(init).includes('mutation')])).toEqual([
    ['GET', false],
    ['POST', false],
  ]);
  expect(() => documentId(gql(bookPage))).toThrow('The operation BookPage is not in the manifest');
  for (const own of [
    'query Book { book(id: "1") { title } }',
    'query Book($id: ID! = "27025715") { book(id: $id) { id } }',
  ])
    expect(() => documentId(gql(own))).toThrow('The operation Book is not that of catalog-graphql-client');
  expect(() => documentId(gql('query toString { viewer { isLoggedIn } }'))).toThrow('toString is not in the manifest');
  // Each id is the hash of the text that the client sends.
  const manifest = JSON.parse(readFileSync(persistedOperations, 'utf8')) as Record<string, string>;
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  for (const [name, document] of Object.entries(documents)) {
    if (!name.endsWith('Document')) continue;
    const sent = client.documentTransform.transformDocument(document as DocumentNode);
    expect(manifest).toHaveProperty(sha256(print(sent)));
    for (const each of [sent, document as DocumentNode, gql(print(sent))])
      expect(documentId(each)).toBe(sha256(print(sent)));
  }
});

test('Apollo Client sends full texts if automatic persisted queries are off', async () => {
  const { facade } = await journey({ automaticPersistedQueries: 'off' });
  const { client, requests } = apolloClient(facade.url, true);
  for (let n = 0; n < 2; n++) await client.query({ query: gql(bookPage), variables });
  expect(requests.map(({ sendsText }) => sendsText)).toEqual([false, true, true]);
});

import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApolloClient, HttpLink, InMemoryCache, gql } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { expect, test } from 'vitest';
import { schema } from '../../src/graph/schema.ts';
import { createManifest } from '../../src/cli/manifest.ts';
import { journey } from '../support/journey.ts';
import { temporaryDirectory } from '../support/service.ts';

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

test('Apollo Client sends full texts if automatic persisted queries are off', async () => {
  const { facade } = await journey({ automaticPersistedQueries: 'off' });
  const { client, requests } = apolloClient(facade.url, true);
  for (let n = 0; n < 2; n++) await client.query({ query: gql(bookPage), variables });
  expect(requests.map(({ sendsText }) => sendsText)).toEqual([false, true, true]);
});

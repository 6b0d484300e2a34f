import { ApolloClient, HttpLink, InMemoryCache, gql } from '@apollo/client';
import type { OperationVariables, TypedDocumentNode } from '@apollo/client';
import { Defer20220824Handler, GraphQL17Alpha9Handler } from '@apollo/client/incremental';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { journey } from '../support/journey.ts';
import { FilmWithDeferDocument } from './documents.ts';

const here = await journey();
/** Generous, for a machine under load. */
const waitFor = (check: () => void) => vi.waitFor(check, { timeout: 15_000 });

const requests = vi.spyOn(globalThis, 'fetch');
beforeEach(() => void requests.mockClear());
const clients: ApolloClient[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.stop();
});

/** Watches a query; `results` are its results in order, from the first one with data on. */
async function open<Data, Variables extends OperationVariables>(
  client: ApolloClient,
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
) {
  const results: Data[] = [];
  const page = client.watchQuery<Data>({ query, variables });
  page.subscribe(({ data, error }) => {
    expect(error).toBeUndefined();
    if (data) results.push(data as Data);
  });
  await waitFor(() => expect(results).not.toEqual([]));
  return { page, results, last: () => results.at(-1)! };
}

describe('with the handler of the current format', () => {
  const client = () => {
    const made = new ApolloClient({
      link: new HttpLink({ uri: `${here.facade.url}/graphql`, headers: { authorization: 'Bearer demo-alice' } }),
      cache: new InMemoryCache(),
      incrementalHandler: new GraphQL17Alpha9Handler(),
    });
    clients.push(made);
    return made;
  };

  test('deferred fields are delivered after the rest', async () => {
    const { results, last } = await open(client(), FilmWithDeferDocument, { id: '26266893' });
    await waitFor(() => expect(last().subject?.comments?.nodes).toHaveLength(2));
    expect(results[0]?.subject).toMatchObject({ title: '流浪地球' });
    expect(results[0]?.subject).not.toHaveProperty('comments');
    expect(requests).toHaveBeenCalledTimes(1);
  });

  test('a streamed list is delivered item by item, with the deferred fields of its items', async () => {
    const query: TypedDocumentNode<{ top250: { nodes: { title: string; summary?: string }[] } }> = gql`
      query Streamed {
        top250(first: 4) {
          nodes @stream(initialCount: 1) {
            id
            title
            ... @defer {
              summary
            }
          }
        }
      }
    `;
    const { results, last } = await open(client(), query, {});
    await waitFor(() => expect(last().top250.nodes.filter(({ summary }) => summary)).toHaveLength(4));
    expect(results[0]?.top250.nodes).toHaveLength(1);
    const expected = await here.execute('{ top250(first: 4) { nodes { title } } }', { token: 'demo-alice' });
    expect(last().top250.nodes.map(({ title }) => ({ title }))).toEqual(expected.data.top250.nodes);
    expect(requests).toHaveBeenCalledTimes(2);
  });
});

test('a client that accepts JSON only gets the whole response in one', async () => {
  const uri = `${here.facade.url}/graphql`;
  const client = new ApolloClient({
    link: new HttpLink({ uri, headers: { accept: 'application/json' } }),
    cache: new InMemoryCache(),
    incrementalHandler: new Defer20220824Handler(),
  });
  clients.push(client);
  const { data } = await client.query({ query: FilmWithDeferDocument, variables: { id: '26266893' } });
  expect(data?.subject?.comments?.nodes).toHaveLength(2);
});

import { ApolloClient, HttpLink, InMemoryCache, gql } from '@apollo/client';
import type { OperationVariables, TypedDocumentNode } from '@apollo/client';
import { Defer20220824Handler, GraphQL17Alpha9Handler } from '@apollo/client/incremental';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  AnnotationsDocument,
  BookDocument,
  CollectDocument,
  DeleteCollectionDocument,
  DiaryDocument,
  SearchDocument,
  ShelfDocument,
  UpdateCollectionDocument,
  WriteNoteDocument,
} from '../../generated/operations.ts';
import { journey } from '../support/journey.ts';
import { picture } from '../support/service.ts';
import { apolloClient } from './apollo.ts';
import { FilmWithDeferDocument, LikeDocument } from './documents.ts';
import { isAnsweredByFastPath } from './fastPath.ts';
import { OverlappingDocument, idsIn, overlap } from './overlapping.ts';

const here = await journey();
/** Generous, for a machine under load. */
const waitFor = (check: () => void) => vi.waitFor(check, { timeout: 15_000 });

const requests = vi.spyOn(globalThis, 'fetch');
beforeEach(() => void requests.mockClear());
const clients: ApolloClient[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.stop();
});

function as(token: string): ApolloClient {
  const client = apolloClient(`${here.facade.url}/graphql`, token);
  clients.push(client);
  return client;
}

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

test('a watched query shows the result of a mutation without another request', async () => {
  const client = as('demo-carol');
  const { last } = await open(client, BookDocument, { id: '1003078' });
  expect(last().book).toMatchObject({ title: '小王子', viewerCollection: null });

  const { data } = await client.mutate({
    mutation: CollectDocument,
    variables: { book: '1003078', status: 'WISH', tags: ['小说', '想重读'] },
  });
  expect(data?.collectBook?.created).toBe(true);
  expect(last().book).toMatchObject({
    title: '小王子',
    viewerCollection: { status: 'WISH', tagNames: ['小说', '想重读'] },
  });

  // Another list with the same record is updated too.
  const search = await open(client, SearchDocument, { query: '小王子' });
  const found = () => search.last().searchBooks?.edges.find(({ node }) => node.id === 'Book:1003078')?.node;
  expect(found()?.viewerCollection?.status).toBe('WISH');
  await client.mutate({ mutation: UpdateCollectionDocument, variables: { book: '1003078', status: 'READ' } });
  expect([last().book?.viewerCollection?.status, found()?.viewerCollection?.status]).toEqual(['READ', 'READ']);

  await client.mutate({ mutation: DeleteCollectionDocument, variables: { book: '1003078' } });
  expect([last().book?.viewerCollection, found()?.viewerCollection]).toEqual([null, null]);
  expect(requests).toHaveBeenCalledTimes(5); // two pages, three mutations
  expect((await here.origin.get('/v2/book/1003078/collection', 'carol')).status).toBe(404);
});

test('a count of a record in a list is updated by a mutation', async () => {
  const client = as('demo-bob');
  const { last } = await open(client, DiaryDocument, { user: 'alice' });
  const [first] = last().user!.notes!.edges;
  await client.mutate({ mutation: LikeDocument, variables: { note: first!.node.id } });
  expect(last().user?.notes?.edges[0]?.node.likesCount).toBe(first!.node.likesCount + 1);
  expect(requests).toHaveBeenCalledTimes(2);
});

test('the next page of a connection is appended to the previous one', async () => {
  const { page, last } = await open(as('demo-alice'), AnnotationsDocument, { book: '6082808' });
  const list = () => last().book!.annotations!;
  for (const length of [10, 20]) {
    expect([list().edges.length, list().pageInfo.hasNextPage]).toEqual([length, true]);
    await page.fetchMore({ variables: { after: list().pageInfo.endCursor } });
    await waitFor(() => expect(list().edges).toHaveLength(length + 10));
  }
  expect(requests).toHaveBeenCalledTimes(3);
  const whole = await here.execute('{ book(id: "6082808") { annotations(order: RANK, first: 30) { nodes { id } } } }', {
    token: 'demo-alice',
  });
  expect(list().edges.map(({ node }) => node.id)).toEqual(
    whole.data.book.annotations.nodes.map(({ id }: { id: string }) => id),
  );
});

test('a page that overlaps with the one before shows no item twice, and goes when the first is loaded again', async () => {
  const sendNext = overlap(requests);
  sendNext();
  const { page, last } = await open(as('demo-alice'), OverlappingDocument, {});
  sendNext();
  await page.fetchMore({ variables: { after: last().book.annotations.pageInfo.endCursor } });
  await waitFor(() => expect(idsIn(last())[0]!.length).toBeGreaterThan(10));
  for (const ids of idsIn(last())) expect([ids.length, new Set(ids).size]).toEqual([20, 20]);
  await page.refetch();
  await waitFor(() => expect(idsIn(last()).map(({ length }) => length)).toEqual([10, 10]));
});

test('lists with other arguments or of other owners are cached separately', async () => {
  const client = as('demo-alice');
  const one = await open(client, SearchDocument, { query: '百年' });
  const other = await open(client, SearchDocument, { query: '小王子' });
  const before = one.last().searchBooks!.edges.length;
  await other.page.fetchMore({ variables: { after: other.last().searchBooks!.pageInfo.endCursor } });
  expect(one.last().searchBooks!.edges).toHaveLength(before);
  expect(one.last().searchBooks!.edges[0]?.node.id).not.toBe(other.last().searchBooks!.edges[0]?.node.id);
});

test('a query that selects fewer fields of a rating or a cover does not remove fields of another query', async () => {
  const client = as('demo-alice');
  const shelf = await open(client, ShelfDocument, { user: 'alice' });
  const book = shelf.last().user!.read!.edges[0]!.node.book!;
  await open(client, BookDocument, { id: book.id });
  // Both again from the cache only.
  const pages = await Promise.all([
    client.query({ query: ShelfDocument, variables: { user: 'alice' }, fetchPolicy: 'cache-only' }),
    client.query({ query: BookDocument, variables: { id: book.id }, fetchPolicy: 'cache-only' }),
  ]);
  expect(pages[0].data?.user?.read?.edges[0]?.node.book?.cover?.small).toBe(book.cover?.small);
  expect(pages[1].data?.book).toMatchObject({
    rating: { ratersCount: expect.any(Number) },
    cover: { large: expect.any(String) },
  });
  expect(requests).toHaveBeenCalledTimes(2);
});

test('a mutation with a file works with the stock upload link', async () => {
  const { data } = await as('demo-alice').mutate({
    mutation: WriteNoteDocument,
    variables: { title: '看图', content: '看图：<图片p_1>', pictures: [{ number: 1, file: picture('png', 5_000) }] },
  });
  expect(data?.createNote).toMatchObject({ storedPictures: [1], note: { pictures: [{ number: 1 }] } });
  const stored = await fetch(data!.createNote!.note!.pictures[0]!.url!);
  expect(Buffer.from(await stored.arrayBuffer())).toEqual(Buffer.from(await picture('png', 5_000).arrayBuffer()));
});

test('deferred fields are delivered after the others', async () => {
  const { results, last } = await open(as('demo-alice'), FilmWithDeferDocument, { id: '26266893' });
  await waitFor(() => expect(last().subject?.comments?.nodes).toHaveLength(2));
  expect(results[0]?.subject).toMatchObject({ title: '流浪地球' });
  expect(results[0]?.subject).not.toHaveProperty('comments');
  expect(requests).toHaveBeenCalledTimes(1);
});

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

test('requests of Apollo Client are answered by the fast path', async () => {
  const client = as('demo-alice');
  await open(client, SearchDocument, { query: '百年' });
  await client.mutate({ mutation: LikeDocument, variables: { note: '1' } }).catch(() => undefined);
  expect(await Promise.all(requests.mock.calls.map(([, init]) => isAnsweredByFastPath(init)))).toEqual([true, true]);
});

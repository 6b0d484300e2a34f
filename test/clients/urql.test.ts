import type { AnyVariables, Client, OperationResult, TypedDocumentNode } from '@urql/core';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  AnnotationsDocument,
  BookDocument,
  CollectDocument,
  DeleteCollectionDocument,
  DiaryDocument,
  SearchDocument,
  UpdateCollectionDocument,
  WriteNoteDocument,
} from '../../generated/operations.ts';
import { journey } from '../support/journey.ts';
import { picture } from '../support/service.ts';
import { FilmWithDeferDocument, LikeDocument } from './documents.ts';
import { isAnsweredByFastPath } from './fastPath.ts';
import { OverlappingDocument, idsIn, overlap } from './overlapping.ts';
import { urqlClient } from './urql.ts';

const here = await journey();
/** Generous, for a machine under load. */
const waitFor = (check: () => void) => vi.waitFor(check, { timeout: 15_000 });

const requests = vi.spyOn(globalThis, 'fetch');
/** Graphcache logs warnings about data that it cannot cache. */
const warnings = vi.spyOn(console, 'warn');
const pages: { unsubscribe(): void }[] = [];
beforeEach(() => {
  requests.mockClear();
  warnings.mockClear();
});
afterEach(() => {
  for (const page of pages.splice(0)) page.unsubscribe();
  expect(warnings.mock.calls).toEqual([]);
});

const as = (token: string): Client => urqlClient(`${here.facade.url}/graphql`, token);

/** Subscribes to a query; `results` are its results in order, from the first one with data on. */
async function open<Data, Variables extends AnyVariables>(
  client: Client,
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
) {
  const results: Data[] = [];
  const page = client.query(query, variables).subscribe(({ data, error }: OperationResult<Data, Variables>) => {
    expect(error).toBeUndefined();
    if (data) results.push(data);
  });
  pages.push(page);
  await waitFor(() => expect(results).not.toEqual([]));
  return { results, last: () => results.at(-1)! };
}

test('a subscribed query shows the result of a mutation without another request', async () => {
  const client = as('demo-carol');
  const { last } = await open(client, BookDocument, { id: '1003078' });
  expect(last().book).toMatchObject({ title: '小王子', viewerCollection: null });

  const { data } = await client.mutation(CollectDocument, {
    book: '1003078',
    status: 'WISH',
    tags: ['小说', '想重读'],
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
  await client.mutation(UpdateCollectionDocument, { book: '1003078', status: 'READ' });
  expect([last().book?.viewerCollection?.status, found()?.viewerCollection?.status]).toEqual(['READ', 'READ']);

  await client.mutation(DeleteCollectionDocument, { book: '1003078' });
  expect([last().book?.viewerCollection, found()?.viewerCollection]).toEqual([null, null]);
  expect(requests).toHaveBeenCalledTimes(5); // two pages, three mutations
  expect((await here.origin.get('/v2/book/1003078/collection', 'carol')).status).toBe(404);
});

test('a count of a record in a list is updated by a mutation', async () => {
  const client = as('demo-bob');
  const { last } = await open(client, DiaryDocument, { user: 'alice' });
  const [first] = last().user!.notes!.edges;
  await client.mutation(LikeDocument, { note: first!.node.id });
  expect(last().user?.notes?.edges[0]?.node.likesCount).toBe(first!.node.likesCount + 1);
  expect(requests).toHaveBeenCalledTimes(2);
});

test('the next page of a connection is appended to the previous one', async () => {
  const client = as('demo-alice');
  const { last } = await open(client, AnnotationsDocument, { book: '6082808' });
  const list = () => last().book!.annotations!;
  for (const length of [10, 20]) {
    expect([list().edges.length, list().pageInfo.hasNextPage]).toEqual([length, true]);
    await client.query(AnnotationsDocument, { book: '6082808', after: list().pageInfo.endCursor });
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
  const client = as('demo-alice');
  const sendNext = overlap(requests);
  sendNext();
  const { last } = await open(client, OverlappingDocument, {});
  sendNext();
  await client.query(OverlappingDocument, { after: last().book.annotations.pageInfo.endCursor });
  await waitFor(() => expect(idsIn(last())[0]!.length).toBeGreaterThan(10));
  for (const ids of idsIn(last())) expect([ids.length, new Set(ids).size]).toEqual([20, 20]);
  await client.query(OverlappingDocument, {}, { requestPolicy: 'network-only' });
  await waitFor(() => expect(idsIn(last()).map(({ length }) => length)).toEqual([10, 10]));
});

test('lists with other arguments are cached separately', async () => {
  const client = as('demo-alice');
  const one = await open(client, SearchDocument, { query: '百年' });
  const other = await open(client, SearchDocument, { query: '小王子' });
  const before = one.last().searchBooks!.edges.length;
  await client.query(SearchDocument, { query: '小王子', after: other.last().searchBooks!.pageInfo.endCursor });
  expect(one.last().searchBooks!.edges).toHaveLength(before);
  expect(one.last().searchBooks!.edges[0]?.node.id).not.toBe(other.last().searchBooks!.edges[0]?.node.id);
});

test('a mutation with a file works', async () => {
  const { data, error } = await as('demo-alice').mutation(WriteNoteDocument, {
    title: '看图',
    content: '看图：<图片p_1>',
    pictures: [{ number: 1, file: picture('png', 5_000) }],
  });
  expect(error).toBeUndefined();
  expect(data?.createNote).toMatchObject({ storedPictures: [1], note: { pictures: [{ number: 1 }] } });
  const stored = await fetch(data!.createNote!.note!.pictures[0]!.url!);
  expect(Buffer.from(await stored.arrayBuffer())).toEqual(Buffer.from(await picture('png', 5_000).arrayBuffer()));
});

test('deferred fields are delivered after the others', async () => {
  const { results, last } = await open(as('demo-alice'), FilmWithDeferDocument, { id: '26266893' });
  await waitFor(() => expect(last().subject?.comments?.nodes).toHaveLength(2));
  expect(results[0]?.subject).toMatchObject({ title: '流浪地球' });
  expect(results[0]?.subject?.comments).toBeUndefined();
  expect(requests).toHaveBeenCalledTimes(1);
});

test('deferred fields alone are loaded with the policy that the page names, and with no other', async () => {
  const client = as('demo-alice');
  await client.query('{ subject(id: "26266893") { id title } }', {}).toPromise();
  const document = FilmWithDeferDocument;
  const variables = { id: '26266893' };
  const { last } = await open(client, document, variables);
  await client.query('{ subject(id: "26266893") { id year } }', {}).toPromise();
  expect(last().subject?.comments).toBeUndefined();
  expect(requests).toHaveBeenCalledTimes(2);
  client.query(document, variables, { requestPolicy: 'network-only' }).subscribe(() => undefined);
  await waitFor(() => expect(last().subject?.comments?.nodes).toHaveLength(2));
});

test('requests of urql are answered by the fast path', async () => {
  const client = as('demo-alice');
  await open(client, SearchDocument, { query: '百年' });
  await client.mutation(LikeDocument, { note: '1' });
  expect(await Promise.all(requests.mock.calls.map(([, init]) => isAnsweredByFastPath(init)))).toEqual([true, true]);
});

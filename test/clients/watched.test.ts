/** Pages that stay open: what Apollo Client and urql show after mutations, further pages and deferred parts. */
import type { ApolloClient } from '@apollo/client';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
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
import { apolloClient } from './apollo.ts';
import { FilmWithDeferDocument, LikeDocument } from './documents.ts';
import { isAnsweredByFastPath } from './fastPath.ts';
import { OverlappingDocument, idsIn, overlap } from './overlapping.ts';
import { urqlClient } from './urql.ts';

const here = await journey();
const url = `${here.facade.url}/graphql`;
/** Generous, for a machine under load. */
const waitFor = (check: () => void) => vi.waitFor(check, { timeout: 15_000 });

const requests = vi.spyOn(globalThis, 'fetch');
/** Clients log warnings about data that they cannot cache. */
const warnings = vi.spyOn(console, 'warn');
const open: (() => void)[] = [];
beforeEach(() => {
  requests.mockClear();
  warnings.mockClear();
});
afterEach(() => {
  for (const close of open.splice(0)) close();
  expect(warnings.mock.calls).toEqual([]);
});

type Document<Data, Variables> = TypedDocumentNode<Data, Variables>;
interface Client {
  /** Calls `show` with each result; returns how the page loads what is behind a cursor, and itself anew. */
  watch: <Data, Variables extends Record<string, unknown>>(
    query: Document<Data, Variables>,
    variables: Variables,
    show: (data: Data | undefined, error: unknown) => void,
  ) => { more: (after: string | null) => Promise<unknown>; reload: () => Promise<unknown> };
  mutate: <Data, Variables extends Record<string, unknown>>(
    mutation: Document<Data, Variables>,
    variables: Variables,
  ) => Promise<Data>;
}

const clients: Record<string, (token: string) => Client> = {
  'Apollo Client': (token) => {
    const client: ApolloClient = apolloClient(url, token);
    open.push(() => client.stop());
    return {
      watch(query, variables, show) {
        const page = client.watchQuery({ query, variables });
        page.subscribe(({ data, error }) => show(data as never, error));
        return { more: (after) => page.fetchMore({ variables: { after } as never }), reload: () => page.refetch() };
      },
      mutate: async (mutation, variables) => (await client.mutate({ mutation, variables } as never)).data as never,
    };
  },
  urql: (token) => {
    const client = urqlClient(url, token);
    return {
      watch(query, variables, show) {
        const page = client.query(query, variables).subscribe(({ data, error }) => show(data, error));
        open.push(() => page.unsubscribe());
        return {
          more: (after) => client.query(query, { ...variables, after }).toPromise(),
          reload: () => client.query(query, variables, { requestPolicy: 'network-only' }).toPromise(),
        };
      },
      async mutate(mutation, variables) {
        const { data, error } = await client.mutation(mutation, variables).toPromise();
        if (error) throw error;
        return data!;
      },
    };
  },
};

describe.each(Object.entries(clients))('a page of %s', (_, clientOf) => {
  /** Watches a query; `results` are its results in order, from the first one with data on. */
  async function watched<Data, Variables extends Record<string, unknown>>(
    client: Client,
    query: Document<Data, Variables>,
    variables: Variables,
  ) {
    const results: Data[] = [];
    const page = client.watch(query, variables, (data, error) => {
      expect(error).toBeUndefined();
      if (data) results.push(data);
    });
    await waitFor(() => expect(results).not.toEqual([]));
    return { ...page, results, last: () => results.at(-1)! };
  }

  test('shows the result of a mutation without another request', async () => {
    const client = clientOf('demo-carol');
    const { last } = await watched(client, BookDocument, { id: '1003078' });
    expect(last().book).toMatchObject({ title: '小王子', viewerCollection: null });

    const tags = ['小说', '想重读'];
    const { collectBook } = await client.mutate(CollectDocument, { book: '1003078', status: 'WISH', tags });
    expect(collectBook?.created).toBe(true);
    expect(last().book).toMatchObject({ title: '小王子', viewerCollection: { status: 'WISH', tagNames: tags } });

    // Another list with the same record is updated too.
    const search = await watched(client, SearchDocument, { query: '小王子' });
    const found = () => search.last().searchBooks?.edges.find(({ node }) => node.id === 'Book:1003078')?.node;
    expect(found()?.viewerCollection?.status).toBe('WISH');
    await client.mutate(UpdateCollectionDocument, { book: '1003078', status: 'READ' });
    expect([last().book?.viewerCollection?.status, found()?.viewerCollection?.status]).toEqual(['READ', 'READ']);

    await client.mutate(DeleteCollectionDocument, { book: '1003078' });
    expect([last().book?.viewerCollection, found()?.viewerCollection]).toEqual([null, null]);
    expect(requests).toHaveBeenCalledTimes(5); // two pages, three mutations
    expect((await here.origin.get('/v2/book/1003078/collection', 'carol')).status).toBe(404);
  });

  test('shows a count of a record in a list that a mutation changed', async () => {
    const client = clientOf('demo-bob');
    const { last } = await watched(client, DiaryDocument, { user: 'alice' });
    const [first] = last().user!.notes!.edges;
    await client.mutate(LikeDocument, { note: first!.node.id });
    expect(last().user?.notes?.edges[0]?.node.likesCount).toBe(first!.node.likesCount + 1);
    expect(requests).toHaveBeenCalledTimes(2);
  });

  test('appends the next page of a connection to the previous one', async () => {
    const { last, more } = await watched(clientOf('demo-alice'), AnnotationsDocument, { book: '6082808' });
    const list = () => last().book!.annotations!;
    for (const length of [10, 20]) {
      expect([list().edges.length, list().pageInfo.hasNextPage]).toEqual([length, true]);
      await more(list().pageInfo.endCursor);
      await waitFor(() => expect(list().edges).toHaveLength(length + 10));
    }
    expect(requests).toHaveBeenCalledTimes(3);
    const all = '{ book(id: "6082808") { annotations(order: RANK, first: 30) { nodes { id } } } }';
    const whole = await here.execute(all, { token: 'demo-alice' });
    expect(list().edges.map(({ node }) => node.id)).toEqual(
      whole.data.book.annotations.nodes.map(({ id }: { id: string }) => id),
    );
  });

  test('shows no item of overlapping pages twice, and drops them when the first is loaded again', async () => {
    const sendNext = overlap(requests);
    sendNext();
    const { last, more, reload } = await watched(clientOf('demo-alice'), OverlappingDocument, {});
    sendNext();
    await more(last().book.annotations.pageInfo.endCursor);
    await waitFor(() => expect(idsIn(last())[0]!.length).toBeGreaterThan(10));
    for (const ids of idsIn(last())) expect([ids.length, new Set(ids).size]).toEqual([20, 20]);
    await reload();
    await waitFor(() => expect(idsIn(last()).map(({ length }) => length)).toEqual([10, 10]));
  });

  test('sends a file', async () => {
    const pictures = [{ number: 1, file: picture('png', 5_000) }];
    const draft = { title: '看图', content: '看图：<图片p_1>', pictures };
    const { createNote } = await clientOf('demo-alice').mutate(WriteNoteDocument, draft);
    expect(createNote).toMatchObject({ storedPictures: [1], note: { pictures: [{ number: 1 }] } });
    const stored = await fetch(createNote!.note!.pictures[0]!.url!);
    expect(Buffer.from(await stored.arrayBuffer())).toEqual(Buffer.from(await picture('png', 5_000).arrayBuffer()));
  });

  test('shows deferred fields after the others', async () => {
    const { results, last } = await watched(clientOf('demo-alice'), FilmWithDeferDocument, { id: '26266893' });
    await waitFor(() => expect(last().subject?.comments?.nodes).toHaveLength(2));
    expect(results[0]?.subject).toMatchObject({ title: '流浪地球' });
    expect(results[0]?.subject?.comments).toBeUndefined();
    expect(requests).toHaveBeenCalledTimes(1);
  });

  test('is answered by the fast path', async () => {
    const client = clientOf('demo-alice');
    await watched(client, SearchDocument, { query: '百年' });
    await client.mutate(LikeDocument, { note: '1' }).catch(() => undefined);
    expect(await Promise.all(requests.mock.calls.map(([, init]) => isAnsweredByFastPath(init)))).toEqual([true, true]);
  });
});

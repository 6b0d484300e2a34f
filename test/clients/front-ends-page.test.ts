/** The functions that docs/front-ends.md prints, run with its set-up of Apollo Client. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gql } from '@apollo/client';
import type { ApolloClient, ObservableQuery, TypedDocumentNode } from '@apollo/client';
import { ApolloProvider } from '@apollo/client/react';
import { type FunctionComponent, createElement } from 'react';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { DiaryDocument, SearchDocument } from '../../generated/operations.ts';
import type { SearchQuery, SearchQueryVariables } from '../../generated/operations.ts';
import { frontEnd } from '../frontend/front-end.ts';
import { tsExamplesOf } from '../support/examples.ts';
import { journey } from '../support/journey.ts';
import { picture } from '../support/service.ts';
import { apolloClient } from './apollo.ts';
import { reactPage } from './react-page.ts';

interface Page {
  loadMore(page: ObservableQuery<SearchQuery, SearchQueryVariables>, after: string): Promise<unknown>;
  morePhotos(client: ApolloClient, id: string, after: string): Promise<unknown>;
  like(client: ApolloClient, note: { id: string; likesCount: number }): Promise<unknown>;
  writeNote(client: ApolloClient, title: string, file: File): Promise<unknown>;
  annotate(client: ApolloClient, book: string, content: string): Promise<Record<string, string>>;
  rate(client: ApolloClient, book: string, rating: number, revision: string): Promise<Conflict | undefined>;
}
interface Conflict {
  current: Record<string, unknown>;
  revision: string;
}

const app = join(frontEnd('apollo', 'catalog-graphql-client'), 'src');
writeFileSync(join(app, 'client.ts'), tsExamplesOf('docs/front-ends.md')[0]!);
const load = (name: string) => import(pathToFileURL(join(app, name)).href) as Promise<unknown>;
const page = { ...((await load('catalog.ts')) as object), ...((await load('more.ts')) as object) } as Page;
const { App } = (await load('App.tsx')) as { App: FunctionComponent };
const { window, createRoot } = await reactPage();

/** Reads of these paths fail. */
let failing: string | undefined;
const { facade, execute } = await journey({}, (path) =>
  failing !== undefined && path.startsWith(failing) ? 500 : undefined,
);
const client = apolloClient(`${facade.url}/graphql`, 'demo-alice');
afterAll(() => client.stop());

interface List {
  edges: { node: { id: string } }[];
  pageInfo: { endCursor: string };
}

test('morePhotos loads one list, and a page that has this list with its argument after shows it too', async () => {
  const query: TypedDocumentNode<{ subject: { title: string; photos: List } }> = gql`
    query Film($id: ID!, $after: String) {
      subject(id: $id) {
        id
        title
        photos(first: 6, after: $after) {
          edges {
            cursor
            node {
              id
            }
          }
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    }
  `;
  const id = 'Subject:1295644';
  const shown: List[] = [];
  const watched = client.watchQuery({ query, variables: { id } }).subscribe(({ data, dataState }) => {
    if (dataState === 'complete') shown.push(data.subject.photos);
  });
  await vi.waitFor(() => expect(shown.at(-1)?.edges).toHaveLength(6), { timeout: 15_000 });
  failing = '/v2/movie/subject/1295644/photos';
  const failed = await page.morePhotos(client, id, shown.at(-1)!.pageInfo.endCursor);
  expect(failed).toMatchObject({ error: { errors: [{ extensions: { code: 'UPSTREAM_UNAVAILABLE' } }] } });
  failing = undefined;
  expect(shown.at(-1)!.edges).toHaveLength(6);
  await page.morePhotos(client, id, shown.at(-1)!.pageInfo.endCursor);
  await vi.waitFor(() => expect(shown.at(-1)!.edges.length).toBeGreaterThan(6), { timeout: 15_000 });
  const ids = shown.at(-1)!.edges.map(({ node }) => node.id);
  expect(new Set(ids).size).toBe(ids.length);
  watched.unsubscribe();
});

test('loadMore adds the next page to the list that the page shows', async () => {
  const watched = client.watchQuery({ query: SearchDocument, variables: { query: '的' } });
  const shown: number[] = [];
  const subscription = watched.subscribe(({ data, dataState }) => {
    if (dataState === 'complete') shown.push(data.searchBooks!.edges.length);
  });
  await vi.waitFor(() => expect(shown.at(-1)).toBeGreaterThan(0), { timeout: 15_000 });
  const [first] = shown;
  const { data } = watched.getCurrentResult();
  const cursor = data!.searchBooks!.pageInfo!.endCursor as string;
  failing = '/v2/book/search';
  await expect(page.loadMore(watched, cursor)).rejects.toThrow('The service reports a failure.');
  failing = undefined;
  expect(shown.at(-1)).toBe(first);
  await page.loadMore(watched, cursor);
  await vi.waitFor(() => expect(shown.at(-1)).toBeGreaterThan(first!), { timeout: 15_000 });
  subscription.unsubscribe();
});

test('rate returns what another device has made of the entry, and with its revision is written', async () => {
  const shown = gql`
    {
      book(id: "6082808") {
        id
        viewerCollection {
          id
          revision
        }
      }
    }
  `;
  const { data } = await client.query<{ book: { viewerCollection: { revision: string } } }>({ query: shown });
  const { revision } = data!.book.viewerCollection;
  expect(await page.rate(client, '6082808', 3, revision)).toBeUndefined();
  const conflict = await page.rate(client, '6082808', 1, revision);
  expect(conflict!.current).toMatchObject({ rating: 3 });
  expect(await page.rate(client, '6082808', 1, conflict!.revision)).toBeUndefined();
});

test('like returns the count of the service', async () => {
  const { data } = await client.query({ query: DiaryDocument, variables: { user: 'bob' } });
  const { id, likesCount } = data!.user!.notes!.edges[0]!.node;
  expect(await page.like(client, { id, likesCount })).toMatchObject({
    data: { likeNote: { note: { id, likesCount: likesCount + 1 } } },
  });
});

test('writeNote stores the picture of a file', async () => {
  const file = new File([await picture('png', 5_000).arrayBuffer()], 'lake.png', { type: 'image/png' });
  expect(await page.writeNote(client, 'By the lake', file)).toMatchObject({
    data: { createNote: { storedPictures: [1], note: { title: 'By the lake' } } },
  });
});

test('annotate has the message of a violation at its field', async () => {
  expect(Object.keys(await page.annotate(client, '1003078', '短'))).toEqual(['content']);
  expect(await page.annotate(client, '1003078', '这一页值得再读一遍：一句话就把人物写活了。')).toEqual({});
});

test('annotate rejects with an error that concerns no field', async () => {
  const nobody = apolloClient(`${facade.url}/graphql`);
  await expect(page.annotate(nobody, '1003078', '这一页值得再读一遍：一句话就把人物写活了。')).rejects.toThrow(
    'logged-in',
  );
  nobody.stop();
});

describe('the app of the page', () => {
  const SEEN = { timeout: 15_000 };
  const body = window.document.body;
  const button = async (text: string) =>
    vi.waitFor(() => {
      const found = [...body.querySelectorAll('button')].find((each) => each.textContent === text);
      expect(found, `the button ${text} in: ${body.textContent}`).toBeDefined();
      return found!;
    }, SEEN);
  const press = async (text: string) => (await button(text)).click();
  const shows = (text: string) => vi.waitFor(() => expect(body.textContent).toContain(text), SEEN);
  const own = apolloClient(`${facade.url}/graphql`, 'demo-alice');
  const root = createRoot(body.appendChild(window.document.createElement('div')));
  afterAll(() => {
    root.unmount();
    own.stop();
  });
  const rateElsewhere = async (rating: number) => {
    const { errors } = await execute(
      `mutation { updateCollection(input: { bookId: "6082808", rating: ${rating} }) { book { title } } }`,
      { token: 'demo-alice' },
    );
    expect(errors).toBeUndefined();
  };

  test('shows a list, the page of a book, and what is wrong with a form', async () => {
    root.render(createElement(ApolloProvider, { client: own, children: createElement(App) }));
    await press('百年孤独');
    await press('Annotate');
    await shows('An annotation must have more than 15 characters');
  });

  test('shows the annotation that was written, says that it is stored, and has an empty form', async () => {
    const text = body.querySelector('textarea')!;
    const content = '昨天夜里又读到这一页，雨还没有停，灯也没有关。';
    Object.getOwnPropertyDescriptor(window.HTMLTextAreaElement.prototype, 'value')!.set!.call(text, content);
    text.dispatchEvent(new window.Event('input', { bubbles: true }));
    await press('Annotate');
    await vi.waitFor(
      () =>
        expect(
          [...body.querySelectorAll('p')].map((each) => each.textContent),
          body.innerHTML,
        ).toContain(content),
      SEEN,
    );
    await shows('The annotation is stored.');
    expect(text.value).toBe('');
  });

  test('asks the user what to keep where another device was faster', async () => {
    const stars = async () => [...body.querySelectorAll('[aria-pressed=true]')].map((each) => each.textContent);
    await rateElsewhere(2);
    await press('5 stars');
    await shows('Changed elsewhere: stars: 2.');
    await press('Keep 5 stars');
    await vi.waitFor(async () => expect(await stars()).toEqual(['5 stars']), SEEN);
    await rateElsewhere(1);
    await press('4 stars');
    await press('Take theirs');
    await vi.waitFor(async () => expect(await stars()).toEqual(['1 stars']), SEEN);
  });

  test('says why a change was refused that is no conflict', async () => {
    const deleted = await execute('mutation { deleteCollection(input: { bookId: "6082808" }) { deletedId } }', {
      token: 'demo-alice',
    });
    expect(deleted.errors).toBeUndefined();
    await press('3 stars');
    await shows('not on the shelf');
  });
});

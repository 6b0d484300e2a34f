/** The pagination of Relay in both directions, as its pages show it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Suspense, createElement as element } from 'react';
import hooks from 'react-relay';
import relay from 'relay-runtime';
import type { GraphQLResponse, GraphQLTaggedNode } from 'relay-runtime';
import { expect, test, vi } from 'vitest';
import { frontEnd, run } from '../frontend/front-end.ts';
import { journey } from '../support/journey.ts';
import { overlap } from './overlapping.ts';
import { reactPage } from './react-page.ts';

const { window, createRoot } = await reactPage();

const { facade, execute } = await journey();
const requests = vi.spyOn(globalThis, 'fetch');

const texts = [
  `query pagesQuery($first: Int, $after: String, $last: Int, $before: String) {
    subject(id: "1292052") { ...pages_comments @arguments(first: $first, after: $after, last: $last, before: $before) }
  }`,
  `fragment pages_comments on Subject
  @refetchable(queryName: "pagesMoreQuery")
  @argumentDefinitions(
    first: { type: "Int" }
    after: { type: "String" }
    last: { type: "Int" }
    before: { type: "String" }
  ) {
    comments(first: $first, after: $after, last: $last, before: $before) @connection(key: "pages_comments") {
      edges { node { id } }
    }
  }`,
];

interface Shown {
  ids: string[];
  hasNext: boolean;
  hasPrevious: boolean;
  loadNext: (count: number) => void;
  loadPrevious: (count: number) => void;
}

test('a page that begins in the middle of a list is continued at both ends, and shows no item twice where pages overlap', async () => {
  const folder = frontEnd('relay', 'catalog-graphql-client');
  const source = ["import { graphql } from 'relay-runtime';", ...texts.map((text) => `graphql\`${text}\`;`)];
  writeFileSync(join(folder, 'src/pages.ts'), source.join('\n'));
  expect(await run(folder, ['relay-compiler'])).toMatchObject({ code: 0 });
  const [query, fragment] = await Promise.all(
    ['pagesQuery', 'pages_comments'].map(async (name) => {
      const artifact = pathToFileURL(join(folder, `src/__generated__/${name}.graphql.ts`)).href;
      return ((await import(artifact)) as { default: GraphQLTaggedNode }).default;
    }),
  );
  const { data } = await execute('{ subject(id: "1292052") { comments(first: 12) { edges { cursor node { id } } } } }');
  const { edges } = data.subject.comments as { edges: { cursor: string; node: { id: string } }[] };
  const ids = edges.map(({ node }) => node.id);

  const network = relay.Network.create(async ({ text }, variables) => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ query: text, variables });
    const response = await fetch(`${facade.url}/graphql`, { method: 'POST', headers, body });
    return (await response.json()) as GraphQLResponse;
  });
  const environment = new relay.Environment({ network, store: new relay.Store(new relay.RecordSource()) });
  let shown: Shown | undefined;
  const List = ({ subject }: { subject: never }) => {
    const page = hooks.usePaginationFragment(fragment!, subject);
    const { comments } = page.data as unknown as { comments: { edges: { node: { id: string } }[] } };
    shown = {
      ids: comments.edges.map(({ node }) => node.id),
      ...{ hasNext: page.hasNext, hasPrevious: page.hasPrevious },
      ...{ loadNext: (count) => page.loadNext(count), loadPrevious: (count) => page.loadPrevious(count) },
    };
    return null;
  };
  const Page = () => {
    const { subject } = hooks.useLazyLoadQuery(query!, { first: 2, after: edges[4]!.cursor }) as { subject: never };
    return element(List, { subject });
  };
  const sendNext = overlap(requests);
  sendNext();
  const root = createRoot(window.document.createElement('div'));
  root.render(
    element(hooks.RelayEnvironmentProvider, { environment, children: element(Suspense, null, element(Page)) }),
  );
  const shows = (from: number, to: number) =>
    vi.waitFor(() => expect(shown?.ids).toEqual(ids.slice(from, to)), { timeout: 15_000 });

  await shows(5, 7);
  sendNext();
  shown!.loadNext(3);
  await shows(5, 10);
  shown!.loadPrevious(3);
  await shows(2, 10);
  expect(shown).toMatchObject({ hasNext: true, hasPrevious: true });
  shown!.loadPrevious(3);
  await shows(0, 10);
  expect(shown).toMatchObject({ hasPrevious: false });
  root.unmount();
});

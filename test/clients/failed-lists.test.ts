/** What React shows of lists that were refused, failed, are absent or empty, at the first read and from the cache. */
import { ApolloProvider, useQuery as useApollo } from '@apollo/client/react';
import type { DocumentNode } from 'graphql';
import { parse } from 'graphql';
import { createElement as element } from 'react';
import type { FunctionComponent } from 'react';
import { createRoot } from 'react-dom/client';
import { Provider, useQuery as useUrql } from 'urql';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { journey } from '../support/journey.ts';
import { apolloClient } from './apollo.ts';
import { urqlClient } from './urql.ts';

/** Has no types: those of jsdom bring a version of the types of Node. */
const jsdom: string = 'jsdom';
const { JSDOM } = (await import(jsdom)) as { JSDOM: new (html: string) => { window: Window } };
const { window } = new JSDOM('<!doctype html>');
vi.stubGlobal('window', window);
vi.stubGlobal('document', window.document);
afterAll(() => vi.unstubAllGlobals());

const { facade } = await journey({}, (path) => (path.endsWith('/annotations') ? 500 : undefined));
const uri = `${facade.url}/graphql`;

interface Shown {
  data: unknown;
  codes: unknown[];
  isLoading: boolean;
}

/** What a page of each client shows; `page` is the same client at each read. */
const clients: Record<
  string,
  (token?: string) => (document: DocumentNode, show: (shown: Shown) => void) => FunctionComponent
> = {
  'Apollo Client': (token) => {
    const client = apolloClient(uri, token);
    afterAll(() => client.stop());
    return (document, show) => {
      const Page = () => {
        const { data, error, loading } = useApollo(document);
        const errors = (error as { errors?: Coded[] } | undefined)?.errors ?? [];
        show({ data, codes: errors.map(({ extensions }) => extensions.code), isLoading: loading });
        return null;
      };
      return () => element(ApolloProvider, { client, children: element(Page) });
    };
  },
  urql: (token) => {
    const client = urqlClient(uri, token);
    return (document, show) => {
      const Page = () => {
        const [{ data, error, fetching, stale }] = useUrql({ query: document });
        const errors = (error?.graphQLErrors ?? []) as unknown as Coded[];
        show({ data, codes: errors.map(({ extensions }) => extensions.code), isLoading: fetching || stale });
        return null;
      };
      return () => element(Provider, { value: client, children: element(Page) });
    };
  },
};

interface Coded {
  extensions: { code: string };
}

/** Renders a page until nothing is loading any more, and what it shows then. */
async function render(page: (show: (shown: Shown) => void) => FunctionComponent): Promise<Shown> {
  let last: Shown | undefined;
  const root = createRoot(window.document.createElement('div'));
  root.render(element(page((shown) => (last = shown))));
  await vi.waitFor(() => expect(last?.isLoading).toBe(false), { timeout: 15_000 });
  root.unmount();
  return last!;
}

const list = 'edges { node { id } } pageInfo { hasNextPage endCursor }';
const annotations = parse(`{ book(id: "27025715") { id title list: annotations(first: 6) { ${list} } } }`);
const film = parse(`{ subject(id: "1295644") { id title list: photos(first: 6) { ${list} } } }`);
const empty = { edges: [], pageInfo: { hasNextPage: false, endCursor: null } };
type Case = { token: string; document: DocumentNode; shows: unknown; code?: string };
const cases: [string, Case][] = [
  ['refused', { token: 'demo-bob', document: film, shows: null, code: 'TIER_REQUIRED' }],
  ['failed', { token: 'demo-alice', document: annotations, shows: null, code: 'UPSTREAM_UNAVAILABLE' }],
  [
    'absent',
    {
      token: 'demo-alice',
      document: parse(`{ book(id: "27025715") { id tags { name list: collections(first: 2) { ${list} } } } }`),
      shows: null,
    },
  ],
  [
    'empty',
    {
      token: 'demo-alice',
      document: parse(`{ list: searchBooks(query: "zzqqxx", first: 3) { ${list} } }`),
      shows: empty,
    },
  ],
];

/** The lists of the data, wherever they are. */
function listsIn(data: unknown): unknown[] {
  const found: unknown[] = [];
  JSON.stringify(data, (name, value: unknown) => {
    if (name === 'list') found.push(value);
    return name === '__typename' ? undefined : value;
  });
  return found.map(
    (each) =>
      JSON.parse(
        JSON.stringify(each, (name, value: unknown) => (name === '__typename' ? undefined : value)),
      ) as unknown,
  );
}

describe.each(Object.entries(clients))('a page of %s', (name, connect) => {
  test.each(cases)(
    'shows a list that is %s as the server says, also from the cache',
    async (_, { token, document, shows, code }) => {
      const page = connect(token);
      const first = await render((show) => page(document, show));
      expect(new Set(listsIn(first.data).map((each) => JSON.stringify(each)))).toEqual(
        new Set([JSON.stringify(shows)]),
      );
      expect(first.codes).toEqual(code ? [code] : []);
      const again = await render((show) => page(document, show));
      expect(again.data).toEqual(first.data);
      // The cache of Apollo Client keeps no errors; urql asks again.
      expect(again.codes).toEqual(code && name === 'urql' ? [code] : []);
    },
  );

  test('sends no Authorization header without a user', async () => {
    const sent = vi.spyOn(globalThis, 'fetch');
    const page = connect();
    const { data } = await render((show) => page(parse('{ book(id: "6082808") { id title } }'), show));
    expect(data).toMatchObject({ book: { title: '百年孤独' } });
    expect(sent.mock.calls.map(([, init]) => new Headers(init?.headers).has('authorization'))).toEqual([false]);
    sent.mockRestore();
  });
});

/** What React shows of lists that were refused, failed, are absent or empty, at the first read and from the cache. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ApolloProvider, useQuery as useApollo } from '@apollo/client/react';
import type { DocumentNode } from 'graphql';
import { parse } from 'graphql';
import { Component, Suspense, createElement as element } from 'react';
import type { FunctionComponent, ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import hooks from 'react-relay';
import relay from 'relay-runtime';
import type { GraphQLResponse, GraphQLTaggedNode } from 'relay-runtime';
import { Provider, useQuery as useUrql } from 'urql';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { frontEnd, run } from '../frontend/front-end.ts';
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

/** How a query of Relay may treat a failed list, and what React then has at each read. */
const treatments: Record<string, { directive: string; does: string; shows: object }> = {
  Throwing: { directive: '@throwOnFieldError', does: 'throws', shows: { hasThrown: true } },
  Catching: {
    directive: '@catch',
    does: 'has the error in its data',
    shows: { data: { ok: false, errors: [{ extensions: { code: 'UPSTREAM_UNAVAILABLE' } }] } },
  },
  Plain: { directive: '', does: 'has null', shows: { data: { book: { title: '永恒的边缘', annotations: null } } } },
};

describe('a page of Relay', async () => {
  const folder = frontEnd('relay', 'catalog-graphql-client');
  const queries = Object.entries(treatments).map(([name, { directive }]) => {
    const list = 'annotations(first: 6) { edges { node { id } } }';
    return `graphql\`query lists${name}Query ${directive} { book(id: "27025715") { title ${list} } }\`;`;
  });
  writeFileSync(join(folder, 'src/lists.ts'), ["import { graphql } from 'relay-runtime';", ...queries].join('\n'));
  const compiled = await run(folder, ['relay-compiler']);

  test.each(Object.entries(treatments).map(([name, each]) => ({ name, ...each })))(
    'with the directive $directive: $does for a failed list, also from the store',
    async ({ name, shows }) => {
      expect(compiled).toMatchObject({ code: 0 });
      const artifact = join(folder, `src/__generated__/lists${name}Query.graphql.ts`);
      const query = ((await import(pathToFileURL(artifact).href)) as { default: GraphQLTaggedNode }).default;
      let requests = 0;
      const network = relay.Network.create(async ({ text }, variables) => {
        requests++;
        const headers = { 'content-type': 'application/json', authorization: 'Bearer demo-alice' };
        const body = JSON.stringify({ query: text, variables });
        return (await (await fetch(uri, { method: 'POST', headers, body })).json()) as GraphQLResponse;
      });
      const environment = new relay.Environment({ network, store: new relay.Store(new relay.RecordSource()) });
      for (let read = 0; read < 2; read++) expect(await renderRelay(environment, query)).toMatchObject(shows);
      expect(requests).toBe(1);
    },
  );
});

class Boundary extends Component<{ children: ReactNode; show: () => void }> {
  override state = { hasFailed: false };
  static getDerivedStateFromError = () => ({ hasFailed: true });
  override componentDidCatch(): void {
    this.props.show();
  }
  override render(): ReactNode {
    return this.state.hasFailed ? null : this.props.children;
  }
}

/** The data of a page, or whether it threw. */
async function renderRelay(
  environment: InstanceType<typeof relay.Environment>,
  query: GraphQLTaggedNode,
): Promise<object> {
  let shown: object | undefined;
  const Page = () => {
    shown = { data: hooks.useLazyLoadQuery(query, {}) };
    return null;
  };
  const show = () => (shown = { hasThrown: true });
  const root = createRoot(window.document.createElement('div'), { onCaughtError: () => undefined });
  const page = element(Boundary, { show, children: element(Suspense, null, element(Page)) });
  root.render(element(hooks.RelayEnvironmentProvider, { environment, children: page }));
  await vi.waitFor(() => expect(shown).toBeDefined(), { timeout: 15_000 });
  root.unmount();
  return shown!;
}

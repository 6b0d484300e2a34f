/** What React shows of lists and single fields that were refused, failed, are absent or empty, at the first read and from the cache. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ApolloProvider, useQuery as useApollo } from '@apollo/client/react';
import type { DocumentNode } from 'graphql';
import { parse } from 'graphql';
import { Component, Suspense, createElement as element } from 'react';
import type { FunctionComponent, ReactNode } from 'react';
import hooks from 'react-relay';
import relay from 'relay-runtime';
import type { GraphQLResponse, GraphQLTaggedNode } from 'relay-runtime';
import { Provider, useQuery as useUrql } from 'urql';
import { describe, expect, test, vi } from 'vitest';
import { frontEnd, run } from '../frontend/front-end.ts';
import { journey } from '../support/journey.ts';
import { apolloClient } from './apollo.ts';
import { reactPage } from './react-page.ts';
import { urqlClient } from './urql.ts';
import { afterUse } from '../support/hooks.ts';

const { window, createRoot } = await reactPage();

/** The upstream requests that fail. */
const failing = ['/v2/book/27025715/annotations', '/people/carol', '/event/24700001'];
/** Fails from a moment of a test on. */
let failingNow: string | undefined;
const { facade } = await journey({}, (path) =>
  [...failing, failingNow].some((each) => each !== undefined && path.startsWith(each)) ? 500 : undefined,
);
const uri = `${facade.url}/graphql`;

interface Shown {
  data: unknown;
  codes: unknown[];
  isLoading: boolean;
  /** Loads the page after the cursor; the codes of its errors. */
  more: (after: string) => Promise<unknown[]>;
}

/** What a page of each client shows; `page` is the same client at each read. */
const clients: Record<
  string,
  (token?: string) => (document: DocumentNode, show: (shown: Shown) => void) => FunctionComponent
> = {
  'Apollo Client': (token) => {
    const client = apolloClient(uri, token);
    afterUse(() => client.stop());
    return (document, show) => {
      const Page = () => {
        const { data, error, loading, fetchMore } = useApollo(document);
        const codesOf = (each: unknown) => codes((each as { errors?: Coded[] } | undefined)?.errors);
        const more = (after: string) => fetchMore({ variables: { after } }).then(() => [], codesOf);
        show({ data, codes: codesOf(error), isLoading: loading, more });
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
        const codesOf = (each: typeof error) => codes(each?.graphQLErrors as unknown as Coded[] | undefined);
        const more = async (after: string) => codesOf((await client.query(document, { after }).toPromise()).error);
        show({ data, codes: codesOf(error), isLoading: fetching || stale, more });
        return null;
      };
      return () => element(Provider, { value: client, children: element(Page) });
    };
  },
};

interface Coded {
  extensions: { code: string };
}

const codes = (errors: Coded[] = []): unknown[] => errors.map(({ extensions }) => extensions.code);

/** Renders a page until nothing is loading any more, and what it shows then. `use` uses it before it goes. */
async function render(
  page: (show: (shown: Shown) => void) => FunctionComponent,
  use?: (shown: () => Shown) => Promise<void>,
): Promise<Shown> {
  let last: Shown | undefined;
  const root = createRoot(window.document.createElement('div'));
  root.render(element(page((shown) => (last = shown))));
  await vi.waitFor(() => expect(last?.isLoading).toBe(false), { timeout: 15_000 });
  await use?.(() => last!);
  root.unmount();
  return last!;
}

const list = 'edges { node { id } } pageInfo { hasNextPage endCursor }';
const empty = { edges: [], pageInfo: { hasNextPage: false, endCursor: null } };
/** What is read is `value` in the document. With a code it is null beside an error. */
type Case = { text: string; shows: unknown; token?: string; code?: string };
const cases: Record<string, Case> = {
  'a refused list': {
    token: 'demo-bob',
    text: `{ subject(id: "1295644") { id title value: photos(first: 6) { ${list} } } }`,
    shows: null,
    code: 'TIER_REQUIRED',
  },
  'a refused field': {
    token: 'demo-bob',
    text: '{ subject(id: "1295644") { id title value: durations } }',
    shows: null,
    code: 'TIER_REQUIRED',
  },
  'a failed list': {
    text: `{ book(id: "27025715") { id title value: annotations(first: 6) { ${list} } } }`,
    shows: null,
    code: 'UPSTREAM_UNAVAILABLE',
  },
  'a failed field': { text: '{ user(id: "carol") { id value: name } }', shows: null, code: 'UPSTREAM_UNAVAILABLE' },
  'a failed object': {
    text: '{ value: event(id: "24700001") { id title } }',
    shows: null,
    code: 'UPSTREAM_UNAVAILABLE',
  },
  'an absent list': {
    text: `{ value: searchEvents(cityId: "nowhere", first: 2) { ${list} } }`,
    shows: null,
  },
  'an absent field': { text: '{ book(id: "6082808") { id title value: subtitle } }', shows: null },
  'an absent record': { text: '{ value: book(id: "99999") { id title } }', shows: null },
  'an empty list': { text: `{ value: searchBooks(query: "zzqqxx", first: 3) { ${list} } }`, shows: empty },
  'an empty field': { text: '{ book(id: "3712873") { id title value: translators } }', shows: [] },
};
const reader = 'demo-alice';

/** Each `value` of the data, once, without type names. Where all that a query reads failed, urql has no data. */
function valuesIn(data: unknown): unknown[] {
  if (data === undefined || data === null) return [null];
  const found = new Map<string, unknown>();
  JSON.stringify(data, (name, value: unknown) => {
    if (name === 'value') {
      const text = JSON.stringify(value, (key, each: unknown) => (key === '__typename' ? undefined : each));
      found.set(text, JSON.parse(text));
    }
    return value;
  });
  return [...found.values()];
}

describe.each(Object.entries(clients))('a page of %s', (name, connect) => {
  test.each(Object.entries(cases))(
    'shows %s as the server says, also from the cache',
    async (_, { text, shows, token = reader, code }) => {
      const page = connect(token);
      const document = parse(text);
      const first = await render((show) => page(document, show));
      expect({ values: valuesIn(first.data), codes: first.codes }).toEqual({
        values: [shows],
        codes: code ? [code] : [],
      });
      const again = await render((show) => page(document, show));
      expect(again.data).toEqual(first.data);
      // The cache of Apollo Client keeps no errors; urql asks again.
      expect(again.codes).toEqual(code && name === 'urql' ? [code] : []);
    },
  );

  test('shows a further page when it is loaded, and keeps the list when a further page fails', async () => {
    const document = parse(`query ($after: String) {
      book(id: "6082808") { id list: annotations(first: 4, after: $after) { edges { cursor node { id } } pageInfo { hasNextPage endCursor } } }
    }`);
    const listIn = ({ data }: Shown) =>
      (data as { book: { list: { edges: unknown[]; pageInfo: { endCursor: string } } } }).book.list;
    const page = connect(reader);
    const shown = await render(
      (show) => page(document, show),
      async (now) => {
        expect(await now().more(listIn(now()).pageInfo.endCursor)).toEqual([]);
        await vi.waitFor(() => expect(listIn(now()).edges).toHaveLength(8), { timeout: 15_000 });
        failingNow = '/v2/book/6082808/annotations';
        expect(await now().more(listIn(now()).pageInfo.endCursor)).toEqual(['UPSTREAM_UNAVAILABLE']);
        failingNow = undefined;
      },
    );
    expect([listIn(shown).edges.length, shown.codes]).toEqual([8, []]);
    const again = await render((show) => page(document, show));
    expect(again.data).toEqual(shown.data);
    await render(
      (show) => page(document, show),
      async (now) => {
        expect(await now().more(listIn(now()).pageInfo.endCursor)).toEqual([]);
        await vi.waitFor(() => expect(listIn(now()).edges).toHaveLength(12), { timeout: 15_000 });
      },
    );
  });

  test('sends no Authorization header without a user', async () => {
    const sent = vi.spyOn(globalThis, 'fetch');
    const page = connect();
    const { data } = await render((show) => page(parse('{ book(id: "6082808") { id title } }'), show));
    expect(data).toMatchObject({ book: { title: '百年孤独' } });
    expect(sent.mock.calls.map(([, init]) => new Headers(init?.headers).has('authorization'))).toEqual([false]);
    sent.mockRestore();
  });
});

/** How a query of Relay may treat a failed field, and what React then has at each read. */
const treatments: Record<string, { directive: string; shows: (each: Case) => object }> = {
  Throwing: {
    directive: '@throwOnFieldError',
    shows: ({ code, shows }) => (code ? { hasThrown: true } : { values: [shows] }),
  },
  Catching: {
    directive: '@catch',
    shows: ({ code, shows }) =>
      code ? { data: { ok: false, errors: [{ extensions: { code } }] } } : { data: { ok: true }, values: [shows] },
  },
  Plain: { directive: '', shows: ({ shows }) => ({ values: [shows] }) },
};

describe('a page of Relay', async () => {
  const folder = frontEnd('relay', 'catalog-graphql-client');
  const pages = Object.entries(treatments).flatMap(([treatment, { directive, shows }]) =>
    Object.entries(cases).map(([what, each], at) => {
      const name = `lists${treatment}${at}Query`;
      return { name, directive, what, each, shows: shows(each), text: `query ${name} ${directive} ${each.text}` };
    }),
  );
  const queries = pages.map(({ text }) => `graphql\`${text}\`;`);
  writeFileSync(join(folder, 'src/lists.ts'), ["import { graphql } from 'relay-runtime';", ...queries].join('\n'));
  const compiled = await run(folder, ['relay-compiler']);

  test.each(pages)('with the directive "$directive" has $what, also from the store', async ({ name, each, shows }) => {
    expect(compiled).toMatchObject({ code: 0 });
    const artifact = join(folder, `src/__generated__/${name}.graphql.ts`);
    const query = ((await import(pathToFileURL(artifact).href)) as { default: GraphQLTaggedNode }).default;
    let requests = 0;
    const network = relay.Network.create(async ({ text }, variables) => {
      requests++;
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${each.token ?? reader}` };
      const body = JSON.stringify({ query: text, variables });
      return (await (await fetch(uri, { method: 'POST', headers, body })).json()) as GraphQLResponse;
    });
    const environment = new relay.Environment({ network, store: new relay.Store(new relay.RecordSource()) });
    for (let read = 0; read < 2; read++) expect(await renderRelay(environment, query)).toMatchObject(shows);
    expect(requests).toBe(1);
  });
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
    const data = hooks.useLazyLoadQuery(query, {}) as { ok?: boolean; value?: unknown };
    // @catch puts the data below `value`.
    shown = { data, values: valuesIn(data.ok === true ? data.value : data) };
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

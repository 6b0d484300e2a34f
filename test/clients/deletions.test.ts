/** What a mutation deleted is gone from the lists that a store has, without a line of the program. */
import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import { Client, fetchExchange, gql } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import { type DocumentNode, parse } from 'graphql';
import relay from 'relay-runtime';
import type { ConcreteRequest, GraphQLResponse } from 'relay-runtime';
import { expect, test, vi } from 'vitest';
import { cacheOptions as apolloOptions } from '../../client/src/apollo.ts';
import { cacheOptions as urqlOptions } from '../../client/src/urql.ts';
import { journey } from '../support/journey.ts';
import { relayRequest } from './relay-request.ts';

const here = await journey();
const uri = `${here.facade.url}/graphql`;
const token = 'demo-alice';
const headers = { authorization: `Bearer ${token}` };

const page = parse(
  '{ user(id: "1000001") { id __typename notes(first: 5) { __typename edges { __typename node { id __typename title } } nodes { id __typename } } } }',
);
const removal = parse('mutation Remove($id: ID!) { deleteNote(input: { id: $id }) { __typename deletedId } }');

interface Page {
  user: { notes: { edges: { node: { id: string } | null }[]; nodes: ({ id: string } | null)[] } };
}
interface Store {
  load: () => Promise<unknown>;
  remove: (id: string) => Promise<unknown>;
  /** What the store has of the page now, or comes to have. */
  shown: () => unknown;
}

const stores: Record<string, () => Store> = {
  'Apollo Client': () => {
    const client = new ApolloClient({
      link: new HttpLink({ uri, headers }),
      cache: new InMemoryCache(apolloOptions()),
    });
    return {
      load: () => client.query({ query: page }),
      remove: (id) => client.mutate({ mutation: removal, variables: { id } }),
      shown: () => client.readQuery({ query: page }),
    };
  },
  urql: () => {
    const exchanges = [cacheExchange(urqlOptions()), fetchExchange];
    const client = new Client({ url: uri, exchanges, preferGetMethod: false, fetchOptions: { headers } });
    let shown: unknown;
    return {
      load: () => {
        client.query(page, {}).subscribe(({ data }) => (shown = data ?? shown));
        return vi.waitFor(() => expect(shown).toBeDefined(), { timeout: 15_000 });
      },
      remove: (id) => client.mutation(removal, { id }).toPromise(),
      shown: () => shown,
    };
  },
  Relay: () => {
    const network = relay.Network.create(async ({ text }, variables) => {
      const body = JSON.stringify({ query: text, variables });
      const init = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body };
      return (await (await fetch(uri, init)).json()) as GraphQLResponse;
    });
    const environment = new relay.Environment({ network, store: new relay.Store(new relay.RecordSource()) });
    const run = (document: DocumentNode, variables: object) =>
      relay.createOperationDescriptor(relayRequest(document), variables);
    const query = run(page, {});
    return {
      async load() {
        await relay.fetchQuery(environment, query.request.node, {}).toPromise();
        environment.retain(query);
      },
      remove: (id) =>
        new Promise((onCompleted, onError) => {
          const mutation = withDirective(relayRequest(removal));
          relay.commitMutation(environment, { mutation, variables: { id }, onCompleted, onError });
        }),
      shown: () => environment.lookup(query.fragment).data,
    };
  },
};

/** The request with `deletedId @deleteRecord`, as the compiler of Relay writes it. */
function withDirective(request: ConcreteRequest): ConcreteRequest {
  const [payload] = request.operation.selections as unknown as [{ selections: object[] }];
  const handle = { kind: 'ScalarHandle', alias: null, args: null, filters: null, name: 'deletedId', key: '' };
  const selections = [...payload.selections, { ...handle, handle: 'deleteRecord', handleArgs: null }];
  return { ...request, operation: { ...request.operation, selections: [{ ...payload, selections }] } } as never;
}

test.each(Object.entries(stores))('with %s a page does not show a note that was deleted', async (_, open) => {
  const created = await here.execute('mutation { createNote(input: { title: "一", content: "二" }) { note { id } } }', {
    token,
  });
  const { id } = created.data.createNote.note as { id: string };
  const { load, remove, shown } = open();
  const ids = () => {
    const { edges, nodes } = (shown() as Page).user.notes;
    return [edges.flatMap(({ node }) => node?.id ?? []), nodes.flatMap((node) => node?.id ?? [])];
  };
  await load();
  const before = ids();
  expect(before.map(([first]) => first)).toEqual([id, id]);
  await remove(id);
  expect(ids()).toEqual(before.map((list) => list.slice(1)));
});

test.each([
  ['deleteNote', 'deletedId'],
  ['gone', 'was'],
])('with urql the result of a deletion is the payload, under the names %s and %s', async (gone, was) => {
  const created = await here.execute('mutation { createNote(input: { title: "一", content: "二" }) { note { id } } }', {
    token,
  });
  const { id } = created.data.createNote.note as { id: string };
  const exchanges = [cacheExchange(urqlOptions()), fetchExchange];
  const client = new Client({ url: uri, exchanges, preferGetMethod: false, fetchOptions: { headers } });
  const document = gql(`mutation Remove($id: ID!) { ${gone}: deleteNote(input: { id: $id }) { ${was}: deletedId } }`);
  const { data } = await client.mutation(document, { id }).toPromise();
  expect(data).toEqual({ [gone]: { [was]: id } });
});

test('with urql the loaded pages of a list stay, without another request, and are loaded again as usual', async () => {
  const send = vi.fn<typeof fetch>((...args) => fetch(...args));
  const exchanges = [cacheExchange(urqlOptions()), fetchExchange];
  const client = new Client({ url: uri, exchanges, preferGetMethod: false, fetch: send, fetchOptions: { headers } });
  const paged = parse(
    'query Paged($after: String) { user(id: "1000001") { id notes(first: 2, after: $after) { edges { node { id } } pageInfo { endCursor } } } }',
  );
  type Paged = { user: { notes: { edges: { node: { id: string } }[]; pageInfo: { endCursor: string } } } };
  const shown: Paged[] = [];
  client.query<Paged>(paged, {}).subscribe(({ data }) => data && shown.push(data));
  await vi.waitFor(() => expect(shown).toHaveLength(1), { timeout: 15_000 });
  await client.query(paged, { after: shown[0]!.user.notes.pageInfo.endCursor }).toPromise();
  const ids = () => shown.at(-1)!.user.notes.edges.map(({ node }) => node.id);
  const before = ids();
  expect(before).toHaveLength(4);

  for (const id of [before[1], before[2]]) await client.mutation(removal, { id }).toPromise();
  expect(ids()).toEqual([before[0], before[3]]);
  expect(send).toHaveBeenCalledTimes(4);

  await client.query(paged, {}, { requestPolicy: 'network-only' }).toPromise();
  expect(ids().slice(0, 2)).toEqual([before[0], before[3]]);
});

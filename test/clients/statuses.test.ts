import { ApolloClient, CombinedGraphQLErrors, HttpLink, InMemoryCache, gql } from '@apollo/client';
import { Client, fetchExchange } from '@urql/core';
import { ClientError, GraphQLClient } from 'graphql-request';
import relay from 'relay-runtime';
import type { ConcreteRequest, GraphQLResponse } from 'relay-runtime';
import { describe, expect, test } from 'vitest';
import { startFacade } from '../support/start-facade.ts';

/** A field with an error: data and errors. */
const partial = '{ __typename book(id: "no id") { title } }';
const invalid = '{ nothing }';
const accept = 'application/graphql-response+json, application/json;q=0.9';

/** What a client tells the page: the data if it gives any, and the code of the first error. */
type Told = { data: unknown; code: unknown };
const DATA = { __typename: 'Query', book: null };

/** Asks by each client, which may send what headers it likes. */
const clients: Record<string, (url: string, query: string, fetch: typeof globalThis.fetch) => Promise<Told>> = {
  'Apollo Client': async (uri, query, fetch) => {
    const client = new ApolloClient({ link: new HttpLink({ uri, fetch }), cache: new InMemoryCache() });
    const { data, error } = await client.query({ query: gql(query), errorPolicy: 'all' });
    client.stop();
    return { data: data ?? undefined, code: CombinedGraphQLErrors.is(error) && error.errors[0]!.extensions!.code };
  },
  urql: async (url, query, fetch) => {
    const client = new Client({ url, fetch, preferGetMethod: false, exchanges: [fetchExchange] });
    const { data, error } = (await client.query(query, {})) as { data: unknown; error?: { graphQLErrors: Coded[] } };
    return { data: data ?? undefined, code: error?.graphQLErrors[0]?.extensions.code };
  },
  'graphql-request': async (url, query, fetch) => {
    const client = new GraphQLClient(url, { fetch, errorPolicy: 'all', headers: { accept } });
    try {
      const { data, errors } = (await client.rawRequest(query)) as { data: unknown; errors?: Coded[] };
      return { data: data ?? undefined, code: errors?.[0]?.extensions.code };
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      const { data, errors } = error.response as unknown as { data?: unknown; errors?: Coded[] };
      return { data: data ?? undefined, code: errors?.[0]?.extensions.code };
    }
  },
  Relay: async (url, query, fetch) => {
    let code: unknown;
    // Relay reads no status: its network layer is a function of the page, as its documentation has it.
    const network = relay.Network.create(async ({ text }) => {
      const headers = { 'content-type': 'application/json', accept };
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query: text }) });
      const result = (await response.json()) as GraphQLResponse & { errors?: Coded[] };
      code = result.errors?.[0]?.extensions.code;
      return result;
    });
    const environment = new relay.Environment({ network, store: new relay.Store(new relay.RecordSource()) });
    const operation = relay.createOperationDescriptor(requestOf(query), {});
    const data = await new Promise((resolve) =>
      environment.execute({ operation }).subscribe({
        next: () => resolve(environment.lookup(operation.fragment).data),
        error: () => resolve(undefined),
      }),
    );
    return { data, code };
  },
};

interface Coded {
  extensions: { code: string };
}

/** As the compiler of Relay would write it. */
function requestOf(text: string): ConcreteRequest {
  const typename = { kind: 'ScalarField', alias: null, args: null, name: '__typename', storageKey: null };
  const title = { ...typename, name: 'title' };
  const args = [{ kind: 'Literal', name: 'id', value: 'no id' }];
  const book = { kind: 'LinkedField', alias: null, args, concreteType: 'Book', name: 'book', plural: false };
  const selections = [typename, { ...book, selections: [title], storageKey: 'book(id:"no id")' }];
  const fragment = { kind: 'Fragment', argumentDefinitions: [], metadata: null, name: 'Q', type: 'Query', selections };
  const operation = { kind: 'Operation', argumentDefinitions: [], name: 'Q', selections };
  const params = { id: null, cacheID: text, metadata: {}, name: 'Q', operationKind: 'query', text };
  return { kind: 'Request', fragment, operation, params } as unknown as ConcreteRequest;
}

describe.each(['2025', '2026'])('with HTTP_STATUSES=%s', async (httpStatuses) => {
  const { url } = await startFacade({ httpStatuses });

  describe.each(Object.entries(clients))('%s', (name, ask) => {
    const statuses: number[] = [];
    const watched: typeof fetch = async (to, init) => {
      const response = await fetch(to, init);
      statuses.push(response.status);
      return response;
    };

    test('reads data and errors of a partial success', async () => {
      expect(await ask(url, partial, watched)).toEqual({ data: DATA, code: 'BAD_USER_INPUT' });
      expect(statuses.pop()).toBe(httpStatuses === '2026' ? 294 : 200);
    });

    test('reads the error of a document that is not executed', async () => {
      expect(await ask(url, invalid, watched)).toEqual({ data: undefined, code: 'GRAPHQL_VALIDATION_FAILED' });
      expect(statuses.pop(), name).toBe(httpStatuses === '2026' ? 422 : 400);
    });
  });
});

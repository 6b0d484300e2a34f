import { ApolloClient, ApolloLink, HttpLink, InMemoryCache, type TypePolicies } from '@apollo/client';
import { Defer20220824Handler } from '@apollo/client/incremental';
import { relayStylePagination } from '@apollo/client/utilities';
import UploadHttpLink from 'apollo-upload-client/UploadHttpLink.mjs';
import { connections, possibleTypes, valueTypes } from '../../src/operations.ts';

export function apolloClient(uri: string, token: string) {
  const headers = { authorization: `Bearer ${token}` };
  // The upload link does not read answers that come in pieces: so it is for mutations alone.
  const link = ApolloLink.split(
    ({ operationType }) => operationType === 'mutation',
    new UploadHttpLink({ uri, headers: { ...headers, 'apollo-require-preflight': 'true' } }),
    new HttpLink({ uri, headers }),
  );
  return new ApolloClient({
    link,
    cache: new InMemoryCache({ possibleTypes, typePolicies: typePolicies() }),
    incrementalHandler: new Defer20220824Handler(),
  });
}

function typePolicies(): TypePolicies {
  const policies: TypePolicies = {};
  // What has no id is merged inside of its owner, or a page that asks for less of it would take from another.
  for (const type of valueTypes) policies[type] = { merge: true };
  for (const [type, lists] of Object.entries(connections)) {
    const fields = Object.entries(lists).map(([field, keys]) => [field, relayStylePagination(keys)]);
    policies[type] = { fields: Object.fromEntries(fields) };
  }
  return policies;
}

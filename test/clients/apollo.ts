import { ApolloClient, ApolloLink, HttpLink, InMemoryCache, type TypePolicies } from '@apollo/client';
import { Defer20220824Handler } from '@apollo/client/incremental';
import { relayStylePagination } from '@apollo/client/utilities';
import UploadHttpLink from 'apollo-upload-client/UploadHttpLink.mjs';
import { connections, possibleTypes, valueTypes } from '../../generated/operations.ts';

export function apolloClient(uri: string, token: string) {
  const headers = { authorization: `Bearer ${token}` };
  // The upload link cannot read incremental delivery: use it for mutations only.
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
  // Types without an id are merged into their parent: otherwise a page with fewer fields would remove those of another.
  for (const type of valueTypes) policies[type] = { merge: true };
  for (const [type, lists] of Object.entries(connections)) {
    const fields = Object.entries(lists).map(([field, keys]) => [field, relayStylePagination(keys)]);
    policies[type] = { fields: Object.fromEntries(fields) };
  }
  return policies;
}

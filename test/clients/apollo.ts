import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from '@apollo/client';
import { Defer20220824Handler } from '@apollo/client/incremental';
import UploadHttpLink from 'apollo-upload-client/UploadHttpLink.mjs';
import { cacheOptions } from '../../client/src/apollo.ts';

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
    cache: new InMemoryCache(cacheOptions()),
    incrementalHandler: new Defer20220824Handler(),
  });
}

import {
  ApolloClient,
  ApolloLink,
  HttpLink,
  InMemoryCache,
} from '@apollo/client';
import { Defer20220824Handler } from '@apollo/client/incremental';
import UploadHttpLink from 'apollo-upload-client/UploadHttpLink.mjs';
import { cacheOptions } from '../../client/src/apollo.ts';

// Refused and failed fields are null, the rest is shown. Without it, Apollo
// Client drops the whole page for one refused list.
const errorPolicy = 'all';
declare module '@apollo/client' {
  namespace ApolloClient.DeclareDefaultOptions {
    interface WatchQuery {
      errorPolicy?: 'all';
    }
    interface Query {
      errorPolicy?: 'all';
    }
    interface Mutate {
      errorPolicy?: 'all';
    }
  }
}

/** Another user gets another client: the cache has what one user may see. */
export function apolloClient(uri: string, token?: string) {
  const headers: Record<string, string> = token
    ? { authorization: `Bearer ${token}` }
    : {};
  // The upload link cannot read incremental delivery: it is for mutations.
  const link = ApolloLink.split(
    ({ operationType }) => operationType === 'mutation',
    new UploadHttpLink({
      uri,
      headers: { ...headers, 'apollo-require-preflight': 'true' },
    }),
    new HttpLink({ uri, headers }),
  );
  return new ApolloClient({
    link,
    cache: new InMemoryCache(cacheOptions()),
    incrementalHandler: new Defer20220824Handler(),
    defaultOptions: {
      watchQuery: { errorPolicy },
      query: { errorPolicy },
      mutate: { errorPolicy },
    },
  });
}

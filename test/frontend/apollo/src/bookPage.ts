import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { cacheOptions } from 'catalog-graphql-client/apollo';
import { documentId } from 'catalog-graphql-client/trusted';
import { BookDocument, CollectDocument, type CollectMutationVariables } from 'catalog-graphql-client';

const trusted = new PersistedQueryLink({
  generateHash: documentId,
  useGETForHashedQueries: true,
});

const client = new ApolloClient({
  link: trusted.concat(new HttpLink({ uri: '/graphql' })),
  cache: new InMemoryCache(cacheOptions()),
});

export async function headline(id: string): Promise<string> {
  const { data } = await client.query({ query: BookDocument, variables: { id } });
  return `${data?.book?.title} ${data?.book?.rating?.average?.toFixed(1)}`;
}

export async function collect(variables: CollectMutationVariables): Promise<boolean> {
  const { data } = await client.mutate({ mutation: CollectDocument, variables });
  return data?.collectBook?.created ?? false;
}

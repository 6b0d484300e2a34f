import type { ApolloClient } from '@apollo/client';
import { CombinedGraphQLErrors } from '@apollo/client';
import { useQuery } from '@apollo/client/react';
import {
  AnnotateDocument,
  SearchDocument,
  UpdateCollectionDocument,
} from 'catalog-graphql-client';
import { fieldErrors } from 'catalog-graphql-client/errors';

/** Without `edges`, the list was refused or has failed: show `error`. */
export function useSearch(query: string) {
  const { data, error, loading, fetchMore } = useQuery(SearchDocument, {
    variables: { query },
  });
  const { edges, pageInfo } = data?.searchBooks ?? {};
  const after = pageInfo?.hasNextPage ? pageInfo.endCursor : null;
  const more = after && (() => fetchMore({ variables: { after } }));
  return { edges, more, error, loading };
}

/**
 * Writes a public annotation. Returns the messages of the form by fields:
 * { content: 'An annotation must …' }
 */
export async function annotate(
  client: ApolloClient,
  book: string,
  content: string,
): Promise<Record<string, string>> {
  const { error } = await client.mutate({
    mutation: AnnotateDocument,
    variables: { book, content, isPrivate: false },
  });
  if (!error) return {};
  const messages = CombinedGraphQLErrors.is(error)
    ? fieldErrors(error.errors)
    : {};
  // An outage or a missing login is no matter of the form.
  if (Object.keys(messages).length === 0) throw error;
  return messages;
}

/** What others changed since `revision`, and the present revision. */
export interface Conflict {
  current: Record<string, unknown>;
  revision: string;
}

/** `revision`: that of the entry on the screen. */
export async function rate(
  client: ApolloClient,
  book: string,
  rating: number,
  revision: string,
): Promise<Conflict | undefined> {
  const { error } = await client.mutate({
    mutation: UpdateCollectionDocument,
    variables: { book, rating, unchangedSince: revision },
  });
  const errors = CombinedGraphQLErrors.is(error) ? error.errors : [];
  const conflict = errors.find(
    ({ extensions }) => extensions?.code === 'CONFLICT',
  );
  if (error && !conflict) throw error;
  return conflict?.extensions as Conflict | undefined;
}

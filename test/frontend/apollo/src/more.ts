import type { ApolloClient, ObservableQuery } from '@apollo/client';
import { gql } from '@apollo/client';
import { type SearchQuery, WriteNoteDocument } from 'catalog-graphql-client';

/** Rejects if the page fails; the pages before stay. */
export const loadMore = (page: ObservableQuery<SearchQuery>, after: string) =>
  page.fetchMore({ variables: { after } });

const more = gql(`query MorePhotos($id: ID!, $after: String) {
  subject(id: $id) {
    id
    photos(first: 6, after: $after) {
      edges { cursor node { id } }
      pageInfo { hasNextPage endCursor }
    }
  }
}`);
/** Loads more of one list of a page; its own query has `after: $after`. */
export const morePhotos = (client: ApolloClient, id: string, after: string) =>
  client.query({
    query: more,
    variables: { id, after },
    fetchPolicy: 'network-only',
  });

/** Uploads what `<input type="file">` has; `<图片p_1>` is its place. */
export const writeNote = (client: ApolloClient, title: string, file: File) =>
  client.mutate({
    mutation: WriteNoteDocument,
    variables: {
      title,
      content: 'Look: <图片p_1>',
      pictures: [{ number: 1, file }],
    },
  });

const likeNote = gql(`mutation ($id: ID!) {
  likeNote(input: { id: $id }) { note { id likesCount } }
}`);
/** Shown at once, and taken back if it is refused. */
export const like = (
  client: ApolloClient,
  { id, likesCount }: { id: string; likesCount: number },
) => {
  const note = { __typename: 'Note', id, likesCount: likesCount + 1 };
  return client.mutate({
    mutation: likeNote,
    variables: { id },
    optimisticResponse: { likeNote: { __typename: 'LikeNotePayload', note } },
  });
};

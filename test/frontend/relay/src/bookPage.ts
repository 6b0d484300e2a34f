import { graphql } from 'relay-runtime';
import type { bookPageCollectMutation$variables } from './__generated__/bookPageCollectMutation.graphql';
import type { bookPageQuery$data } from './__generated__/bookPageQuery.graphql';
import type { bookPage_talk$data } from './__generated__/bookPage_talk.graphql';

export const page = graphql`
  query bookPageQuery($id: ID!) {
    book(id: $id) {
      title
      rating {
        average
      }
      ...bookPage_talk @defer(label: "talk")
    }
  }
`;

export const talk = graphql`
  fragment bookPage_talk on Book
  @refetchable(queryName: "bookPageTalkQuery")
  @argumentDefinitions(count: { type: "Int", defaultValue: 10 }, cursor: { type: "String" }) {
    annotations(first: $count, after: $cursor, order: RANK) @connection(key: "bookPage_annotations") {
      edges {
        node {
          id
          time
          blocks {
            ... on TextBlock {
              spans {
                text
              }
            }
          }
        }
      }
    }
  }
`;

export const collect = graphql`
  mutation bookPageCollectMutation($input: CollectBookInput!) {
    collectBook(input: $input) {
      book {
        viewerCollection {
          status
        }
      }
    }
  }
`;

export const headline = ({ book }: bookPageQuery$data): string => `${book?.title} ${book?.rating?.average?.toFixed(1)}`;

export const times = ({ annotations }: bookPage_talk$data): string[] =>
  (annotations?.edges ?? []).map(({ node }) => node.time?.slice(0, 10) ?? '');

export const wish: bookPageCollectMutation$variables = { input: { bookId: '1003078', status: 'WISH' } };

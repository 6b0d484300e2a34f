import type { FragmentOf, ResultOf, VariablesOf } from 'gql.tada';
import { readFragment } from 'gql.tada';
import { graphql } from './graphql';

export const talk = graphql(`
  fragment BookPageTalk on Book {
    annotations(first: 10, order: RANK) {
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
`);

export const page = graphql(
  `
    query BookPage($id: ID!) {
      book(id: $id) {
        title
        rating {
          average
        }
        ...BookPageTalk @defer(label: "talk")
      }
    }
  `,
  [talk],
);

export const collect = graphql(`
  mutation Collect($input: CollectBookInput!) {
    collectBook(input: $input) {
      book {
        viewerCollection {
          status
        }
      }
    }
  }
`);

export const headline = ({ book }: ResultOf<typeof page>): string =>
  `${book?.title} ${book?.rating?.average?.toFixed(1)}`;

export const times = (book: FragmentOf<typeof talk>): string[] =>
  (readFragment(talk, book).annotations?.edges ?? []).map(({ node }) => node.time?.slice(0, 10) ?? '');

export const wish: VariablesOf<typeof collect> = { input: { bookId: '1003078', status: 'WISH' } };

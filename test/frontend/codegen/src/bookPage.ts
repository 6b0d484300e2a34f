import { graphql } from './gql';
import { getFragmentData, isFragmentReady } from './gql/fragment-masking';
import type { BookPageQuery, BookPageTalkFragment, CollectMutationVariables } from './gql/graphql';

export const page = graphql(`
  query BookPage($id: ID!) {
    book(id: $id) {
      title
      rating {
        average
      }
      ...BookPageTalk @defer(label: "talk")
    }
  }
`);

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

export const headline = ({ book }: BookPageQuery): string => `${book?.title} ${book?.rating?.average?.toFixed(1)}`;

export const times = ({ annotations }: BookPageTalkFragment): string[] =>
  (annotations?.edges ?? []).map(({ node }) => node.time?.slice(0, 10) ?? '');

/** The deferred fragment, once it has been delivered. */
export const deferred = (book: NonNullable<BookPageQuery['book']>) =>
  isFragmentReady(page, talk, book) ? getFragmentData(talk, book) : undefined;

export const wish: CollectMutationVariables = { input: { bookId: '1003078', status: 'WISH' } };

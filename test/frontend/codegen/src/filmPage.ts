import { graphql } from './gql';
import type { FilmPageQuery } from './gql/graphql';

export const page = graphql(`
  query FilmPage {
    comingSoon(first: 5) {
      nodes {
        title
        genres
        wishCount
        casts {
          name
        }
      }
    }
  }
`);

// The client throws if a field has failed (`nullability.errorHandlingClient`), so fields with @semanticNonNull are never null here.
export const lines = ({ comingSoon }: FilmPageQuery): string[] =>
  comingSoon.nodes.map(
    ({ title, genres, wishCount, casts }) => `${title} ${genres.join()} ${wishCount.toFixed()} ${casts[0]?.name ?? ''}`,
  );

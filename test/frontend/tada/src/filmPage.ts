import type { ResultOf } from 'gql.tada';
import { graphql } from './graphql';

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

// gql.tada ignores @semanticNonNull: every nullable field needs a check.
export const lines = ({ comingSoon }: ResultOf<typeof page>): string[] =>
  (comingSoon?.nodes ?? []).map(
    ({ title, genres, wishCount, casts }) =>
      `${title} ${genres?.join()} ${wishCount?.toFixed()} ${casts?.[0]?.name ?? ''}`,
  );

import { graphql } from 'relay-runtime';
import type { filmPageQuery$data } from './__generated__/filmPageQuery.graphql';

// Reading the data throws if a field has failed, so fields with @semanticNonNull are never null here.
export const page = graphql`
  query filmPageQuery @throwOnFieldError {
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
`;

export const lines = ({ comingSoon }: filmPageQuery$data): string[] =>
  comingSoon.nodes.map(
    ({ title, genres, wishCount, casts }) => `${title} ${genres.join()} ${wishCount.toFixed()} ${casts[0]?.name ?? ''}`,
  );

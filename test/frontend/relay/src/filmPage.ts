import { graphql } from 'relay-runtime';
import type { filmPageQuery$data } from './__generated__/filmPageQuery.graphql';

// A read of the page throws where a field failed, so what is null only beside an error is never null here.
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

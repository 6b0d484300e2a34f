import { graphql } from 'relay-runtime';
import type { filmPageQuery$data } from './__generated__/filmPageQuery.graphql';

// Reading the data throws if a field has failed, so fields with @semanticNonNull are never null here.
export const page = graphql`
  query filmPageQuery($id: ID!) @throwOnFieldError {
    subject(id: $id) {
      title
      genres
      wishCount
      casts {
        name
      }
    }
  }
`;

export const line = ({ subject }: filmPageQuery$data): string =>
  subject
    ? `${subject.title} ${subject.genres.join()} ${subject.wishCount.toFixed()} ${subject.casts[0]?.name ?? ''}`
    : '';

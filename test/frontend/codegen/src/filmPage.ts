import { graphql } from './gql';
import type { FilmPageQuery } from './gql/graphql';

export const page = graphql(`
  query FilmPage($id: ID!) {
    subject(id: $id) {
      title
      genres
      wishCount
      casts {
        name
      }
    }
  }
`);

// The client throws if a field has failed (`nullability.errorHandlingClient`), so fields with @semanticNonNull are never null here.
export const line = ({ subject }: FilmPageQuery): string =>
  subject
    ? `${subject.title} ${subject.genres.join()} ${subject.wishCount.toFixed()} ${subject.casts[0]?.name ?? ''}`
    : '';

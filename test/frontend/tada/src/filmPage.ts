import type { ResultOf } from 'gql.tada';
import { graphql } from './graphql';

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

// gql.tada ignores @semanticNonNull: every nullable field needs a check.
export const line = ({ subject }: ResultOf<typeof page>): string =>
  subject
    ? `${subject.title} ${subject.genres?.join()} ${subject.wishCount?.toFixed()} ${subject.casts?.[0]?.name ?? ''}`
    : '';

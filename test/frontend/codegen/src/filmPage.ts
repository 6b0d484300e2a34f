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

// Apollo Client and urql do not throw at failed fields: every nullable field needs a check.
export const line = ({ subject }: FilmPageQuery): string =>
  subject
    ? `${subject.title} ${subject.genres?.join()} ${subject.wishCount?.toFixed()} ${subject.casts?.[0]?.name ?? ''}`
    : '';

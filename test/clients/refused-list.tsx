import { CombinedGraphQLErrors, gql } from '@apollo/client';
import type { TypedDocumentNode } from '@apollo/client';
import { useLazyQuery, useQuery } from '@apollo/client/react';
import { adviceByCode } from '../../client/src/errors.ts';

interface Film {
  id: string;
  title: string;
  photos: { nodes: { id: string; thumbUrl: string }[] } | null;
}
type Document<Fields> = TypedDocumentNode<
  { subject: Fields | null },
  { id: string }
>;

const list = 'photos(first: 12) { nodes { id thumbUrl } }';
const page: Document<Film> = gql(`query Film($id: ID!) {
  subject(id: $id) { id title ${list} }
}`);
const photos: Document<Pick<Film, 'id' | 'photos'>> = gql(`query ($id: ID!) {
  subject(id: $id) { id ${list} }
}`);

export function FilmPage({ id }: { id: string }) {
  const { data, error } = useQuery(page, { variables: { id } });
  // What it loads comes to the page by the cache.
  const [load, again] = useLazyQuery(photos, { fetchPolicy: 'network-only' });
  const film = data?.subject;
  if (!film) return <p role="status">{error ? error.message : 'Loading…'}</p>;
  return (
    <article>
      <h1>{film.title}</h1>
      {film.photos?.nodes.map((photo) => (
        <img key={photo.id} src={photo.thumbUrl} alt="" />
      ))}
      {!film.photos && (
        <Missing
          code={codeAt('photos', again.error ?? error)}
          again={() => void load({ variables: { id } })}
        />
      )}
    </article>
  );
}

/** Without a code, the null comes from the cache, which keeps no errors. */
function Missing({ code = '', again }: { code?: string; again: () => void }) {
  const advice = adviceByCode[code];
  if (advice === 'hide') return <p>The photos are not available to you.</p>;
  if (advice === 'log-in') return <p>Sign in to see the photos.</p>;
  return (
    <p role="alert">
      The photos could not be loaded. <button onClick={again}>Again</button>
    </p>
  );
}

/** The code of the error at a list of the page. */
function codeAt(list: string, error: unknown) {
  if (!CombinedGraphQLErrors.is(error)) return undefined;
  const found = error.errors.find(({ path }) => path?.includes(list));
  return found?.extensions?.code as string | undefined;
}

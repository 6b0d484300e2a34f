import { useQuery } from '@apollo/client/react';
import { type CollectionStatus, type OnTheShelfFragment, ShelfDocument } from 'catalog-graphql-client';
import { entriesOf, READER } from './shelf.ts';

export const statuses: Record<CollectionStatus, string> = { READING: 'Reading', WISH: 'Want to read', READ: 'Read' };

export function ShelfPage() {
  const { data, error, fetchMore } = useQuery(ShelfDocument, {
    variables: { user: READER },
    fetchPolicy: 'cache-and-network',
  });
  if (!data)
    return (
      <p className="card" role="status">
        {error ? 'The shelf was not loaded before, and there is no connection.' : 'Loading the shelf…'}
      </p>
    );
  const entries = entriesOf(data);
  const next = data.user?.read?.pageInfo;
  return (
    <>
      <h1>{READER}’s shelf</h1>
      {error && (
        <p className="soft" role="status">
          The service does not respond: this is what you saw last.
        </p>
      )}
      {(Object.keys(statuses) as CollectionStatus[]).map((status) => (
        <Section key={status} status={status} entries={entries.filter((entry) => entry.status === status)} />
      ))}
      {next?.hasNextPage && (
        <button onClick={() => void fetchMore({ variables: { after: next.endCursor } }).catch(() => undefined)}>
          Load more
        </button>
      )}
    </>
  );
}

function Section({ status, entries }: { status: CollectionStatus; entries: OnTheShelfFragment[] }) {
  if (entries.length === 0) return null;
  return (
    <section id={status.toLowerCase()} aria-labelledby={`${status}-title`}>
      <h2 id={`${status}-title`}>
        {statuses[status]} <span className="soft">({entries.length})</span>
      </h2>
      <ul className="plain books">
        {entries.map(({ id, book, rating }) => (
          <li key={id}>
            <a className="card" href={`#${book?.id}`}>
              <img className="cover" src={book?.cover?.small ?? '/icon.svg'} alt="" width="64" height="96" />
              <span lang="zh">
                <strong>{book?.title}</strong>
                <span className="soft">{book?.authors.join('、')}</span>
              </span>
              {rating && (
                <span className="stars" role="img" aria-label={`My rating: ${rating.value} of ${rating.max}`}>
                  {'★'.repeat(rating.value)}
                </span>
              )}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

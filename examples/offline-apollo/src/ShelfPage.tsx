import { useQuery } from '@apollo/client/react';
import { type CollectionStatus, type OnTheShelfFragment, ShelfDocument } from 'catalog-graphql-client';
import { useState } from 'react';
import { NoList, NotLoaded, OutageNotice } from './Failure.tsx';
import { entriesOf, READER } from './shelf.ts';

export const statuses: Record<CollectionStatus, string> = { READING: 'Reading', WISH: 'Want to read', READ: 'Read' };

/** The list of each status. */
const lists = { READING: 'reading', WISH: 'wish', READ: 'read' } as const;

export function ShelfPage() {
  const { data, error, fetchMore } = useQuery(ShelfDocument, {
    variables: { user: READER },
    fetchPolicy: 'cache-and-network',
  });
  const [hasFailed, setFailed] = useState(false);
  const loadMore = (after: string | null | undefined) => {
    setFailed(false);
    fetchMore({ variables: { after } }).catch(() => setFailed(true));
  };
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
      <OutageNotice error={error} />
      {(Object.keys(statuses) as CollectionStatus[]).map((status) => (
        <Section
          key={status}
          status={status}
          isMissing={!data.user?.[lists[status]]}
          entries={entries.filter((entry) => entry.status === status)}
        />
      ))}
      {hasFailed && <NotLoaded />}
      {next?.hasNextPage && <button onClick={() => loadMore(next.endCursor)}>Load more</button>}
    </>
  );
}

interface Shown {
  status: CollectionStatus;
  isMissing: boolean;
  entries: OnTheShelfFragment[];
}

function Section({ status, isMissing, entries }: Shown) {
  if (entries.length === 0 && !isMissing) return null;
  return (
    <section id={status.toLowerCase()} aria-labelledby={`${status}-title`}>
      <h2 id={`${status}-title`}>
        {statuses[status]} {!isMissing && <span className="soft">({entries.length})</span>}
      </h2>
      {isMissing && <NoList />}
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

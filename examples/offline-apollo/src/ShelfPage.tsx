import type { CollectionStatus } from 'catalog-graphql-client';
import { useState, useSyncExternalStore } from 'react';
import { device } from './device.ts';
import { NoList } from './Failure.tsx';
import type { Entry } from './offline/shelf-copy.ts';
import { withWrites } from './offline/outbox.ts';
import { READER } from './session.ts';

export const statuses: Record<CollectionStatus, string> = { READING: 'Reading', WISH: 'Want to read', READ: 'Read' };

export function ShelfPage() {
  const { shelf, writes, run } = useSyncExternalStore(device.subscribe, device.read);
  const entries = withWrites(shelf.entries, writes);
  if (entries.length === 0 && !shelf.isWhole)
    return (
      <p className="card" role="status">
        {run.problem ? 'The shelf was not loaded before, and cannot be loaded now.' : 'Loading the shelf…'}
      </p>
    );
  return (
    <>
      <h1>{READER}’s shelf</h1>
      {!shelf.isWhole && (
        <p className="soft" role="status">
          Some of the shelf is not here yet.
        </p>
      )}
      {run.problem === 'offline' && (
        <p className="soft" id="outage" role="status">
          The service does not respond: this is what you saw last.
        </p>
      )}
      {run.problem === 'refused' && <NoList />}
      {run.problem === 'storage' && (
        <p className="soft" role="status">
          This device has no space left: this is what it stored last.
        </p>
      )}
      {shelf.isCut && <p className="soft">The oldest entries are not kept on this device.</p>}
      {(Object.keys(statuses) as CollectionStatus[]).map((status) => (
        <Section key={status} status={status} entries={entries.filter((entry) => entry.status === status)} />
      ))}
    </>
  );
}

const SHOWN = 20;

function Section({ status, entries }: { status: CollectionStatus; entries: Entry[] }) {
  const [shown, setShown] = useState(SHOWN);
  if (entries.length === 0) return null;
  return (
    <section id={status.toLowerCase()} aria-labelledby={`${status}-title`}>
      <h2 id={`${status}-title`}>
        {statuses[status]} <span className="soft">({entries.length})</span>
      </h2>
      <ul className="plain books">
        {entries.slice(0, shown).map(({ id, book, rating, isPrivate }) => (
          <li key={id}>
            <a className="card" href={`#${book?.id}`}>
              <img className="cover" src={book?.cover?.small ?? '/icon.svg'} alt="" width="64" height="96" />
              <span lang="zh">
                <strong>
                  {book?.title} {isPrivate && <Lock />}
                </strong>
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
      {entries.length > shown && <button onClick={() => setShown(shown + SHOWN)}>Show more</button>}
    </section>
  );
}

/** Of an entry that only its reader sees. */
export function Lock() {
  return (
    <svg role="img" aria-label="private: only you see this" viewBox="0 0 16 16" width="0.8em" fill="currentColor">
      <path d="M8 1a4 4 0 0 0-4 4v2H3v8h10V7h-1V5a4 4 0 0 0-4-4m-2 6V5a2 2 0 0 1 4 0v2z" />
    </svg>
  );
}

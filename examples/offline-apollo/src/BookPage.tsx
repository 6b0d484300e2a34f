import { useApolloClient, useQuery } from '@apollo/client/react';
import { BookDocument, type BookQuery, type CollectionStatus } from 'catalog-graphql-client';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { inWords, loadByRest, type Traffic, trafficOf } from '../../shared/traffic.ts';
import { keepPage } from './client.ts';
import { device } from './device.ts';
import { NoList, OutageNotice } from './Failure.tsx';
import { type Change, withWrites, writeFor } from './offline/outbox.ts';
import { token } from './session.ts';
import { Lock, statuses } from './ShelfPage.tsx';

export function BookPage({ id }: { id: string }) {
  const client = useApolloClient();
  const [since] = useState(() => performance.now());
  useEffect(() => keepPage(client, id), [client, id]);
  const { data, error, loading } = useQuery(BookDocument, { variables: { id }, fetchPolicy: 'cache-and-network' });
  if (!data)
    return (
      <p className="card" role="status">
        {error ? 'This book was not opened before, and there is no connection.' : 'Loading the book…'}
      </p>
    );
  const { book } = data;
  if (!book)
    return (
      <p className="card" role="status">
        {error ? 'The book could not be loaded.' : loading ? 'Loading the book…' : 'There is no such book.'}
      </p>
    );
  return (
    <article>
      <OutageNotice error={error} />
      <section className="card head">
        <img className="cover" src={book.cover?.medium ?? '/icon.svg'} alt="" width="110" height="165" />
        <div>
          <h1 lang="zh">{book.title}</h1>
          <p className="soft" lang="zh">
            {[...book.authors, book.publisher, book.publishedOn].filter(Boolean).join(' · ')}
          </p>
          {book.rating?.average != null && <p>{book.rating.average.toFixed(1)} of 10</p>}
        </div>
      </section>
      <Entry book={book} />
      <section className="card">
        <h2>About the book</h2>
        <p lang="zh">{book.summary}</p>
      </section>
      {book.series && (
        <section className="card">
          <h2>
            Series: <span lang="zh">{book.series.title}</span>
          </h2>
          {!book.series.books && <NoList />}
          <ul className="plain" lang="zh">
            {book.series.books?.nodes.map((each) => (
              <li key={each.id}>
                <a href={`#${each.id}`} aria-current={each.id === book.id ? 'page' : undefined}>
                  {each.title}
                </a>
              </li>
            ))}
          </ul>
        </section>
      )}
      <section className="card">
        <h2>
          Annotations{' '}
          {book.annotations?.totalCount != null && <span className="soft">({book.annotations.totalCount})</span>}
        </h2>
        {!book.annotations && <NoList />}
        <ul className="plain notes" lang="zh">
          {book.annotations?.nodes.map((each) => (
            <li key={each.id}>
              <p className="soft">{each.author?.name}</p>
              <p>{each.abstract}</p>
            </li>
          ))}
        </ul>
      </section>
      <TrafficPanel book={book.id.replace('Book:', '')} since={since} />
    </article>
  );
}

/** The reader's entry. A change is queued, and shown at once. */
function Entry({ book }: { book: NonNullable<BookQuery['book']> }) {
  const { shelf, writes } = useSyncExternalStore(device.subscribe, device.read);
  const copied = shelf.entries.find((entry) => entry.book?.id === book.id);
  const loaded = book.viewerCollection;
  const last = (copied?.updatedAt ?? '') > (loaded?.updatedAt ?? '') ? copied : loaded;
  const before = last ? { ...last, isPrivate: copied?.isPrivate ?? null, book: shownOf(book) } : undefined;
  const written = writes.filter((write) => write.book.id === book.id);
  const [problem, setProblem] = useState<string>();
  const [entry] = withWrites(before ? [before] : [], written);
  // What was tapped, and nothing else: what other devices write stays, and a private entry stays private.
  const change = (change: Change) => {
    setProblem(undefined);
    device.write(writeFor(shownOf(book), change, before, written)).catch((error: Error) => setProblem(error.message));
  };
  return (
    <section className="card" aria-labelledby="entry">
      <h2 id="entry">On my shelf {entry?.isPrivate && <Lock />}</h2>
      <div className="row" role="group" aria-label="Status">
        {(Object.keys(statuses) as CollectionStatus[]).map((status) => (
          <button key={status} aria-pressed={entry?.status === status} onClick={() => change({ status })}>
            {statuses[status]}
          </button>
        ))}
      </div>
      <div className="row" role="group" aria-label="My rating">
        {[1, 2, 3, 4, 5].map((value) => (
          <button
            key={value}
            className="star"
            aria-label={`${value} of 5`}
            aria-pressed={entry?.rating?.value === value}
            onClick={() => change({ rating: value })}
          >
            {value <= (entry?.rating?.value ?? 0) ? '★' : '☆'}
          </button>
        ))}
      </div>
      {problem && (
        <p className="wrong" id="not-kept" role="alert">
          This change is not kept on the device. {problem}
        </p>
      )}
    </section>
  );
}

/** What the shelf shows of a book. */
const shownOf = ({ id, title, authors, cover }: NonNullable<BookQuery['book']>) => ({
  id,
  title,
  authors,
  cover: cover && { small: cover.medium },
});

/** What this page transferred, beside what the same page transfers by REST. */
function TrafficPanel({ book, since }: { book: string; since: number }) {
  const [measured, setMeasured] = useState<{ graph: Traffic; rest: Traffic }>();
  const measure = async () =>
    setMeasured({ graph: trafficOf('/graphql', since), rest: await loadByRest(book, token()) });
  return (
    <section className="card">
      <h2>What this page transferred</h2>
      {measured ? (
        <dl className="traffic">
          <dt>GraphQL</dt>
          <dd id="graph" data-bytes={measured.graph.bytes}>
            {inWords(measured.graph)}
          </dd>
          <dt>The same by REST</dt>
          <dd id="rest" data-bytes={measured.rest.bytes}>
            {inWords(measured.rest)}
          </dd>
        </dl>
      ) : (
        <button onClick={() => void measure().catch(() => undefined)}>Compare with REST</button>
      )}
    </section>
  );
}

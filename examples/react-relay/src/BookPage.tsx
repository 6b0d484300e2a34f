import { Suspense } from 'react';
import { graphql, useLazyLoadQuery } from 'react-relay';
import type { BookPageQuery } from './__generated__/BookPageQuery.graphql.ts';
import { AnnotationList } from './AnnotationList.tsx';
import { BookHeader } from './BookHeader.tsx';
import { BookSeries } from './BookSeries.tsx';
import { ShelfEditor } from './ShelfEditor.tsx';
import { TrafficPanel } from './TrafficPanel.tsx';

/** One request: the record at once, and the two lists in later parts of the same response. A failed book throws, an absent one is null. */
export function BookPage({ id, since }: { id: string; since: number }) {
  const { book } = useLazyLoadQuery<BookPageQuery>(
    graphql`
      query BookPageQuery($id: ID!) @throwOnFieldError {
        book(id: $id) {
          id
          sourceId
          ...BookHeader_book
          ...ShelfEditor_book
          ...BookSeries_book @defer
          ...AnnotationList_book @defer
        }
      }
    `,
    { id },
  );
  if (!book) return <p className="card">There is no such book.</p>;
  return (
    <div className="page">
      <BookHeader book={book} />
      <ShelfEditor book={book} />
      <Suspense fallback={<p className="card soft">The series is on its way…</p>}>
        <BookSeries book={book} />
      </Suspense>
      <Suspense fallback={<p className="card soft annotations">Annotations are on their way…</p>}>
        <AnnotationList book={book} />
        {/* Inside: it measures when the last part has arrived. */}
        <TrafficPanel book={book.sourceId ?? ''} since={since} />
      </Suspense>
    </div>
  );
}

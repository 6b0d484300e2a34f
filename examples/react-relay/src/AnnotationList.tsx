import { useState } from 'react';
import { graphql, usePaginationFragment } from 'react-relay';
import type { AnnotationList_book$key } from './__generated__/AnnotationList_book.graphql.ts';
import type { AnnotationListPageQuery } from './__generated__/AnnotationListPageQuery.graphql.ts';
import { AnnotationForm } from './AnnotationForm.tsx';

export function AnnotationList({ book }: { book: AnnotationList_book$key }) {
  const { data, loadNext, hasNext, isLoadingNext } = usePaginationFragment<
    AnnotationListPageQuery,
    AnnotationList_book$key
  >(
    graphql`
      fragment AnnotationList_book on Book
      @refetchable(queryName: "AnnotationListPageQuery")
      @argumentDefinitions(count: { type: "Int", defaultValue: 5 }, after: { type: "String" }) {
        id
        annotations(first: $count, after: $after) @connection(key: "AnnotationList_annotations") {
          __id
          totalCount
          edges {
            node {
              id
              page
              chapter
              abstract
              time
              pictures {
                number
                url
              }
              author {
                id
                name
              }
            }
          }
        }
      }
    `,
    book,
  );
  const [isWriting, setWriting] = useState(false);
  const [hasFailed, setFailed] = useState(false);
  const loadMore = () => {
    setFailed(false);
    loadNext(5, { onComplete: (error) => setFailed(error !== null) });
  };
  const list = data.annotations;
  return (
    <section className="card annotations" aria-labelledby="annotations">
      <div className="row between">
        <h2 id="annotations">
          Annotations {list?.totalCount != null && <span className="soft">({list.totalCount})</span>}
        </h2>
        {list && !isWriting && <button onClick={() => setWriting(true)}>Write one</button>}
      </div>
      {isWriting && list && <AnnotationForm book={data.id} connection={list.__id} onDone={() => setWriting(false)} />}
      {!list && <p className="soft no-list">The annotations were refused, or could not be loaded.</p>}
      <ul className="plain list">
        {list?.edges.map(({ node }) => (
          <li key={node.id}>
            <p className="soft">
              <span lang="zh">{node.author?.name}</span>
              {node.page != null && `, page ${node.page}`}
              {node.chapter && <span lang="zh">, {node.chapter}</span>}
              {node.time && <time dateTime={node.time}>, {node.time.slice(0, 10)}</time>}
            </p>
            <p lang="zh">{node.abstract}</p>
            <div className="row">
              {node.pictures?.map(
                ({ number, url }) => url && <img key={number} src={url} alt={`Picture ${number}`} width="96" />,
              )}
            </div>
          </li>
        ))}
      </ul>
      {hasFailed && (
        <p className="soft" id="no-more" role="status">
          More could not be loaded. Try again.
        </p>
      )}
      {hasNext && (
        <button disabled={isLoadingNext} onClick={loadMore}>
          {isLoadingNext ? 'Loading…' : 'Load more'}
        </button>
      )}
    </section>
  );
}

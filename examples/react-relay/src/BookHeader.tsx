import { graphql, useFragment } from 'react-relay';
import type { BookHeader_book$key } from './__generated__/BookHeader_book.graphql.ts';

export function BookHeader({ book }: { book: BookHeader_book$key }) {
  const data = useFragment(
    graphql`
      fragment BookHeader_book on Book {
        title
        subtitle
        originalTitle
        authors
        publisher
        publishedOn
        pages
        summary
        cover {
          large
        }
        rating {
          average
          ratersCount
        }
        tags {
          name
        }
      }
    `,
    book,
  );
  const facts = [data.authors.join('、'), data.publisher, data.publishedOn, data.pages && `${data.pages} pages`];
  return (
    <section className="card head">
      {data.cover?.large && <img className="cover" src={data.cover.large} alt="" width="180" height="270" />}
      <div className="words">
        <h1 lang="zh">{data.title}</h1>
        {data.subtitle && <p lang="zh">{data.subtitle}</p>}
        {data.originalTitle && <p className="soft">{data.originalTitle}</p>}
        <p className="soft" lang="zh">
          {facts.filter(Boolean).join(' · ')}
        </p>
        {data.rating?.average != null && (
          <p>
            <span className="stars" aria-hidden="true">
              {'★'.repeat(Math.round(data.rating.average / 2))}
            </span>{' '}
            {data.rating.average.toFixed(1)} of 10, by {data.rating.ratersCount ?? 0} readers
          </p>
        )}
        <p lang="zh">{data.summary}</p>
        <ul className="plain row tags" lang="zh" aria-label="Tags">
          {data.tags?.map(({ name }) => (
            <li key={name}>{name}</li>
          ))}
        </ul>
      </div>
    </section>
  );
}

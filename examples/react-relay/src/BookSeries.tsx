import { graphql, useFragment } from 'react-relay';
import type { BookSeries_book$key } from './__generated__/BookSeries_book.graphql.ts';

export function BookSeries({ book }: { book: BookSeries_book$key }) {
  const { id, series } = useFragment(
    graphql`
      fragment BookSeries_book on Book {
        id
        series {
          title
          books(first: 6) {
            nodes {
              id
              title
              cover {
                small
              }
            }
          }
        }
      }
    `,
    book,
  );
  if (!series) return null;
  return (
    <section className="card series">
      <h2>
        Series: <span lang="zh">{series.title}</span>
      </h2>
      {!series.books && <p className="soft">The books were refused, or could not be loaded.</p>}
      <ul className="plain row" lang="zh">
        {series.books?.nodes.map((each) => (
          <li key={each.id}>
            <a href={`#${each.id}`} aria-current={each.id === id ? 'page' : undefined}>
              {each.cover?.small && <img className="cover" src={each.cover.small} alt="" width="72" height="108" />}
              {each.title}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

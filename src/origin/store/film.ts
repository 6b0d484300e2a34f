import { sql } from 'kysely';
import { type Slice, Store, type StorePage } from './database.ts';
import type { Stored } from './schema.ts';
import { containsTerms } from './text-search.ts';

/** A photo, and those before and after it in its album. */
export type AlbumPhoto = Stored<'film_photos'> & { previous: number | null; next: number | null };

/** Films, celebrities, reviews, comments, and charts. */
export class FilmStore extends Store {
  subject(id: string): Stored<'subjects'> | undefined {
    return this.subjects([id])[0];
  }

  /** In the order of `ids`. */
  subjects(ids: readonly string[]): Stored<'subjects'>[] {
    const rows = this.db.all(this.query.selectFrom('subjects').selectAll().where('id', 'in', ids));
    const byId = new Map(rows.map((row) => [row.id, row]));
    return ids.flatMap((id) => byId.get(id) ?? []);
  }

  credits(ids: readonly string[]): Map<string, Stored<'credits'>[]> {
    const credits = this.query.selectFrom('credits').selectAll().orderBy('position');
    return bySubject(this.db.all(credits.where('subject_id', 'in', ids)));
  }

  /** The number of rows of each film that has any. */
  counts(table: 'film_comments' | 'film_reviews', ids: readonly string[]): Map<string, number> {
    const rows = this.query
      .selectFrom(table)
      .select(['subject_id', (row) => row.fn.countAll<number>().as('total')])
      .where('subject_id', 'in', ids)
      .groupBy('subject_id');
    return new Map(this.db.all(rows).map((row) => [row.subject_id, row.total]));
  }

  /** The first photos of each subject. */
  firstPhotos(ids: readonly string[], most: number): Map<string, Stored<'film_photos'>[]> {
    const ranked = this.query
      .selectFrom('film_photos')
      .selectAll()
      .select(sql<number>`row_number() over (partition by subject_id order by position)`.as('rank'))
      .where('celebrity_id', 'is', null)
      .where('subject_id', 'in', ids);
    const first = this.query.selectFrom(ranked.as('ranked')).selectAll().where('rank', '<=', most);
    return bySubject(this.db.all(first.orderBy('rank')));
  }

  /** The most useful reviews of each subject. */
  firstReviews(ids: readonly string[], most: number): Map<string, Stored<'film_reviews'>[]> {
    const ranked = this.query
      .selectFrom('film_reviews')
      .selectAll()
      .select(sql<number>`row_number() over (partition by subject_id order by useful desc, id)`.as('rank'))
      .where('subject_id', 'in', ids);
    const first = this.query.selectFrom(ranked.as('ranked')).selectAll().where('rank', '<=', most);
    return bySubject(this.db.all(first.orderBy('rank')));
  }

  /** The photos of a film without those in the albums of celebrities. */
  photosOfSubject(id: string, slice: Slice): StorePage<AlbumPhoto> {
    return this.db.page(this.photos().where('subject_id', '=', id).where('celebrity_id', 'is', null), slice);
  }

  photosOfCelebrity(id: string, slice: Slice): StorePage<AlbumPhoto> {
    return this.db.page(this.photos().where('celebrity_id', '=', id), slice);
  }

  private photos() {
    return this.query
      .selectFrom('film_photos')
      .selectAll()
      .select(sql<number | null>`lag(id) over (order by position)`.as('previous'))
      .select(sql<number | null>`lead(id) over (order by position)`.as('next'))
      .orderBy('position');
  }

  reviews(id: string, slice: Slice): StorePage<Stored<'film_reviews'>> {
    const reviews = this.query.selectFrom('film_reviews').selectAll().where('subject_id', '=', id);
    return this.db.page(reviews.orderBy('useful', 'desc').orderBy('id'), slice);
  }

  comments(id: string, slice: Slice): StorePage<Stored<'film_comments'>> {
    const comments = this.query.selectFrom('film_comments').selectAll().where('subject_id', '=', id);
    return this.db.page(comments.orderBy('useful', 'desc').orderBy('id'), slice);
  }

  celebrity(id: string): Stored<'celebrities'> | undefined {
    return this.db.first(this.query.selectFrom('celebrities').selectAll().where('id', '=', id));
  }

  works(id: string, slice: Slice): StorePage<Stored<'works'>> {
    const works = this.query.selectFrom('works').selectAll().where('celebrity_id', '=', id);
    return this.db.page(works.orderBy('position'), slice);
  }

  /** Films that contain every word and have the tag, the most watched first. */
  search(q: string | undefined, tag: string | undefined, slice: Slice): StorePage<Stored<'subjects'>> {
    const tagged = this.query.selectFrom('subject_tags').select('subject_id');
    const found = this.query
      .selectFrom('subjects')
      .selectAll()
      .$if(q !== undefined, (film) => film.where(containsTerms('subjects_fts', 'no', q!)))
      .$if(tag !== undefined, (film) => film.where('id', 'in', tagged.where('name', '=', tag!)));
    return this.db.page(found.orderBy('collect_count', 'desc').orderBy('no'), slice);
  }

  chart(name: string, slice: Slice = { start: 0, count: 1000 }): StorePage<Stored<'charts'>> {
    const chart = this.query.selectFrom('charts').selectAll().where('chart', '=', name);
    return this.db.page(chart.orderBy('position'), slice);
  }
}

function bySubject<Row extends { subject_id: string }>(rows: readonly Row[]): Map<string, Row[]> {
  const grouped = new Map<string, Row[]>();
  for (const row of rows) grouped.set(row.subject_id, [...(grouped.get(row.subject_id) ?? []), row]);
  return grouped;
}

import { type SelectQueryBuilder, type Selectable, sql } from 'kysely';
import type { Slice } from './book.ts';
import type { Database } from './database.ts';
import type { CreditRow, FilmCommentRow, FilmPhotoRow, FilmReviewRow, SubjectRow, Tables } from './schema.ts';
import { searchTerms } from './text-search.ts';

export type StoredSubject = Selectable<SubjectRow>;
export type StoredFilmPhoto = Selectable<FilmPhotoRow>;
export type StoredFilmReview = Selectable<FilmReviewRow>;
export type StoredFilmComment = Selectable<FilmCommentRow>;
export type FilmStore = ReturnType<typeof createFilmStore>;

/** Films, celebrities, reviews, comments, and charts. */
export function createFilmStore(db: Database) {
  const { query } = db;
  const count = (rows: { total: number } | undefined) => rows?.total ?? 0;

  return {
    subject: (id: string) => db.first(query.selectFrom('subjects').selectAll().where('id', '=', id)),
    /** In the order of `ids`. */
    subjects(ids: readonly string[]): StoredSubject[] {
      if (ids.length === 0) return [];
      const rows = db.all(
        query
          .selectFrom('subjects')
          .selectAll()
          .where('id', 'in', [...new Set(ids)]),
      );
      const byId = new Map(rows.map((row) => [row.id, row]));
      return ids.flatMap((id) => byId.get(id) ?? []);
    },
    credits(ids: readonly string[]): Map<string, CreditRow[]> {
      if (ids.length === 0) return new Map();
      const rows = query
        .selectFrom('credits')
        .selectAll()
        .where('subject_id', 'in', [...new Set(ids)])
        .orderBy('position');
      return bySubject(db.all(rows));
    },
    /** The number of comments and reviews of each film. */
    tallies(ids: readonly string[]): Map<string, { comments: number; reviews: number }> {
      if (ids.length === 0) return new Map();
      const of = (table: 'film_comments' | 'film_reviews') =>
        new Map(
          db
            .all(
              query
                .selectFrom(table)
                .select(['subject_id', (row) => row.fn.countAll<number>().as('total')])
                .where('subject_id', 'in', ids)
                .groupBy('subject_id'),
            )
            .map((row) => [row.subject_id, row.total]),
        );
      const [comments, reviews] = [of('film_comments'), of('film_reviews')];
      return new Map(ids.map((id) => [id, { comments: comments.get(id) ?? 0, reviews: reviews.get(id) ?? 0 }]));
    },
    /** The first photos of each subject. */
    firstPhotos(ids: readonly string[], most: number): Map<string, StoredFilmPhoto[]> {
      if (ids.length === 0) return new Map();
      const ranked = query
        .selectFrom('film_photos')
        .selectAll()
        .select(sql<number>`row_number() over (partition by subject_id order by position)`.as('rank'))
        .where('celebrity_id', 'is', null)
        .where('subject_id', 'in', ids);
      const rows = query.selectFrom(ranked.as('ranked')).selectAll().where('rank', '<=', most).orderBy('rank');
      return bySubject(db.all(rows));
    },
    /** The most useful reviews of each subject. */
    firstReviews(ids: readonly string[], most: number): Map<string, StoredFilmReview[]> {
      if (ids.length === 0) return new Map();
      const ranked = query
        .selectFrom('film_reviews')
        .selectAll()
        .select(sql<number>`row_number() over (partition by subject_id order by useful desc, id)`.as('rank'))
        .where('subject_id', 'in', ids);
      const rows = query.selectFrom(ranked.as('ranked')).selectAll().where('rank', '<=', most).orderBy('rank');
      return bySubject(db.all(rows));
    },

    /** A page of an album, with the neighbours of each photo. */
    photos(album: { subject: string } | { celebrity: string }, { start, count: most }: Slice) {
      const photos = query.selectFrom('film_photos').selectAll();
      const all =
        'subject' in album
          ? photos.where('subject_id', '=', album.subject).where('celebrity_id', 'is', null)
          : photos.where('celebrity_id', '=', album.celebrity);
      const linked = all
        .select(sql<number | null>`lag(id) over (order by position)`.as('previous'))
        .select(sql<number | null>`lead(id) over (order by position)`.as('next'))
        .select(sql<number>`count(*) over ()`.as('total'));
      const rows = db.all(linked.orderBy('position').limit(most).offset(start));
      const total =
        rows[0]?.total ?? count(db.first(all.clearSelect().select((row) => row.fn.countAll<number>().as('total'))));
      return { rows, total };
    },
    reviews: (id: string, { start, count: most }: Slice) =>
      db.all(
        query
          .selectFrom('film_reviews')
          .selectAll()
          .where('subject_id', '=', id)
          .orderBy('useful', 'desc')
          .orderBy('id')
          .limit(most)
          .offset(start),
      ),
    comments: (id: string, { start, count: most }: Slice) =>
      db.all(
        query
          .selectFrom('film_comments')
          .selectAll()
          .where('subject_id', '=', id)
          .orderBy('useful', 'desc')
          .orderBy('id')
          .limit(most)
          .offset(start),
      ),

    celebrity: (id: string) => db.first(query.selectFrom('celebrities').selectAll().where('id', '=', id)),
    works(id: string, { start, count: most }: Slice) {
      const all = query.selectFrom('works').where('celebrity_id', '=', id);
      const rows = db.all(all.selectAll().orderBy('position').limit(most).offset(start));
      return { rows, total: count(db.first(all.select((row) => row.fn.countAll<number>().as('total')))) };
    },

    /** Films that contain every word and have the tag, the most watched first. */
    search({ q, tag }: { q?: string | undefined; tag?: string | undefined }, { start, count: most }: Slice) {
      let found: SelectQueryBuilder<Tables, 'subjects', object> = query.selectFrom('subjects');
      if (q !== undefined) {
        const { match, like } = searchTerms(q);
        if (match)
          found = found.where(sql<boolean>`no in (select rowid from subjects_fts where subjects_fts match ${match})`);
        for (const pattern of like) {
          found = found.where(
            sql<boolean>`no in (select rowid from subjects_fts where words like ${pattern} escape '\\')`,
          );
        }
      }
      if (tag !== undefined) {
        found = found.where('id', 'in', query.selectFrom('subject_tags').select('subject_id').where('name', '=', tag));
      }
      const rows = found.select('id').orderBy('collect_count', 'desc').orderBy('no').limit(most).offset(start);
      const total = count(db.first(found.select((row) => row.fn.countAll<number>().as('total'))));
      return { ids: db.all(rows).map((row) => row.id), total };
    },
    chart(name: string, { start, count: most }: Slice = { start: 0, count: 1000 }) {
      const all = query.selectFrom('charts').where('chart', '=', name);
      const rows = db.all(all.selectAll().orderBy('position').limit(most).offset(start));
      return { rows, total: count(db.first(all.select((row) => row.fn.countAll<number>().as('total')))) };
    },
  };
}

function bySubject<Row extends { subject_id: string }>(rows: readonly Row[]): Map<string, Row[]> {
  const grouped = new Map<string, Row[]>();
  for (const row of rows) {
    const group = grouped.get(row.subject_id);
    if (group) group.push(row);
    else grouped.set(row.subject_id, [row]);
  }
  return grouped;
}

import { type SelectQueryBuilder, type Selectable, sql } from 'kysely';
import type { Slice } from './book.ts';
import type { Database } from './database.ts';
import type {
  CelebrityRow,
  CreditRow,
  FilmCommentRow,
  FilmPhotoRow,
  FilmReviewRow,
  SubjectRow,
  Tables,
} from './schema.ts';
import { searchTerms } from './text-search.ts';

export type StoredSubject = Selectable<SubjectRow>;
export type StoredFilmPhoto = Selectable<FilmPhotoRow>;
export type StoredFilmReview = Selectable<FilmReviewRow>;
export type StoredFilmComment = Selectable<FilmCommentRow>;

/** Films, celebrities, reviews, comments, and charts. */
export class FilmStore {
  private readonly db: Database;

  constructor(db: Database) {
    this.db = db;
  }

  subject(id: string): StoredSubject | undefined {
    return this.db.first(this.db.query.selectFrom('subjects').selectAll().where('id', '=', id));
  }

  /** In the order of `ids`. */
  subjects(ids: readonly string[]): StoredSubject[] {
    if (ids.length === 0) return [];
    const rows = this.db.query
      .selectFrom('subjects')
      .selectAll()
      .where('id', 'in', [...new Set(ids)]);
    const byId = new Map(this.db.all(rows).map((row) => [row.id, row]));
    return ids.flatMap((id) => byId.get(id) ?? []);
  }

  credits(ids: readonly string[]): Map<string, CreditRow[]> {
    if (ids.length === 0) return new Map();
    const rows = this.db.query
      .selectFrom('credits')
      .selectAll()
      .where('subject_id', 'in', [...new Set(ids)])
      .orderBy('position');
    return bySubject(this.db.all(rows));
  }

  /** The number of comments and reviews of each film. */
  tallies(ids: readonly string[]): Map<string, { comments: number; reviews: number }> {
    if (ids.length === 0) return new Map();
    const [comments, reviews] = [this.tally('film_comments', ids), this.tally('film_reviews', ids)];
    return new Map(ids.map((id) => [id, { comments: comments.get(id) ?? 0, reviews: reviews.get(id) ?? 0 }]));
  }

  private tally(table: 'film_comments' | 'film_reviews', ids: readonly string[]): Map<string, number> {
    const rows = this.db.query
      .selectFrom(table)
      .select(['subject_id', (row) => row.fn.countAll<number>().as('total')])
      .where('subject_id', 'in', ids)
      .groupBy('subject_id');
    return new Map(this.db.all(rows).map((row) => [row.subject_id, row.total]));
  }

  /** The first photos of each subject. */
  firstPhotos(ids: readonly string[], most: number): Map<string, StoredFilmPhoto[]> {
    if (ids.length === 0) return new Map();
    const ranked = this.db.query
      .selectFrom('film_photos')
      .selectAll()
      .select(sql<number>`row_number() over (partition by subject_id order by position)`.as('rank'))
      .where('celebrity_id', 'is', null)
      .where('subject_id', 'in', ids);
    const rows = this.db.query.selectFrom(ranked.as('ranked')).selectAll().where('rank', '<=', most).orderBy('rank');
    return bySubject(this.db.all(rows));
  }

  /** The most useful reviews of each subject. */
  firstReviews(ids: readonly string[], most: number): Map<string, StoredFilmReview[]> {
    if (ids.length === 0) return new Map();
    const ranked = this.db.query
      .selectFrom('film_reviews')
      .selectAll()
      .select(sql<number>`row_number() over (partition by subject_id order by useful desc, id)`.as('rank'))
      .where('subject_id', 'in', ids);
    const rows = this.db.query.selectFrom(ranked.as('ranked')).selectAll().where('rank', '<=', most).orderBy('rank');
    return bySubject(this.db.all(rows));
  }

  /** A page of an album, with the neighbours of each photo. */
  photos(album: { subject: string } | { celebrity: string }, { start, count }: Slice) {
    const photos = this.db.query.selectFrom('film_photos').selectAll();
    const all =
      'subject' in album
        ? photos.where('subject_id', '=', album.subject).where('celebrity_id', 'is', null)
        : photos.where('celebrity_id', '=', album.celebrity);
    const linked = all
      .select(sql<number | null>`lag(id) over (order by position)`.as('previous'))
      .select(sql<number | null>`lead(id) over (order by position)`.as('next'))
      .select(sql<number>`count(*) over ()`.as('total'));
    const rows = this.db.all(linked.orderBy('position').limit(count).offset(start));
    return { rows, total: rows[0]?.total ?? this.db.count(all) };
  }

  reviews(id: string, { start, count }: Slice): StoredFilmReview[] {
    const all = this.db.query.selectFrom('film_reviews').selectAll().where('subject_id', '=', id);
    return this.db.all(all.orderBy('useful', 'desc').orderBy('id').limit(count).offset(start));
  }

  comments(id: string, { start, count }: Slice): StoredFilmComment[] {
    const all = this.db.query.selectFrom('film_comments').selectAll().where('subject_id', '=', id);
    return this.db.all(all.orderBy('useful', 'desc').orderBy('id').limit(count).offset(start));
  }

  celebrity(id: string): CelebrityRow | undefined {
    return this.db.first(this.db.query.selectFrom('celebrities').selectAll().where('id', '=', id));
  }

  works(id: string, { start, count }: Slice) {
    const all = this.db.query.selectFrom('works').where('celebrity_id', '=', id);
    const rows = this.db.all(all.selectAll().orderBy('position').limit(count).offset(start));
    return { rows, total: this.db.count(all) };
  }

  /** Films that contain every word and have the tag, the most watched first. */
  search({ q, tag }: { q?: string | undefined; tag?: string | undefined }, { start, count }: Slice) {
    const { query } = this.db;
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
    const rows = found.select('id').orderBy('collect_count', 'desc').orderBy('no').limit(count).offset(start);
    return { ids: this.db.all(rows).map((row) => row.id), total: this.db.count(found) };
  }

  chart(name: string, { start, count }: Slice = { start: 0, count: 1000 }) {
    const all = this.db.query.selectFrom('charts').where('chart', '=', name);
    const rows = this.db.all(all.selectAll().orderBy('position').limit(count).offset(start));
    return { rows, total: this.db.count(all) };
  }
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

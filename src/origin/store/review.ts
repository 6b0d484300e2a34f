import type { Selectable } from 'kysely';
import { timestamp } from './clock.ts';
import type { Database } from './database.ts';
import type { ReviewRow } from './schema.ts';

export type StoredReview = Selectable<ReviewRow>;

/** What a user writes. */
export interface ReviewContent {
  title: string;
  content: string;
  rating: number | null;
}

export function createReviewStore(db: Database) {
  const { query } = db;
  return {
    find: (id: number): StoredReview | undefined =>
      db.first(query.selectFrom('reviews').selectAll().where('id', '=', id)),

    add(person: string, book: string, content: ReviewContent): StoredReview {
      const now = timestamp();
      const row = {
        person_id: person,
        book_id: book,
        ...content,
        votes: 0,
        useless: 0,
        comments: 0,
        published: now,
        updated: now,
      };
      return { id: db.first(query.insertInto('reviews').values(row).returning('id'))!.id, ...row };
    },

    replace(review: StoredReview, content: ReviewContent): StoredReview {
      const changed = { ...content, updated: timestamp() };
      db.run(query.updateTable('reviews').set(changed).where('id', '=', review.id));
      return { ...review, ...changed };
    },

    remove: (id: number) => db.run(query.deleteFrom('reviews').where('id', '=', id)),
  };
}

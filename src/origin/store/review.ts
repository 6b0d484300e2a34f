import { timestamp } from './clock.ts';
import { Store } from './database.ts';
import type { Stored } from './schema.ts';

/** What a user writes. */
export type ReviewContent = Pick<Stored<'reviews'>, 'title' | 'content' | 'rating'>;

export class ReviewStore extends Store {
  find(id: number): Stored<'reviews'> | undefined {
    return this.db.first(this.query.selectFrom('reviews').selectAll().where('id', '=', id));
  }

  add(person: string, book: string, content: ReviewContent): Stored<'reviews'> {
    const now = timestamp();
    const counts = { votes: 0, useless: 0, comments: 0 };
    const row = { person_id: person, book_id: book, ...content, ...counts, published: now, updated: now };
    return this.db.insert('reviews', row);
  }

  replace(id: number, content: ReviewContent): Stored<'reviews'> {
    const changed = { ...content, updated: timestamp() };
    return this.db.first(this.query.updateTable('reviews').set(changed).where('id', '=', id).returningAll())!;
  }

  remove(id: number): void {
    this.db.run(this.query.deleteFrom('reviews').where('id', '=', id));
  }
}

import { sql } from 'kysely';
import type { CollectionsQuery, TagRecord } from '../../api/book.ts';
import { createBookIndex } from './book-index.ts';
import { timestamp } from './clock.ts';
import { type Database, type Slice, Store, type StorePage } from './database/database.ts';
import type { Stored } from './database/schema.ts';

type StoredCollection = Stored<'collections'>;

/** What a user writes about a book. */
export type CollectionContent = Pick<StoredCollection, 'status' | 'comment' | 'rating' | 'private'> & {
  tags: readonly string[];
};

/** `from` and `to` are timestamps, both inclusive. */
interface CollectionFilter extends Pick<CollectionsQuery, 'status' | 'tag' | 'from' | 'to' | 'rating'> {
  /** Includes private ones. */
  all: boolean;
}

/** Collections are counted in the ratings and tags of their books. */
export class CollectionStore extends Store {
  private readonly index: (book: string) => void;

  constructor(db: Database) {
    super(db);
    this.index = createBookIndex(db);
  }

  list(person: string, filter: CollectionFilter, slice: Slice): StorePage<StoredCollection> {
    const { all, status, tag, from, to, rating } = filter;
    const tagged = this.query.selectFrom('collection_tags').select('collection_id');
    const found = this.query
      .selectFrom('collections')
      .selectAll()
      .where('person_id', '=', person)
      .$if(!all, (c) => c.where('private', '=', 0))
      .$if(status !== undefined, (c) => c.where('status', '=', status!))
      .$if(rating !== undefined, (c) => c.where('rating', '=', rating!))
      .$if(from !== undefined, (c) => c.where('updated', '>=', from!))
      .$if(to !== undefined, (c) => c.where('updated', '<=', to!))
      .$if(tag !== undefined, (c) => c.where('id', 'in', tagged.where('name', '=', tag!)));
    return this.db.page(found.orderBy('updated', 'desc').orderBy('id', 'desc'), slice);
  }

  /** The tags of a user, most used first. */
  tagsOf(person: string, all: boolean): TagRecord[] {
    return this.db.run(
      this.query
        .selectFrom('collection_tags')
        .innerJoin('collections', 'collections.id', 'collection_tags.collection_id')
        .select((tag) => [tag.fn.countAll<number>().as('count'), 'collection_tags.name as title'])
        .where('person_id', '=', person)
        .$if(!all, (tag) => tag.where('private', '=', 0))
        .groupBy('collection_tags.name')
        .orderBy('count', 'desc')
        .orderBy('title'),
    );
  }

  /** undefined: the user has already collected the book. */
  add(person_id: string, book_id: string, { tags, ...content }: CollectionContent): StoredCollection | undefined {
    const added = this.db.insertNew('collections', { person_id, book_id, ...content, updated: timestamp() });
    return added && this.tagged(added, tags);
  }

  replace(old: StoredCollection, { tags, ...content }: CollectionContent): StoredCollection {
    this.count(old, -1);
    const changes = { ...content, updated: timestamp() };
    this.db.update('collections', { id: old.id }, changes);
    this.db.remove('collection_tags', { collection_id: old.id });
    return this.tagged({ ...old, ...changes }, tags);
  }

  remove(old: StoredCollection): void {
    this.count(old, -1);
    this.db.remove('collections', { id: old.id });
  }

  tagsIn({ id }: StoredCollection): string[] {
    return this.db.rows('collection_tags', { collection_id: id }).map(({ name }) => name);
  }

  /** Stores the tags of a collection, and counts it. */
  private tagged(row: StoredCollection, tags: readonly string[]): StoredCollection {
    tags.forEach((name, position) => this.db.insert('collection_tags', { collection_id: row.id, name, position }));
    this.count(row, 1);
    return row;
  }

  /** Adds a collection to the counts of its book, or removes it. The rating of a private one counts, but its tags do not. */
  private count(row: StoredCollection, sign: 1 | -1): void {
    const { db, query } = this;
    const { book_id, rating } = row;
    const counted = row.private ? [] : this.tagsIn(row);
    if (rating !== null) {
      const book = query.updateTable('books').where('id', '=', book_id);
      db.run(
        book.set((old) => ({
          raters: old('raters', '+', sign),
          rating_sum: old('rating_sum', '+', sign * rating * 2),
        })),
      );
    }
    for (const name of counted) countTag(db, book_id, name, sign);
    if (counted.length > 0)
      db.run(query.deleteFrom('book_tags').where('book_id', '=', book_id).where('count', '<=', 0));
    if (counted.length > 0 || rating !== null) this.index(book_id);
  }
}

/** Adds to the count of a tag of a book. */
export function countTag(db: Database, book_id: string, name: string, by: 1 | -1): void {
  const count = sql<number>`book_tags.count + ${by}`;
  const row = db.query.insertInto('book_tags').values({ book_id, name, count: 1 });
  db.run(row.onConflict((tag) => tag.columns(['book_id', 'name']).doUpdateSet({ count })));
}

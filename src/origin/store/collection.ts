import { sql } from 'kysely';
import type { CollectionsQuery, TagRecord } from '../../api/book.ts';
import { createBookIndex } from './book-index.ts';
import { timestamp } from './clock.ts';
import { type Database, type Slice, Store, type StorePage } from './database.ts';
import type { Stored } from './schema.ts';

/** A stored collection with its tags in the given order. */
export type StoredCollection = Stored<'collections'> & { tags: string[] };

/** What a user writes about a book. */
export type CollectionContent = Pick<StoredCollection, 'status' | 'comment' | 'rating' | 'private' | 'tags'>;

/** `from` and `to` are timestamps, both inclusive. */
export interface CollectionFilter extends Pick<CollectionsQuery, 'status' | 'tag' | 'from' | 'to' | 'rating'> {
  /** Includes private ones. */
  all: boolean;
}

export class CollectionStore extends Store {
  private readonly index: (book: string) => void;

  constructor(db: Database) {
    super(db);
    this.index = createBookIndex(db);
  }

  find(person: string, book: string): StoredCollection | undefined {
    return this.ofBooks(person, [book]).get(book);
  }

  /** Of several books at once, by book. */
  ofBooks(person: string, books: readonly string[]): Map<string, StoredCollection> {
    const ofPerson = this.query.selectFrom('collections').selectAll().where('person_id', '=', person);
    const rows = this.db.all(ofPerson.where('book_id', 'in', books));
    return new Map(this.withTags(rows).map((row) => [row.book_id, row]));
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
    const page = this.db.page(found.orderBy('updated', 'desc').orderBy('id', 'desc'), slice);
    return { ...page, items: this.withTags(page.items) };
  }

  /** The tags of a user, most used first. */
  tagsOf(person: string, all: boolean): TagRecord[] {
    return this.db.all(
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
  add(person: string, book: string, content: CollectionContent): StoredCollection | undefined {
    const insert = this.query
      .insertInto('collections')
      .values({ person_id: person, book_id: book, ...columns(content) });
    return this.written(this.db.first(insert.onConflict((c) => c.doNothing()).returningAll()), content);
  }

  /** undefined: there is no collection to replace. */
  replace(person: string, book: string, content: CollectionContent): StoredCollection | undefined {
    const old = this.find(person, book);
    if (!old) return undefined;
    this.count(old, -1);
    const update = this.query.updateTable('collections').set(columns(content)).where('id', '=', old.id);
    return this.written(this.db.first(update.returningAll()), content);
  }

  /** false: there was no collection. */
  remove(person: string, book: string): boolean {
    const old = this.find(person, book);
    if (!old) return false;
    this.count(old, -1);
    return this.db.run(this.query.deleteFrom('collections').where('id', '=', old.id)) > 0;
  }

  private withTags(rows: readonly Stored<'collections'>[]): StoredCollection[] {
    const collections = new Map(rows.map((row) => [row.id, { ...row, tags: new Array<string>() }]));
    const tags = this.query.selectFrom('collection_tags').selectAll().orderBy('position');
    for (const { collection_id, name } of this.db.all(tags.where('collection_id', 'in', [...collections.keys()])))
      collections.get(collection_id)?.tags.push(name);
    return [...collections.values()];
  }

  /** Stores the tags of a collection, and counts it. */
  private written(row: Stored<'collections'> | undefined, { tags }: CollectionContent): StoredCollection | undefined {
    if (!row) return undefined;
    this.db.run(this.query.deleteFrom('collection_tags').where('collection_id', '=', row.id));
    const rows = tags.map((name, position) => ({ collection_id: row.id, name, position }));
    if (rows.length > 0) this.db.run(this.query.insertInto('collection_tags').values(rows));
    const collection = { ...row, tags: [...tags] };
    this.count(collection, 1);
    return collection;
  }

  /** Adds a collection to the counts of its book, or removes it. The rating of a private one counts, but its tags do not. */
  private count({ book_id, rating, tags, ...collection }: StoredCollection, sign: 1 | -1): void {
    const { db, query } = this;
    const counted = collection.private ? [] : tags;
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

const columns = ({ tags: _, ...content }: CollectionContent) => ({ ...content, updated: timestamp() });

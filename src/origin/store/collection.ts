import { type Selectable, sql } from 'kysely';
import type { CollectionStatus, TagRecord } from '../../api/book.ts';
import type { StorePage, Slice } from './book.ts';
import { createBookIndex } from './book-index.ts';
import { timestamp } from './clock.ts';
import type { Database } from './database.ts';
import type { CollectionRow } from './schema.ts';

/** A stored collection with its tags in the given order. */
export type StoredCollection = Selectable<CollectionRow> & { tags: string[] };

/** What a user writes about a book. */
export interface CollectionContent {
  status: CollectionStatus;
  comment: string;
  rating: number | null;
  private: boolean;
  tags: readonly string[];
}
export interface CollectionFilter {
  /** Includes private ones. */
  all: boolean;
  status?: CollectionStatus | undefined;
  tag?: string | undefined;
  /** Timestamps, both inclusive. */
  from?: string | undefined;
  to?: string | undefined;
  rating?: number | undefined;
}

export class CollectionStore {
  private readonly db: Database;
  private readonly index: (book: string) => void;

  constructor(db: Database) {
    this.db = db;
    this.index = createBookIndex(db);
  }

  find(person: string, book: string): StoredCollection | undefined {
    const ofPerson = this.db.query.selectFrom('collections').selectAll().where('person_id', '=', person);
    return this.withTags(this.db.all(ofPerson.where('book_id', '=', book)))[0];
  }

  /** Of several books at once, by book. */
  ofBooks(person: string, books: readonly string[]): Map<string, StoredCollection> {
    if (books.length === 0) return new Map();
    const ofPerson = this.db.query.selectFrom('collections').selectAll().where('person_id', '=', person);
    const rows = this.db.all(ofPerson.where('book_id', 'in', books));
    return new Map(this.withTags(rows).map((row) => [row.book_id, row]));
  }

  list(person: string, filter: CollectionFilter, { start, count }: Slice): StorePage<StoredCollection> {
    const { all, status, tag, from, to, rating } = filter;
    const found = this.db.query
      .selectFrom('collections')
      .where('person_id', '=', person)
      .$if(!all, (c) => c.where('private', '=', 0))
      .$if(status !== undefined, (c) => c.where('status', '=', status ?? 'wish'))
      .$if(rating !== undefined, (c) => c.where('rating', '=', rating ?? null))
      .$if(from !== undefined, (c) => c.where('updated', '>=', from ?? ''))
      .$if(to !== undefined, (c) => c.where('updated', '<=', to ?? ''))
      .$if(tag !== undefined, (c) =>
        c.where('id', 'in', (tags) =>
          tags
            .selectFrom('collection_tags')
            .select('collection_id')
            .where('name', '=', tag ?? ''),
        ),
      );
    const page = found.selectAll().orderBy('updated', 'desc').orderBy('id', 'desc').limit(count).offset(start);
    return { total: this.db.count(found), items: this.withTags(this.db.all(page)) };
  }

  /** The tags of a user, most used first. */
  tagsOf(person: string, all: boolean): TagRecord[] {
    return this.db.all(
      this.db.query
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
    const row = { person_id: person, book_id: book, ...columns(content) };
    const insert = this.db.query.insertInto('collections').values(row);
    const added = this.db.first(insert.onConflict((c) => c.doNothing()).returning('id'));
    if (!added) return undefined;
    this.setTags(added.id, content.tags);
    const collection = { id: added.id, ...row, tags: [...content.tags] };
    this.count(collection, 1);
    return collection;
  }

  /** undefined: there is no collection to replace. */
  replace(person: string, book: string, content: CollectionContent): StoredCollection | undefined {
    const old = this.find(person, book);
    if (!old) return undefined;
    this.count(old, -1);
    this.db.run(this.db.query.updateTable('collections').set(columns(content)).where('id', '=', old.id));
    this.setTags(old.id, content.tags);
    const collection = { ...old, ...columns(content), tags: [...content.tags] };
    this.count(collection, 1);
    return collection;
  }

  /** false: there was no collection. */
  remove(person: string, book: string): boolean {
    const old = this.find(person, book);
    if (!old) return false;
    this.count(old, -1);
    return this.db.run(this.db.query.deleteFrom('collections').where('id', '=', old.id)) > 0;
  }

  private withTags(rows: readonly Selectable<CollectionRow>[]): StoredCollection[] {
    const tags = new Map<number, string[]>(rows.map((row) => [row.id, []]));
    if (rows.length > 0) {
      const found = this.db.query
        .selectFrom('collection_tags')
        .selectAll()
        .where('collection_id', 'in', [...tags.keys()]);
      for (const { collection_id, name } of this.db.all(found.orderBy('position'))) tags.get(collection_id)?.push(name);
    }
    return rows.map((row) => ({ ...row, tags: tags.get(row.id) ?? [] }));
  }

  private setTags(id: number, names: readonly string[]): void {
    const { query } = this.db;
    this.db.run(query.deleteFrom('collection_tags').where('collection_id', '=', id));
    if (names.length === 0) return;
    const rows = names.map((name, position) => ({ collection_id: id, name, position }));
    this.db.run(query.insertInto('collection_tags').values(rows));
  }

  /** Adds a collection to the counts of its book, or removes it. The rating of a private one counts, but its tags do not. */
  private count({ book_id, rating, tags, ...collection }: StoredCollection, sign: 1 | -1): void {
    const { query } = this.db;
    const isTagged = !collection.private && tags.length > 0;
    if (rating !== null) {
      this.db.run(
        query
          .updateTable('books')
          .where('id', '=', book_id)
          .set((book) => ({
            raters: book('raters', '+', sign),
            rating_sum: book('rating_sum', '+', sign * rating * 2),
          })),
      );
    }
    for (const name of isTagged ? tags : []) {
      this.db.run(
        query
          .insertInto('book_tags')
          .values({ book_id, name, count: 1 })
          .onConflict((tag) => tag.columns(['book_id', 'name']).doUpdateSet({ count: sql`book_tags.count + ${sign}` })),
      );
    }
    if (isTagged) this.db.run(query.deleteFrom('book_tags').where('book_id', '=', book_id).where('count', '<=', 0));
    if (isTagged || rating !== null) this.index(book_id);
  }
}

const columns = (content: CollectionContent) => ({
  status: content.status,
  comment: content.comment,
  rating: content.rating,
  private: content.private ? (1 as const) : (0 as const),
  updated: timestamp(),
});

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

export function createCollectionStore(db: Database) {
  const { query } = db;

  function withTags(rows: readonly Selectable<CollectionRow>[]): StoredCollection[] {
    const tags = new Map<number, string[]>(rows.map((row) => [row.id, []]));
    if (rows.length > 0) {
      const found = query
        .selectFrom('collection_tags')
        .selectAll()
        .where('collection_id', 'in', [...tags.keys()]);
      for (const { collection_id, name } of db.all(found.orderBy('position'))) tags.get(collection_id)?.push(name);
    }
    return rows.map((row) => ({ ...row, tags: tags.get(row.id) ?? [] }));
  }

  const index = createBookIndex(db);
  const find = (person: string, book: string) =>
    withTags(
      db.all(query.selectFrom('collections').selectAll().where('person_id', '=', person).where('book_id', '=', book)),
    )[0];

  /** Adds a collection to the counts of its book, or removes it. The rating of a private one counts, but its tags do not. */
  function count({ book_id, rating, tags, ...collection }: StoredCollection, sign: 1 | -1) {
    const isTagged = !collection.private && tags.length > 0;
    if (rating !== null) {
      db.run(
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
      db.run(
        query
          .insertInto('book_tags')
          .values({ book_id, name, count: 1 })
          .onConflict((tag) => tag.columns(['book_id', 'name']).doUpdateSet({ count: sql`book_tags.count + ${sign}` })),
      );
    }
    if (isTagged) db.run(query.deleteFrom('book_tags').where('book_id', '=', book_id).where('count', '<=', 0));
    if (isTagged || rating !== null) index(book_id);
  }

  function setTags(id: number, names: readonly string[]) {
    db.run(query.deleteFrom('collection_tags').where('collection_id', '=', id));
    if (names.length === 0) return;
    db.run(
      query
        .insertInto('collection_tags')
        .values(names.map((name, position) => ({ collection_id: id, name, position }))),
    );
  }

  const columns = (content: CollectionContent) => ({
    status: content.status,
    comment: content.comment,
    rating: content.rating,
    private: content.private ? (1 as const) : (0 as const),
    updated: timestamp(),
  });

  return {
    find,

    /** Of several books at once, by book. */
    ofBooks(person: string, books: readonly string[]): Map<string, StoredCollection> {
      if (books.length === 0) return new Map();
      const rows = query
        .selectFrom('collections')
        .selectAll()
        .where('person_id', '=', person)
        .where('book_id', 'in', books);
      return new Map(withTags(db.all(rows)).map((row) => [row.book_id, row]));
    },

    list(person: string, filter: CollectionFilter, { start, count }: Slice): StorePage<StoredCollection> {
      const { all, status, tag, from, to, rating } = filter;
      const found = query
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
      const total = db.first(found.select((c) => c.fn.countAll<number>().as('total')))?.total ?? 0;
      const page = found.selectAll().orderBy('updated', 'desc').orderBy('id', 'desc').limit(count).offset(start);
      return { total, items: withTags(db.all(page)) };
    },

    /** The tags of a user, most used first. */
    tagsOf(person: string, all: boolean): TagRecord[] {
      return db.all(
        query
          .selectFrom('collection_tags')
          .innerJoin('collections', 'collections.id', 'collection_tags.collection_id')
          .select((tag) => [tag.fn.countAll<number>().as('count'), 'collection_tags.name as title'])
          .where('person_id', '=', person)
          .$if(!all, (tag) => tag.where('private', '=', 0))
          .groupBy('collection_tags.name')
          .orderBy('count', 'desc')
          .orderBy('title'),
      );
    },

    /** undefined: the user has already collected the book. */
    add(person: string, book: string, content: CollectionContent): StoredCollection | undefined {
      const row = { person_id: person, book_id: book, ...columns(content) };
      const added = db.first(
        query
          .insertInto('collections')
          .values(row)
          .onConflict((c) => c.doNothing())
          .returning('id'),
      );
      if (!added) return undefined;
      setTags(added.id, content.tags);
      const collection = { id: added.id, ...row, tags: [...content.tags] };
      count(collection, 1);
      return collection;
    },

    /** undefined: there is no collection to replace. */
    replace(person: string, book: string, content: CollectionContent): StoredCollection | undefined {
      const old = find(person, book);
      if (!old) return undefined;
      count(old, -1);
      db.run(query.updateTable('collections').set(columns(content)).where('id', '=', old.id));
      setTags(old.id, content.tags);
      const collection = { ...old, ...columns(content), tags: [...content.tags] };
      count(collection, 1);
      return collection;
    },

    /** false: there was no collection. */
    remove(person: string, book: string): boolean {
      const old = find(person, book);
      if (!old) return false;
      count(old, -1);
      return db.run(query.deleteFrom('collections').where('id', '=', old.id)) > 0;
    },
  };
}

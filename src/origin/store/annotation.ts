import type { Selectable } from 'kysely';
import type { AnnotationOrder } from '../../api/book.ts';
import type { StorePage, Slice } from './book.ts';
import { timestamp } from './clock.ts';
import type { Database } from './database.ts';
import type { AnnotationRow, Flag } from './schema.ts';

/** A stored annotation with its pictures by number. */
export type StoredAnnotation = Selectable<AnnotationRow> & { photos: Map<number, string> };

/** What a user writes. */
export interface AnnotationContent {
  content: string;
  chapter: string;
  page_no: number | null;
  private: Flag;
}

export function createAnnotationStore(db: Database) {
  const { query } = db;

  function withPhotos(rows: readonly Selectable<AnnotationRow>[]): StoredAnnotation[] {
    const annotations = new Map(rows.map((row) => [row.id, { ...row, photos: new Map<number, string>() }]));
    if (rows.length > 0) {
      const found = query
        .selectFrom('annotation_photos')
        .selectAll()
        .where('annotation_id', 'in', [...annotations.keys()]);
      for (const { annotation_id, number, picture } of db.all(found.orderBy('number'))) {
        annotations.get(annotation_id)?.photos.set(number, picture);
      }
    }
    return [...annotations.values()];
  }

  return {
    find: (id: number): StoredAnnotation | undefined =>
      withPhotos(db.all(query.selectFrom('annotations').selectAll().where('id', '=', id)))[0],

    /** The public annotations of a book. */
    ofBook(
      book: string,
      order: AnnotationOrder,
      page: number | undefined,
      { start, count }: Slice,
    ): StorePage<StoredAnnotation> {
      const found = query
        .selectFrom('annotations')
        .where('book_id', '=', book)
        .where('private', '=', 0)
        .$if(page !== undefined, (a) => a.where('page_no', '=', page ?? null));
      const total = db.count(found);
      const sorted = {
        collect: found.orderBy('time', 'desc'),
        rank: found.orderBy('usefulness', 'desc').orderBy('time', 'desc'),
        // Not specified: where annotations without a page go; they come last.
        page: found.orderBy('page_no', (by) => by.asc().nullsLast()).orderBy('time'),
      }[order];
      return { total, items: withPhotos(db.all(sorted.orderBy('id', 'desc').selectAll().limit(count).offset(start))) };
    },

    ofPerson(person: string, all: boolean, { start, count }: Slice): StorePage<StoredAnnotation> {
      const found = query
        .selectFrom('annotations')
        .where('person_id', '=', person)
        .$if(!all, (a) => a.where('private', '=', 0));
      const total = db.count(found);
      const page = found.selectAll().orderBy('time', 'desc').orderBy('id', 'desc').limit(count).offset(start);
      return { total, items: withPhotos(db.all(page)) };
    },

    add(person: string, book: string, content: AnnotationContent): number {
      const row = { person_id: person, book_id: book, usefulness: 0, comments_count: 0, time: timestamp(), ...content };
      return db.first(query.insertInto('annotations').values(row).returning('id'))!.id;
    },

    replace: (id: number, content: AnnotationContent) =>
      db.run(
        query
          .updateTable('annotations')
          .set({ ...content, time: timestamp() })
          .where('id', '=', id),
      ),

    remove: (id: number) => db.run(query.deleteFrom('annotations').where('id', '=', id)),

    /** false: the number is already used. */
    addPhoto: (annotation_id: number, number: number, picture: string) =>
      db.run(
        query
          .insertInto('annotation_photos')
          .values({ annotation_id, number, picture })
          .onConflict((photo) => photo.doNothing()),
      ) > 0,
  };
}

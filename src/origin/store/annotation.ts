import type { AnnotationOrder } from '../../api/book.ts';
import { timestamp } from './clock.ts';
import { type Slice, Store, type StorePage } from './database.ts';
import type { Stored } from './schema.ts';

/** A stored annotation with its pictures by number. */
export type StoredAnnotation = Stored<'annotations'> & { photos: Map<number, string> };

/** What a user writes. */
export type AnnotationContent = Pick<Stored<'annotations'>, 'content' | 'chapter' | 'page_no' | 'private'>;

export class AnnotationStore extends Store {
  find(id: number): StoredAnnotation | undefined {
    return this.withPhotos(this.db.all(this.query.selectFrom('annotations').selectAll().where('id', '=', id)))[0];
  }

  /** The public annotations of a book. */
  ofBook(book: string, order: AnnotationOrder, pageNo: number | undefined, slice: Slice): StorePage<StoredAnnotation> {
    const found = this.query
      .selectFrom('annotations')
      .selectAll()
      .where('book_id', '=', book)
      .where('private', '=', 0)
      .$if(pageNo !== undefined, (a) => a.where('page_no', '=', pageNo!));
    const sorted = {
      collect: found.orderBy('time', 'desc'),
      rank: found.orderBy('usefulness', 'desc').orderBy('time', 'desc'),
      // Not specified: where annotations without a page go; they come last.
      page: found.orderBy('page_no', (by) => by.asc().nullsLast()).orderBy('time'),
    }[order];
    const page = this.db.page(sorted.orderBy('id', 'desc'), slice);
    return { ...page, items: this.withPhotos(page.items) };
  }

  ofPerson(person: string, all: boolean, slice: Slice): StorePage<StoredAnnotation> {
    const found = this.query
      .selectFrom('annotations')
      .selectAll()
      .where('person_id', '=', person)
      .$if(!all, (a) => a.where('private', '=', 0));
    const page = this.db.page(found.orderBy('time', 'desc').orderBy('id', 'desc'), slice);
    return { ...page, items: this.withPhotos(page.items) };
  }

  add(person: string, book: string, content: AnnotationContent): number {
    const row = { person_id: person, book_id: book, usefulness: 0, comments_count: 0, time: timestamp(), ...content };
    return this.db.insert('annotations', row).id;
  }

  replace(id: number, content: AnnotationContent): void {
    const changed = { ...content, time: timestamp() };
    this.db.run(this.query.updateTable('annotations').set(changed).where('id', '=', id));
  }

  remove(id: number): void {
    this.db.run(this.query.deleteFrom('annotations').where('id', '=', id));
  }

  /** false: the number is already used. */
  addPhoto(annotation_id: number, number: number, picture: string): boolean {
    const row = this.query.insertInto('annotation_photos').values({ annotation_id, number, picture });
    return this.db.run(row.onConflict((photo) => photo.doNothing())) > 0;
  }

  private withPhotos(rows: readonly Stored<'annotations'>[]): StoredAnnotation[] {
    const annotations = new Map(rows.map((row) => [row.id, { ...row, photos: new Map<number, string>() }]));
    const photos = this.query.selectFrom('annotation_photos').selectAll().orderBy('number');
    for (const { annotation_id, number, picture } of this.db.all(
      photos.where('annotation_id', 'in', [...annotations.keys()]),
    ))
      annotations.get(annotation_id)?.photos.set(number, picture);
    return [...annotations.values()];
  }
}

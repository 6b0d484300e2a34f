import { sql } from 'kysely';
import type { NotePrivacy } from '../../api/note.ts';
import { timestamp } from './clock.ts';
import { type Slice, Store, type StorePage } from './database.ts';
import type { Stored } from './schema.ts';

type NotePhoto = Pick<Stored<'note_photos'>, 'picture' | 'layout' | 'caption'>;
/** A stored note with its pictures by number, and its counts. */
export type StoredNote = NoteRow & { photos: Map<number, NotePhoto> };
type NoteRow = Stored<'notes'> & { comments_count: number; liked_count: number };
/** What the author writes. */
export type NoteContent = Pick<Stored<'notes'>, 'title' | 'content' | 'privacy' | 'can_reply'>;
export type StoredComment = Stored<'note_comments'>;

export class NoteStore extends Store {
  find(id: number): StoredNote | undefined {
    return this.withPhotos(this.db.all(this.notes().where('id', '=', id)))[0];
  }

  /** Newest first. */
  ofPerson(person: string, privacies: readonly NotePrivacy[], slice: Slice): StorePage<StoredNote> {
    const found = this.notes().where('person_id', '=', person).where('privacy', 'in', privacies);
    const page = this.db.page(found.orderBy('publish_time', 'desc').orderBy('id', 'desc'), slice);
    return { ...page, items: this.withPhotos(page.items) };
  }

  add(person: string, content: NoteContent): number {
    const now = timestamp();
    const row = { person_id: person, ...content, publish_time: now, update_time: now, recs_count: 0 };
    return this.db.insert('notes', row).id;
  }

  replace(id: number, content: Partial<NoteContent>): void {
    const changed = { ...content, update_time: timestamp() };
    this.db.run(this.query.updateTable('notes').set(changed).where('id', '=', id));
  }

  remove(id: number): void {
    this.db.run(this.query.deleteFrom('notes').where('id', '=', id));
  }

  /** false: the number is already used. */
  addPhoto(note_id: number, number: number, photo: NotePhoto): boolean {
    const row = this.query.insertInto('note_photos').values({ note_id, number, ...photo });
    return this.db.run(row.onConflict((photo) => photo.doNothing())) > 0;
  }

  like(note_id: number, person_id: string): void {
    const row = this.query.insertInto('note_likes').values({ note_id, person_id });
    this.db.run(row.onConflict((like) => like.doNothing()));
  }

  unlike(note_id: number, person_id: string): void {
    const likes = this.query.deleteFrom('note_likes').where('note_id', '=', note_id);
    this.db.run(likes.where('person_id', '=', person_id));
  }

  /** Oldest first. */
  comments(note_id: number, slice: Slice): StorePage<StoredComment> {
    const comments = this.query.selectFrom('note_comments').selectAll().where('note_id', '=', note_id);
    return this.db.page(comments.orderBy('id'), slice);
  }

  comment(note_id: number, id: number): StoredComment | undefined {
    const all = this.query.selectFrom('note_comments').selectAll();
    return this.db.first(all.where('note_id', '=', note_id).where('id', '=', id));
  }

  addComment(note_id: number, person_id: string, content: string): StoredComment {
    const row = { note_id, person_id, content, created: timestamp() };
    return this.db.insert('note_comments', row);
  }

  removeComment(id: number): void {
    this.db.run(this.query.deleteFrom('note_comments').where('id', '=', id));
  }

  private notes() {
    return this.query
      .selectFrom('notes')
      .selectAll()
      .select([
        sql<number>`(select count(*) from note_comments where note_id = notes.id)`.as('comments_count'),
        sql<number>`(select count(*) from note_likes where note_id = notes.id)`.as('liked_count'),
      ]);
  }

  private withPhotos(rows: readonly NoteRow[]): StoredNote[] {
    const notes = new Map(rows.map((row) => [row.id, { ...row, photos: new Map<number, NotePhoto>() }]));
    const photos = this.query.selectFrom('note_photos').selectAll().orderBy('number');
    for (const { note_id, number, ...photo } of this.db.all(photos.where('note_id', 'in', [...notes.keys()])))
      notes.get(note_id)?.photos.set(number, photo);
    return [...notes.values()];
  }
}

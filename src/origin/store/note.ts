import type { Selectable } from 'kysely';
import type { NotePrivacy, PictureLayout } from '../../api/note.ts';
import type { StorePage, Slice } from './book.ts';
import { timestamp } from './clock.ts';
import type { Database } from './database.ts';
import type { Flag, NoteRow, Tables } from './schema.ts';

export interface NotePhoto {
  picture: string;
  layout: PictureLayout;
  caption: string;
}
/** A stored note with its pictures by number, and its counts. */
export type StoredNote = Selectable<NoteRow> & {
  comments_count: number;
  liked_count: number;
  photos: Map<number, NotePhoto>;
};
/** What the author writes. */
export interface NoteContent {
  title: string;
  content: string;
  privacy: NotePrivacy;
  can_reply: Flag;
}
export type StoredComment = Selectable<Tables['note_comments']>;

export class NoteStore {
  private readonly db: Database;

  constructor(db: Database) {
    this.db = db;
  }

  find(id: number): StoredNote | undefined {
    return this.complete(this.notes().where('notes.id', '=', id))[0];
  }

  ofPerson(person: string, privacies: readonly NotePrivacy[], { start, count }: Slice): StorePage<StoredNote> {
    const all = this.notes().where('person_id', '=', person).where('privacy', 'in', privacies);
    const page = all.orderBy('publish_time', 'desc').orderBy('notes.id', 'desc').limit(count).offset(start);
    return { total: this.db.count(all), items: this.complete(page) };
  }

  add(person: string, content: NoteContent): number {
    const now = timestamp();
    const row = { person_id: person, ...content, publish_time: now, update_time: now, recs_count: 0 };
    return this.db.first(this.db.query.insertInto('notes').values(row).returning('id'))!.id;
  }

  replace(id: number, content: Partial<NoteContent>): void {
    const changed = { ...content, update_time: timestamp() };
    this.db.run(this.db.query.updateTable('notes').set(changed).where('id', '=', id));
  }

  remove(id: number): void {
    this.db.run(this.db.query.deleteFrom('notes').where('id', '=', id));
  }

  /** false: the number is already used. */
  addPhoto(note_id: number, number: number, photo: NotePhoto): boolean {
    const row = this.db.query.insertInto('note_photos').values({ note_id, number, ...photo });
    return this.db.run(row.onConflict((photo) => photo.doNothing())) > 0;
  }

  like(note_id: number, person_id: string): void {
    const row = this.db.query.insertInto('note_likes').values({ note_id, person_id });
    this.db.run(row.onConflict((like) => like.doNothing()));
  }

  unlike(note_id: number, person_id: string): void {
    const likes = this.db.query.deleteFrom('note_likes').where('note_id', '=', note_id);
    this.db.run(likes.where('person_id', '=', person_id));
  }

  /** Oldest first. */
  comments(note_id: number, { start, count }: Slice): StorePage<StoredComment> {
    const all = this.db.query.selectFrom('note_comments').where('note_id', '=', note_id);
    const items = this.db.all(all.selectAll().orderBy('id').limit(count).offset(start));
    return { total: this.db.count(all), items };
  }

  comment(note_id: number, id: number): StoredComment | undefined {
    const all = this.db.query.selectFrom('note_comments').selectAll();
    return this.db.first(all.where('note_id', '=', note_id).where('id', '=', id));
  }

  addComment(note_id: number, person_id: string, content: string): StoredComment {
    const row = { note_id, person_id, content, created: timestamp() };
    return { id: this.db.first(this.db.query.insertInto('note_comments').values(row).returning('id'))!.id, ...row };
  }

  removeComment(id: number): void {
    this.db.run(this.db.query.deleteFrom('note_comments').where('id', '=', id));
  }

  private notes() {
    return this.db.query
      .selectFrom('notes')
      .selectAll()
      .select((note) => [
        note
          .selectFrom('note_comments')
          .select((comment) => comment.fn.countAll<number>().as('n'))
          .whereRef('note_id', '=', 'notes.id')
          .as('comments_count'),
        note
          .selectFrom('note_likes')
          .select((like) => like.fn.countAll<number>().as('n'))
          .whereRef('note_id', '=', 'notes.id')
          .as('liked_count'),
      ]);
  }

  private complete(notes: ReturnType<NoteStore['notes']>): StoredNote[] {
    const found = new Map<number, StoredNote>();
    for (const row of this.db.all(notes)) {
      const counts = { comments_count: row.comments_count ?? 0, liked_count: row.liked_count ?? 0 };
      found.set(row.id, { ...row, ...counts, photos: new Map() });
    }
    if (found.size > 0) {
      const photos = this.db.query
        .selectFrom('note_photos')
        .selectAll()
        .where('note_id', 'in', [...found.keys()])
        .orderBy('number');
      for (const { note_id, number, ...photo } of this.db.all(photos)) found.get(note_id)?.photos.set(number, photo);
    }
    return [...found.values()];
  }
}

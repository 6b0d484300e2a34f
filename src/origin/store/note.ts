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

export function createNoteStore(db: Database) {
  const { query } = db;

  const notes = () =>
    query
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

  function complete(
    rows: readonly (Selectable<NoteRow> & { comments_count: number | null; liked_count: number | null })[],
  ) {
    const found = new Map<number, StoredNote>();
    for (const row of rows) {
      const counts = { comments_count: row.comments_count ?? 0, liked_count: row.liked_count ?? 0 };
      found.set(row.id, { ...row, ...counts, photos: new Map() });
    }
    if (rows.length > 0) {
      const photos = query
        .selectFrom('note_photos')
        .selectAll()
        .where('note_id', 'in', [...found.keys()])
        .orderBy('number');
      for (const { note_id, number, ...photo } of db.all(photos)) found.get(note_id)?.photos.set(number, photo);
    }
    return [...found.values()];
  }

  return {
    find: (id: number): StoredNote | undefined => complete(db.all(notes().where('notes.id', '=', id)))[0],

    ofPerson(person: string, privacies: readonly NotePrivacy[], { start, count }: Slice): StorePage<StoredNote> {
      const total = db.first(
        query
          .selectFrom('notes')
          .select((note) => note.fn.countAll<number>().as('n'))
          .where('person_id', '=', person)
          .where('privacy', 'in', privacies),
      );
      const page = notes().where('person_id', '=', person).where('privacy', 'in', privacies);
      const items = page.orderBy('publish_time', 'desc').orderBy('notes.id', 'desc').limit(count).offset(start);
      return { total: total?.n ?? 0, items: complete(db.all(items)) };
    },

    add(person: string, content: NoteContent): number {
      const now = timestamp();
      const row = { person_id: person, ...content, publish_time: now, update_time: now, recs_count: 0 };
      return db.first(query.insertInto('notes').values(row).returning('id'))!.id;
    },

    replace: (id: number, content: Partial<NoteContent>) =>
      db.run(
        query
          .updateTable('notes')
          .set({ ...content, update_time: timestamp() })
          .where('id', '=', id),
      ),

    remove: (id: number) => db.run(query.deleteFrom('notes').where('id', '=', id)),

    /** false: the number is already used. */
    addPhoto: (note_id: number, number: number, photo: NotePhoto) =>
      db.run(
        query
          .insertInto('note_photos')
          .values({ note_id, number, ...photo })
          .onConflict((row) => row.doNothing()),
      ) > 0,

    like: (note_id: number, person_id: string) =>
      db.run(
        query
          .insertInto('note_likes')
          .values({ note_id, person_id })
          .onConflict((like) => like.doNothing()),
      ),

    unlike: (note_id: number, person_id: string) =>
      db.run(query.deleteFrom('note_likes').where('note_id', '=', note_id).where('person_id', '=', person_id)),

    /** Oldest first. */
    comments(note_id: number, { start, count }: Slice): StorePage<StoredComment> {
      const found = query.selectFrom('note_comments').where('note_id', '=', note_id);
      const total = db.first(found.select((comment) => comment.fn.countAll<number>().as('n')))?.n ?? 0;
      return { total, items: db.all(found.selectAll().orderBy('id').limit(count).offset(start)) };
    },

    comment: (note_id: number, id: number): StoredComment | undefined =>
      db.first(query.selectFrom('note_comments').selectAll().where('note_id', '=', note_id).where('id', '=', id)),

    addComment(note_id: number, person_id: string, content: string): StoredComment {
      const row = { note_id, person_id, content, created: timestamp() };
      return { id: db.first(query.insertInto('note_comments').values(row).returning('id'))!.id, ...row };
    },

    removeComment: (id: number) => db.run(query.deleteFrom('note_comments').where('id', '=', id)),
  };
}

import { COUNT_DEFAULT } from '../../api/book.ts';
import type { Window } from '../../api/endpoint.ts';
import type { NoteCommentPage, NoteCommentRecord } from '../../api/note.ts';
import type { StoredComment } from '../store/note.ts';
import { avatarOf, webPage } from '../store/people.ts';
import type { PersonRow } from '../store/schema.ts';
import type { Stores } from '../store/stores.ts';
import { visibleNote } from './note.ts';
import { numericId } from './numeric-id.ts';
import { Rejection } from './rejection.ts';

/** Oldest first. */
export function commentsOfNote(stores: Stores, reader: string, id: string, window: Window): NoteCommentPage {
  const { start = 0, count = COUNT_DEFAULT } = window;
  const note = visibleNote(stores, reader, id);
  const { total, items } = stores.notes.comments(note.id, { start, count });
  const authors = stores.people.byIds(items.map((comment) => comment.person_id));
  return { start, count, total, comments: items.map((comment) => toRecord(comment, authors.get(comment.person_id))) };
}

export function commentById(stores: Stores, reader: string, note: string, id: string): NoteCommentRecord {
  const comment = knownComment(stores, reader, note, id);
  return toRecord(comment, stores.people.byId(comment.person_id));
}

export function createComment(
  stores: Stores,
  reader: string,
  id: string,
  content: string | undefined,
): NoteCommentRecord {
  const note = visibleNote(stores, reader, id);
  if (!content?.trim()) throw new Rejection(1002);
  // Not specified: a comment on a note closed to comments; it is rejected, even from the author.
  if (!note.can_reply) throw new Rejection(1000);
  return toRecord(stores.notes.addComment(note.id, reader, content), stores.people.byId(reader));
}

/** Not specified: who may remove a comment; its author and the author of the note may. */
export function deleteComment(stores: Stores, reader: string, note: string, id: string) {
  const comment = knownComment(stores, reader, note, id);
  const owner = visibleNote(stores, reader, note).person_id;
  if (reader !== comment.person_id && reader !== owner) throw new Rejection(1000);
  stores.notes.removeComment(comment.id);
  return {};
}

/** Not specified: the response for an unknown comment; the same as for an unknown note. */
function knownComment(stores: Stores, reader: string, note: string, id: string): StoredComment {
  const comment = stores.notes.comment(visibleNote(stores, reader, note).id, numericId(id));
  if (!comment) throw new Rejection(1006);
  return comment;
}

function toRecord(comment: StoredComment, author: PersonRow | undefined): NoteCommentRecord {
  return {
    id: String(comment.id),
    content: comment.content,
    created: comment.created,
    ...(author && {
      author: { id: author.id, uid: author.uid, name: author.name, alt: webPage(author), avatar: avatarOf(author) },
    }),
  };
}

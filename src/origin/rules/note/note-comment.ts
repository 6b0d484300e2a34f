import type { NoteCommentRecord, noteEndpoints } from '../../../api/note.ts';
import { timestamp } from '../../store/clock.ts';
import type { Stored } from '../../store/database/schema.ts';
import { type Call, type Of, type Rules, numericId, personOf, sliceOf } from '../call.ts';
import { visibleNote } from './note.ts';
import { briefUser, personOfRow } from '../person.ts';
import { Rejection, found } from '../rejection.ts';

export const noteCommentRules = {
  /** Oldest first. */
  comments(call, { id, ...window }) {
    const { items, ...page } = call.db.list('note_comments', { note_id: visibleNote(call, id).id }, sliceOf(window));
    return { ...page, comments: items.map((comment) => toRecord(call, comment)) };
  },

  comment: (call, of) => toRecord(call, knownComment(call, of)),

  createComment(call, { id, content }: Of & { content: string | undefined }) {
    const note = visibleNote(call, id);
    if (!content?.trim()) throw new Rejection(1002);
    // Not specified: a comment on a note closed to comments; it is rejected, even from the author.
    if (!note.can_reply) throw new Rejection(1000);
    const row = { note_id: note.id, person_id: personOf(call), content, created: timestamp() };
    return toRecord(call, call.db.insert('note_comments', row));
  },

  /** Not specified: who may remove a comment; its author and the author of the note may. */
  deleteComment(call, of) {
    const comment = knownComment(call, of);
    const owner = visibleNote(call, of.id).person_id;
    if (call.reader !== comment.person_id && call.reader !== owner) throw new Rejection(1000);
    call.db.remove('note_comments', { id: comment.id });
    return {};
  },
} satisfies Partial<Rules<typeof noteEndpoints>>;

/** Not specified: the response for an unknown comment; the same as for an unknown note. */
const knownComment = (call: Call, { id, comment_id }: Of & { comment_id: string }): Stored<'note_comments'> =>
  found(call.db.find('note_comments', { note_id: visibleNote(call, id).id, id: numericId(comment_id) }), 1006);

function toRecord(call: Call, comment: Stored<'note_comments'>): NoteCommentRecord {
  return {
    id: String(comment.id),
    content: comment.content,
    created: comment.created,
    author: briefUser(personOfRow(call, comment)),
  };
}

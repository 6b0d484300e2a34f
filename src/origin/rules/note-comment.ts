import type { NoteCommentRecord, noteEndpoints } from '../../api/note.ts';
import type { StoredComment } from '../store/note.ts';
import { type Person, briefUser } from '../store/people.ts';
import { type Call, type Of, type Rules, personOf, sliceOf } from './call.ts';
import { visibleNote } from './note.ts';
import { numericId } from './numeric-id.ts';
import { Rejection, found } from './rejection.ts';

type OfComment = Of & { comment_id: string };

export const noteCommentRules = {
  /** Oldest first. */
  comments(call, { id, ...window }) {
    const { items, ...page } = call.notes.comments(visibleNote(call, id).id, sliceOf(window));
    const authors = call.people.byIds(items.map((comment) => comment.person_id));
    return { ...page, comments: items.map((comment) => toRecord(comment, authors.get(comment.person_id))) };
  },

  comment(call, of) {
    const comment = knownComment(call, of);
    return toRecord(comment, call.people.byId(comment.person_id));
  },

  createComment(call, { id, content }: Of & { content: string | undefined }) {
    const note = visibleNote(call, id);
    if (!content?.trim()) throw new Rejection(1002);
    // Not specified: a comment on a note closed to comments; it is rejected, even from the author.
    if (!note.can_reply) throw new Rejection(1000);
    const author = personOf(call);
    return toRecord(call.notes.addComment(note.id, author, content), call.people.byId(author));
  },

  /** Not specified: who may remove a comment; its author and the author of the note may. */
  deleteComment(call, of) {
    const comment = knownComment(call, of);
    const owner = visibleNote(call, of.id).person_id;
    if (call.reader !== comment.person_id && call.reader !== owner) throw new Rejection(1000);
    call.notes.removeComment(comment.id);
    return {};
  },
} satisfies Partial<Rules<typeof noteEndpoints>>;

/** Not specified: the response for an unknown comment; the same as for an unknown note. */
const knownComment = (call: Call, { id, comment_id }: OfComment): StoredComment =>
  found(call.notes.comment(visibleNote(call, id).id, numericId(comment_id)), 1006);

function toRecord(comment: StoredComment, author: Person | undefined): NoteCommentRecord {
  return {
    id: String(comment.id),
    content: comment.content,
    created: comment.created,
    ...(author && { author: briefUser(author) }),
  };
}

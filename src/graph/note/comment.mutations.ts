import { noteEndpoints } from '../../api/note.ts';
import { mutation } from '../../engine/fields/mutation.ts';
import { required, validId } from '../../engine/errors/violations.ts';
import { globalId } from '../../engine/values/global-id.ts';
import { changedField, deletionPayload, returnedField } from '../../engine/fields/mutation-payloads.ts';
import { Note } from './note.ts';
import { NoteComment, commentIdOf } from './comment.ts';

mutation('createNoteComment', {
  description: 'Creates a comment on a note.',
  endpoint: noteEndpoints.createComment,
  target: ['noteId', 'Note'],
  input: {
    description: 'The comment to create.',
    fields: (t) => ({ content: t.string({ required: true, description: 'The plain text, not empty.' }) }),
  },
  check: ({ content }) => [required('content', content)],
  request: ({ content }, id) => ({ id, content }),
  payload: {
    description: 'The new comment.',
    fields: (t) => ({
      comment: returnedField(t, NoteComment, 'comment', ({ result, id }) => ({ ...result, note_id: id })),
      note: changedField(t, Note),
    }),
  },
  invalidates: (note) => [`Note:${note}`],
  errorCodes: { 1000: 'COMMENT_NOT_ALLOWED' },
});
mutation('deleteNoteComment', {
  description: 'Deletes a comment.',
  endpoint: noteEndpoints.deleteComment,
  target: ['noteId', 'Note'],
  input: {
    description: 'The comment to delete.',
    fields: (t) => ({
      commentId: t.id({ required: true, description: 'Global id of a comment on this note, or bare id.' }),
    }),
  },
  // The check of `commentId` needs a valid note id.
  check: ({ commentId }, note) => (note ? [validId('commentId', () => commentIdOf(note, commentId))] : []),
  request: ({ commentId }, id) => ({ id, comment_id: commentIdOf(id, commentId) }),
  run: async ({ send, id }, { commentId }) => {
    await send();
    return globalId('NoteComment', `${id}:${commentIdOf(id, commentId)}`);
  },
  payload: deletionPayload<string>(
    'NoteComment',
    (t) => ({ note: changedField(t, Note) }),
    ({ result }) => result,
  ),
  errorCodes: { 1006: 'COMMENT_NOT_FOUND' },
  invalidates: (note, { commentId }) => [`Note:${note}`, `NoteComment:${note}:${commentIdOf(note, commentId)}`],
});

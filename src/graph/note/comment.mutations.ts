import { noteEndpoints } from '../../api/note.ts';
import { builder } from '../engine/builder.ts';
import { globalId } from '../types/global-id.ts';
import { type FieldBuilder } from '../types/node.ts';
import { required, validId } from '../errors/violations.ts';
import { Note, type NoteShape } from './note.ts';
import { NoteComment, type NoteCommentShape, commentIdOf } from './comment.ts';

const CreateNoteCommentInput = builder.inputType('CreateNoteCommentInput', {
  description: 'The comment to create.',
  fields: (t) => ({
    noteId: t.id({ required: true, description: 'Global or bare id of the note.' }),
    content: t.string({ required: true, description: 'The plain text, not empty.' }),
  }),
});
const DeleteNoteCommentInput = builder.inputType('DeleteNoteCommentInput', {
  description: 'The comment to delete.',
  fields: (t) => ({
    noteId: t.id({ required: true, description: 'Global or bare id of the note.' }),
    commentId: t.id({ required: true, description: 'Global id of a comment on this note, or bare id.' }),
  }),
});

const noteCommentedOn = <Shape extends { note: NoteShape }>(t: FieldBuilder<Shape>) =>
  t.field({
    type: Note,
    nullable: true,
    description: 'The note. Fields other than the id cost one call.',
    nullIf: 'the service has it no longer',
    resolve: ({ note }) => note,
  });

const CreateNoteCommentPayload = builder
  .objectRef<{ comment: NoteCommentShape; note: NoteShape }>('CreateNoteCommentPayload')
  .implement({
    description: 'The new comment.',
    fields: (t) => ({
      comment: t.field({
        type: NoteComment,
        nullable: true,
        description: 'The comment in the response of the service.',
        nullIf: false,
        resolve: ({ comment }) => comment,
      }),
      note: noteCommentedOn(t),
    }),
  });
const DeleteNoteCommentPayload = builder
  .objectRef<{ deletedId: string; note: NoteShape }>('DeleteNoteCommentPayload')
  .implement({
    description: 'The result of deleting a comment.',
    fields: (t) => ({
      deletedId: t.exposeID('deletedId', { description: 'The global id of the deleted comment.' }),
      note: noteCommentedOn(t),
    }),
  });

builder.mutationFields((t) => ({
  createNoteComment: t.write({
    endpoint: noteEndpoints.createComment,
    payload: CreateNoteCommentPayload,
    input: CreateNoteCommentInput,
    target: ['noteId', 'Note'],
    description: 'Creates a comment on a note. `POST /v2/note/{id}/comments`',
    check: ({ content }) => [required('content', content)],
    run: async ({ write, id }, { content }) => {
      const comment = await write(noteEndpoints.createComment, { id, content });
      return { comment: { ...comment, note_id: id }, note: { id } as NoteShape };
    },
    invalidates: (note) => [`Note:${note}`],
  }),
  deleteNoteComment: t.write({
    endpoint: noteEndpoints.deleteComment,
    payload: DeleteNoteCommentPayload,
    input: DeleteNoteCommentInput,
    target: ['noteId', 'Note'],
    description: 'Deletes a comment. `DELETE /v2/note/{id}/comment/{comment_id}`',
    // The check of `commentId` needs a valid note id.
    check: ({ commentId }, _, note) => (note ? [validId('commentId', () => commentIdOf(note, commentId))] : []),
    run: async ({ write, id }, { commentId }) => {
      const comment = commentIdOf(id, commentId);
      await write(noteEndpoints.deleteComment, { id, comment_id: comment });
      return { deletedId: globalId('NoteComment', `${id}:${comment}`), note: { id } as NoteShape };
    },
    invalidates: (note, { commentId }) => [`Note:${note}`, `NoteComment:${note}:${commentIdOf(note, commentId)}`],
  }),
}));

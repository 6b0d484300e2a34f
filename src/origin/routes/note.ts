import { noteEndpoints as row } from '../../api/note.ts';
import { personOf } from '../access.ts';
import { type Route, serve } from '../exchange.ts';
import { commentById, commentsOfNote, createComment, deleteComment } from '../rules/note-comment.ts';
import {
  addNotePictures,
  createNote,
  deleteNote,
  likeNote,
  noteById,
  notesOfPerson,
  unlikeNote,
  updateNote,
} from '../rules/note.ts';
import type { Stores } from '../store/stores.ts';

// Keep the columns aligned.
// prettier-ignore
export const noteRoutes = (stores: Stores): Route[] => [
  serve(row.byId, ({ id, ...query }, viewer) => noteById(stores, personOf(viewer), id, query)),
  serve(row.userCreated, ({ id, ...query }, viewer) => notesOfPerson(stores, personOf(viewer), id, query)),
  serve(row.comments, ({ id, ...window }, viewer) => commentsOfNote(stores, personOf(viewer), id, window)),
  serve(row.comment, ({ id, comment_id }, viewer) => commentById(stores, personOf(viewer), id, comment_id)),

  serve(row.create, (draft, viewer, pictures) => createNote(stores, personOf(viewer), draft, pictures)),
  serve(row.update, ({ id, ...draft }, viewer, pictures) => updateNote(stores, personOf(viewer), id, draft, pictures)),
  serve(row.delete, ({ id }, viewer) => deleteNote(stores, personOf(viewer), id)),
  serve(row.addPictures, ({ id, ...draft }, viewer, pictures) =>
    addNotePictures(stores, personOf(viewer), id, draft, pictures),
  ),
  serve(row.createComment, ({ id, content }, viewer) => createComment(stores, personOf(viewer), id, content)),
  serve(row.deleteComment, ({ id, comment_id }, viewer) => deleteComment(stores, personOf(viewer), id, comment_id)),
  serve(row.like, ({ id }, viewer) => likeNote(stores, personOf(viewer), id)),
  serve(row.unlike, ({ id }, viewer) => unlikeNote(stores, personOf(viewer), id)),
];

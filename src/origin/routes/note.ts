import { noteEndpoints } from '../../api/note.ts';
import { routesOf } from '../exchange.ts';
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

export const noteRoutes = routesOf(noteEndpoints, {
  byId: noteById,
  userCreated: notesOfPerson,
  comments: commentsOfNote,
  comment: commentById,

  create: createNote,
  update: updateNote,
  delete: deleteNote,
  addPictures: addNotePictures,
  createComment,
  deleteComment,
  like: likeNote,
  unlike: unlikeNote,
});

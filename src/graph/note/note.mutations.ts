import { noteEndpoints } from '../../api/note.ts';
import { type Context, type InputBuilder, builder } from '../engine/builder.ts';
import type { FieldBuilder } from '../types/node.ts';
import { pictureViolations } from '../types/picture-upload.ts';
import { deletion, idInput } from '../types/write.ts';
import { invalidIf, required } from '../errors/violations.ts';
import {
  NotePictureInput,
  PictureFailure,
  type PicturedPayload,
  inRequests,
  numberUsed,
  picturesIn,
} from './note-pictures.ts';
import { Note, type NoteShape, Privacy } from './note.ts';

const CreateNoteInput = builder.inputType('CreateNoteInput', {
  description: 'The note to create in the diary of the caller.',
  fields: (t) => ({
    ...noteFields(t),
    privacy: t.field({ type: Privacy, defaultValue: 'public', description: 'Who may see it.' }),
    canReply: t.boolean({ defaultValue: true, description: 'Whether comments are allowed.' }),
  }),
});
const UpdateNoteInput = builder.inputType('UpdateNoteInput', {
  description:
    'The new values of a note. REPLACES all of it. Existing pictures remain, even if the content no longer shows them.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Global or bare id of the note.' }),
    ...noteFields(t),
    privacy: t.field({ type: Privacy, required: true, description: 'Who may see it.' }),
    canReply: t.boolean({ required: true, description: 'Whether comments are allowed.' }),
  }),
});
const AddNotePicturesInput = builder.inputType('AddNotePicturesInput', {
  description: 'The pictures to add to a note.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Global or bare id of the note.' }),
    pictures: t.field({ type: [NotePictureInput], required: true, description: 'The pictures, at least one.' }),
    content: t.string({
      description: 'The whole new text, which shows the pictures. Without it, the pictures are appended.',
    }),
  }),
});

function noteFields(t: InputBuilder) {
  return {
    title: t.string({ required: true, description: 'The title, not empty.' }),
    content: t.string({
      required: true,
      description: 'The text, not empty. Links are `<a href>` or plain URLs; `<图片p_n>` shows picture n.',
    }),
    pictures: t.field({ type: [NotePictureInput], description: 'Pictures to add, uploaded in a multipart request.' }),
  };
}

interface NotePayload {
  note: NoteShape;
}
const notePart = <Shape extends NotePayload>(t: FieldBuilder<Shape>) => ({
  note: t.field({
    type: Note,
    nullable: true,
    description: 'The note after the write. Fields that the response to the write does not provide cost a call.',
    nullIf: 'the service has it no longer',
    resolve: ({ note }) => note,
  }),
});
const picturedPayload = (name: string, description: string) =>
  builder.objectRef<PicturedPayload>(name).implement({
    description,
    fields: (t) => ({
      ...notePart(t),
      storedPictures: t.intList({
        description: 'The numbers of the stored pictures.',
        resolve: ({ storedPictures }) => [...storedPictures],
      }),
      failedPictures: t.field({
        type: [PictureFailure],
        description:
          'The pictures that were not stored. The service accepts three in a request, so the note can be stored and a later request fail. Empty on success.',
        resolve: ({ failedPictures }) => [...failedPictures],
      }),
    }),
  });
const CreateNotePayload = picturedPayload('CreateNotePayload', 'The new note.');
const UpdateNotePayload = picturedPayload('UpdateNotePayload', 'The updated note.');
const AddNotePicturesPayload = picturedPayload('AddNotePicturesPayload', 'The note with its pictures.');
const LikeNotePayload = builder
  .objectRef<NotePayload>('LikeNotePayload')
  .implement({ description: 'The result of liking a note.', fields: notePart });
const UnlikeNotePayload = builder
  .objectRef<NotePayload>('UnlikeNotePayload')
  .implement({ description: 'The result of unliking a note.', fields: notePart });

/** Requests for the largest number of pictures: three with the note, and three with each later request. */
const REQUESTS_MAX = 4;

builder.mutationFields((t) => ({
  createNote: t.write({
    endpoint: noteEndpoints.create,
    payload: CreateNotePayload,
    input: CreateNoteInput,
    description: 'Creates a note. `POST /v2/notes`, and for more than three pictures `POST /v2/note/{id}`',
    maxCalls: REQUESTS_MAX,
    check: noteBroken,
    run: ({ write }, input) =>
      inRequests(write, picturesIn(input), input.content, (texts, parts) =>
        write(noteEndpoints.create, { ...draftOf(input), ...texts }, parts),
      ),
    invalidates: () => [],
    errorCodes: numberUsed,
    pictures: picturesIn,
  }),
  updateNote: t.write({
    endpoint: noteEndpoints.update,
    payload: UpdateNotePayload,
    input: UpdateNoteInput,
    target: ['id', 'Note'],
    description:
      'REPLACES a note of the caller. `PUT /v2/note/{id}`, and for more than three pictures `POST /v2/note/{id}`',
    maxCalls: REQUESTS_MAX,
    check: noteBroken,
    run: ({ write, id }, input) =>
      inRequests(write, picturesIn(input), input.content, (texts, parts) =>
        write(noteEndpoints.update, { id, ...draftOf(input), ...texts }, parts),
      ),
    invalidates: notePlace,
    errorCodes: numberUsed,
    pictures: picturesIn,
  }),
  addNotePictures: t.write({
    endpoint: noteEndpoints.addPictures,
    payload: AddNotePicturesPayload,
    input: AddNotePicturesInput,
    target: ['id', 'Note'],
    description: 'Adds pictures to a note of the caller. `POST /v2/note/{id}`, three at a time',
    maxCalls: REQUESTS_MAX,
    check: (input, { maxPictures }) => [
      invalidIf(input.pictures.length === 0, 'pictures', 'MISSING_ARGUMENT'),
      invalidIf(input.content?.trim() === '', 'content', 'MISSING_ARGUMENT'),
      ...pictureViolations(input.pictures, maxPictures),
    ],
    run: ({ write, id }, input) => {
      const content = input.content ?? undefined;
      return inRequests(write, input.pictures, content, ({ pids = '', ...texts }, parts) =>
        write(noteEndpoints.addPictures, { id, content, pids, ...texts }, parts),
      );
    },
    invalidates: notePlace,
    errorCodes: numberUsed,
    pictures: picturesIn,
  }),
  deleteNote: t.write(
    deletion('Note', noteEndpoints.delete, 'Deletes a note of the caller. `DELETE /v2/note/{id}`', {
      invalidates: notePlace,
    }),
  ),
}));

builder.mutationFields((t) => ({
  likeNote: t.write({
    endpoint: noteEndpoints.like,
    payload: LikeNotePayload,
    input: idInput('LikeNoteInput', 'The note to like.', 'note'),
    target: ['id', 'Note'],
    description: 'Likes a note; a second like changes nothing. `POST /v2/note/{id}/like`',
    run: async ({ write, id }) => ({ note: await after(write(noteEndpoints.like, { id }), id) }),
    invalidates: notePlace,
  }),
  unlikeNote: t.write({
    endpoint: noteEndpoints.unlike,
    payload: UnlikeNotePayload,
    input: idInput('UnlikeNoteInput', 'The note to unlike.', 'note'),
    target: ['id', 'Note'],
    description: 'Removes the like of a note. `DELETE /v2/note/{id}/like`',
    run: async ({ write, id }) => ({ note: await after(write(noteEndpoints.unlike, { id }), id) }),
    invalidates: notePlace,
  }),
}));

// Notes are requested with the token of a person, so no response is shared and only the record must be invalidated.
const notePlace = (id: string): string[] => [`Note:${id}`];

/** A note with only its id; other selected fields are loaded again. */
async function after(done: Promise<unknown>, id: string): Promise<NoteShape> {
  await done;
  return { id } as NoteShape;
}

type NoteInput = typeof CreateNoteInput.$inferInput;

const noteBroken = (input: NoteInput, { maxPictures }: Context) => [
  required('title', input.title),
  required('content', input.content),
  ...pictureViolations(picturesIn(input), maxPictures),
];

const draftOf = ({ title, content, privacy, canReply }: NoteInput) => ({
  title,
  content,
  privacy: privacy ?? undefined,
  can_reply: canReply ?? undefined,
});

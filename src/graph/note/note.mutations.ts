import { type NotePrivacy, noteEndpoints } from '../../api/note.ts';
import { type InputBuilder, builder } from '../engine/builder.ts';
import { globalId, sourceIdOf } from '../types/global-id.ts';
import type { FieldBuilder } from '../types/node.ts';
import { pictureViolations } from '../types/picture-upload.ts';
import { invalidIf, required, validId } from '../errors/violations.ts';
import {
  type NotePicture,
  NotePictureInput,
  PictureFailure,
  type PicturedPayload,
  inRequests,
  numberUsed,
  picturesIn,
} from './note-pictures.ts';
import { Note, type NoteShape, Privacy } from './note.ts';

const CreateNoteInput = builder.inputType('CreateNoteInput', {
  description: 'A note for the diary of the caller.',
  fields: (t) => ({
    ...noteFields(t),
    privacy: t.field({ type: Privacy, defaultValue: 'public', description: 'Who may see it.' }),
    canReply: t.boolean({ defaultValue: true, description: 'Whether comments are allowed.' }),
  }),
});
const UpdateNoteInput = builder.inputType('UpdateNoteInput', {
  description: 'A note as it shall be. REPLACES the whole of it; its pictures stay, shown or not.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Global or bare id of the note.' }),
    ...noteFields(t),
    privacy: t.field({ type: Privacy, required: true, description: 'Who may see it.' }),
    canReply: t.boolean({ required: true, description: 'Whether comments are allowed.' }),
  }),
});
const AddNotePicturesInput = builder.inputType('AddNotePicturesInput', {
  description: 'Pictures for a note.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Global or bare id of the note.' }),
    pictures: t.field({ type: [NotePictureInput], required: true, description: 'At least one.' }),
    content: t.string({
      description: 'The whole text anew, showing the pictures; without it they are put at the end.',
    }),
  }),
});
const noteNamed = (name: string, description: string) =>
  builder.inputType(name, {
    description,
    fields: (t) => ({ id: t.id({ required: true, description: 'Global or bare id of the note.' }) }),
  });
const DeleteNoteInput = noteNamed('DeleteNoteInput', 'Which note to delete.');
const LikeNoteInput = noteNamed('LikeNoteInput', 'Which note to like.');
const UnlikeNoteInput = noteNamed('UnlikeNoteInput', 'Which note to like no more.');

function noteFields(t: InputBuilder) {
  return {
    title: t.string({ required: true, description: 'The headline, not empty.' }),
    content: t.string({
      required: true,
      description: 'The text, not empty. Links are `<a href>` or bare addresses, pictures `<图片p_n>`.',
    }),
    pictures: t.field({ type: [NotePictureInput], description: 'Pictures to add, sent along as a multipart request.' }),
  };
}

interface NotePayload {
  note: NoteShape;
}
const notePart = <Shape extends NotePayload>(t: FieldBuilder<Shape>) => ({
  note: t.field({
    type: Note,
    nullable: true,
    description: 'The note as it is now. What the answer to the write does not tell of it costs a call.',
    resolve: ({ note }) => note,
  }),
});
const picturedPayload = (name: string, description: string) =>
  builder.objectRef<PicturedPayload>(name).implement({
    description,
    fields: (t) => ({
      ...notePart(t),
      storedPictures: t.intList({
        description: 'The numbers of the pictures that are stored.',
        resolve: ({ storedPictures }) => [...storedPictures],
      }),
      failedPictures: t.field({
        type: [PictureFailure],
        description:
          'Those of a later request that are not: the service takes three at a time. Empty where all is well.',
        resolve: ({ failedPictures }) => [...failedPictures],
      }),
    }),
  });
const CreateNotePayload = picturedPayload('CreateNotePayload', 'The new note.');
const UpdateNotePayload = picturedPayload('UpdateNotePayload', 'The note as it is now.');
const AddNotePicturesPayload = picturedPayload('AddNotePicturesPayload', 'The note with its pictures.');
const DeleteNotePayload = builder.objectRef<{ deletedId: string }>('DeleteNotePayload').implement({
  description: 'What is left of it.',
  fields: (t) => ({ deletedId: t.exposeID('deletedId', { description: 'The global id that it had.' }) }),
});
const LikeNotePayload = builder
  .objectRef<NotePayload>('LikeNotePayload')
  .implement({ description: 'The note liked.', fields: notePart });
const UnlikeNotePayload = builder
  .objectRef<NotePayload>('UnlikeNotePayload')
  .implement({ description: 'The note, liked no more.', fields: notePart });

/** Requests that the most pictures take: three with the note, and three with each one after it. */
const REQUESTS_MAX = 4;

builder.mutationFields((t) => ({
  createNote: t.write({
    endpoint: noteEndpoints.create,
    payload: CreateNotePayload,
    input: CreateNoteInput,
    description: 'Writes a note. `POST /v2/notes`, and for more than three pictures `POST /v2/note/{id}`',
    maxCalls: REQUESTS_MAX,
    check: (input, { maxPictures }) => noteBroken(input, maxPictures),
    run: (write, input) =>
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
    description:
      'REPLACES a note of the caller. `PUT /v2/note/{id}`, and for more than three pictures `POST /v2/note/{id}`',
    maxCalls: REQUESTS_MAX,
    check: (input, { maxPictures }) => [...idBroken(input), ...noteBroken(input, maxPictures)],
    run: (write, input) =>
      inRequests(write, picturesIn(input), input.content, (texts, parts) =>
        write(noteEndpoints.update, { id: noteIdOf(input), ...draftOf(input), ...texts }, parts),
      ),
    invalidates: notePlace,
    errorCodes: numberUsed,
    pictures: picturesIn,
  }),
  addNotePictures: t.write({
    endpoint: noteEndpoints.addPictures,
    payload: AddNotePicturesPayload,
    input: AddNotePicturesInput,
    description: 'Adds pictures to a note of the caller. `POST /v2/note/{id}`, three at a time',
    maxCalls: REQUESTS_MAX,
    check: (input, { maxPictures }) => [
      ...idBroken(input),
      ...invalidIf(input.pictures.length === 0, { path: ['input', 'pictures'], code: 'MISSING_ARGUMENT' }),
      ...invalidIf(input.content != null && !input.content.trim(), {
        path: ['input', 'content'],
        code: 'MISSING_ARGUMENT',
      }),
      ...pictureViolations(input.pictures, maxPictures),
    ],
    run: (write, input) => {
      const content = input.content ?? undefined;
      return inRequests(write, input.pictures, content, ({ pids = '', ...texts }, parts) =>
        write(noteEndpoints.addPictures, { id: noteIdOf(input), content, pids, ...texts }, parts),
      );
    },
    invalidates: notePlace,
    errorCodes: numberUsed,
    pictures: picturesIn,
  }),
  deleteNote: t.write({
    endpoint: noteEndpoints.delete,
    payload: DeleteNotePayload,
    input: DeleteNoteInput,
    description: 'Deletes a note of the caller. `DELETE /v2/note/{id}`',
    check: idBroken,
    run: async (write, input) => {
      const id = noteIdOf(input);
      await write(noteEndpoints.delete, { id });
      return { deletedId: globalId('Note', id) };
    },
    invalidates: notePlace,
  }),
  likeNote: t.write({
    endpoint: noteEndpoints.like,
    payload: LikeNotePayload,
    input: LikeNoteInput,
    description: 'Likes a note; liking it twice is liking it once. `POST /v2/note/{id}/like`',
    check: idBroken,
    run: async (write, input) => ({ note: await after(write(noteEndpoints.like, { id: noteIdOf(input) }), input) }),
    invalidates: notePlace,
  }),
  unlikeNote: t.write({
    endpoint: noteEndpoints.unlike,
    payload: UnlikeNotePayload,
    input: UnlikeNoteInput,
    description: 'Takes back the like of a note. `DELETE /v2/note/{id}/like`',
    check: idBroken,
    run: async (write, input) => ({ note: await after(write(noteEndpoints.unlike, { id: noteIdOf(input) }), input) }),
    invalidates: notePlace,
  }),
}));

interface Named {
  id: string;
}
const noteIdOf = ({ id }: Named): string => sourceIdOf('Note', id);
const idBroken = (input: Named) => validId('id', () => noteIdOf(input));
// Notes are read with the token of a person, so nobody shares them.
const notePlace = (input: Named): string[] => [`Note:${noteIdOf(input)}`];

/** The note by its id alone: read again, where more of it is selected. */
async function after(done: Promise<unknown>, input: Named): Promise<NoteShape> {
  await done;
  return { id: noteIdOf(input) } as NoteShape;
}

interface NoteInput {
  title: string;
  content: string;
  privacy?: NotePrivacy | null | undefined;
  canReply?: boolean | null | undefined;
  pictures?: NotePicture[] | null | undefined;
}

const noteBroken = (input: NoteInput, maxPictures: number) => [
  ...required('title', input.title),
  ...required('content', input.content),
  ...pictureViolations(picturesIn(input), maxPictures),
];

const draftOf = ({ title, content, privacy, canReply }: NoteInput) => ({
  title,
  content,
  privacy: privacy ?? undefined,
  can_reply: canReply ?? undefined,
});

import {
  NOTE_PICTURES_MAX,
  type NotePrivacy,
  type PictureLayout as WireLayout,
  noteEndpoints,
} from '../../api/note.ts';
import { UpstreamFault, UpstreamRefusal } from '../../upstream/errors.ts';
import { PhotoLayout } from '../types/content-blocks.ts';
import { type InputBuilder, builder } from '../engine/builder.ts';
import { told } from '../errors/to-client-error.ts';
import { globalId, sourceIdOf } from '../types/global-id.ts';
import type { FieldBuilder } from '../types/node.ts';
import {
  type GivenPicture,
  PictureRefused,
  discardPictures,
  pictureParts,
  picturesBroken,
} from '../types/picture-upload.ts';
import { broken, needed, readable } from '../errors/violations.ts';
import { type Codes, type Write, named } from '../engine/mutation.ts';
import { Note, type NoteShape, Privacy } from './note.ts';

const NotePictureInput = builder.inputType('NotePictureInput', {
  description:
    'A picture of a note. The service takes three with a request: more of them are sent by threes, and the files of a request come in the order of the pictures.',
  fields: (t) => ({
    number: t.int({
      required: true,
      description: 'From 1; `<图片p_n>` in the content shows it. Never used on this note before.',
    }),
    file: t.field({ type: 'Upload', required: true, description: 'JPEG, PNG, GIF or WebP, under 3,000,000 bytes.' }),
    layout: t.field({ type: PhotoLayout, defaultValue: 'C', description: 'Where it stands on its line.' }),
    caption: t.string({ description: 'The words under it; none without them.' }),
  }),
});

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

interface PictureFailure {
  number: number;
  code: string;
  message: string;
}
const PictureFailure = builder.objectRef<PictureFailure>('PictureFailure').implement({
  description: 'A picture that is not stored, though the note is.',
  fields: (t) => ({
    number: t.exposeInt('number', { description: 'Its number in the input.' }),
    code: t.exposeString('code', {
      description:
        'Why, as the code of an error says it; `PICTURE_NOT_SENT` for one that went down with another of its request.',
    }),
    message: t.exposeString('message', { description: 'The same in words.' }),
  }),
});

interface NotePayload {
  note: NoteShape;
}
interface PicturedPayload extends NotePayload {
  storedPictures: readonly number[];
  failedPictures: readonly PictureFailure[];
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
    calls: REQUESTS_MAX,
    check: (input, { maxPictures }) => noteBroken(input, maxPictures),
    run: (write, input) =>
      inRequests(write, picturesIn(input), input.content, (texts, parts) =>
        write(noteEndpoints.create, { ...draftOf(input), ...texts }, parts),
      ),
    clears: () => [],
    codes: numberUsed,
    pictures: picturesIn,
  }),
  updateNote: t.write({
    endpoint: noteEndpoints.update,
    payload: UpdateNotePayload,
    input: UpdateNoteInput,
    description:
      'REPLACES a note of the caller. `PUT /v2/note/{id}`, and for more than three pictures `POST /v2/note/{id}`',
    calls: REQUESTS_MAX,
    check: (input, { maxPictures }) => [...idBroken(input), ...noteBroken(input, maxPictures)],
    run: (write, input) =>
      inRequests(write, picturesIn(input), input.content, (texts, parts) =>
        write(noteEndpoints.update, { id: noteIdOf(input), ...draftOf(input), ...texts }, parts),
      ),
    clears: notePlace,
    codes: numberUsed,
    pictures: picturesIn,
  }),
  addNotePictures: t.write({
    endpoint: noteEndpoints.addPictures,
    payload: AddNotePicturesPayload,
    input: AddNotePicturesInput,
    description: 'Adds pictures to a note of the caller. `POST /v2/note/{id}`, three at a time',
    calls: REQUESTS_MAX,
    check: (input, { maxPictures }) => [
      ...idBroken(input),
      ...broken(input.pictures.length === 0, { path: ['input', 'pictures'], code: 'MISSING_ARGUMENT' }),
      ...broken(input.content != null && !input.content.trim(), {
        path: ['input', 'content'],
        code: 'MISSING_ARGUMENT',
      }),
      ...picturesBroken(input.pictures, maxPictures),
    ],
    run: (write, input) => {
      const content = input.content ?? undefined;
      return inRequests(write, input.pictures, content, ({ pids = '', ...texts }, parts) =>
        write(noteEndpoints.addPictures, { id: noteIdOf(input), content, pids, ...texts }, parts),
      );
    },
    clears: notePlace,
    codes: numberUsed,
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
    clears: notePlace,
  }),
  likeNote: t.write({
    endpoint: noteEndpoints.like,
    payload: LikeNotePayload,
    input: LikeNoteInput,
    description: 'Likes a note; liking it twice is liking it once. `POST /v2/note/{id}/like`',
    check: idBroken,
    run: async (write, input) => ({ note: await after(write(noteEndpoints.like, { id: noteIdOf(input) }), input) }),
    clears: notePlace,
  }),
  unlikeNote: t.write({
    endpoint: noteEndpoints.unlike,
    payload: UnlikeNotePayload,
    input: UnlikeNoteInput,
    description: 'Takes back the like of a note. `DELETE /v2/note/{id}/like`',
    check: idBroken,
    run: async (write, input) => ({ note: await after(write(noteEndpoints.unlike, { id: noteIdOf(input) }), input) }),
    clears: notePlace,
  }),
}));

interface Named {
  id: string;
}
const noteIdOf = ({ id }: Named): string => sourceIdOf('Note', id);
const idBroken = (input: Named) => readable('id', () => noteIdOf(input));
// Notes are read with the token of a person, so nobody shares them.
const notePlace = (input: Named): string[] => [`Note:${noteIdOf(input)}`];

/** The note by its id alone: read again, where more of it is selected. */
async function after(done: Promise<unknown>, input: Named): Promise<NoteShape> {
  await done;
  return { id: noteIdOf(input) } as NoteShape;
}

interface NotePicture extends GivenPicture {
  layout?: WireLayout | null | undefined;
  caption?: string | null | undefined;
}
interface NoteInput {
  title: string;
  content: string;
  privacy?: NotePrivacy | null | undefined;
  canReply?: boolean | null | undefined;
  pictures?: NotePicture[] | null | undefined;
}

const noteBroken = (input: NoteInput, maxPictures: number) => [
  ...needed('title', input.title),
  ...needed('content', input.content),
  ...picturesBroken(picturesIn(input), maxPictures),
];

const draftOf = ({ title, content, privacy, canReply }: NoteInput) => ({
  title,
  content,
  privacy: privacy ?? undefined,
  can_reply: canReply ?? undefined,
});

const picturesIn = ({ pictures }: { pictures?: NotePicture[] | null | undefined }): NotePicture[] => pictures ?? [];

/** Everything else that draws it is refused before the call. */
const pictureCodes: Codes = { 999: 'PICTURE_NUMBER_USED' };
const numberUsed = (input: { pictures?: NotePicture[] | null | undefined }): Codes =>
  picturesIn(input).length ? pictureCodes : {};

type Texts = Record<string, string | undefined> & { pids?: string };
type Send = (texts: Texts, parts: ReturnType<typeof pictureParts> | undefined) => Promise<NoteShape>;

/**
 * The note with its first three pictures, then three in each request more. What a later request could not store is told and not
 * lost: the note itself is written.
 */
async function inRequests(
  write: Write,
  pictures: readonly NotePicture[],
  content: string | undefined,
  sendFirst: Send,
): Promise<PicturedPayload> {
  const groups = byThrees(pictures);
  const send = (group: readonly NotePicture[], through: Send) =>
    through(textsOf(group), group.length ? pictureParts(group, (number) => `image_${number}`, pictures) : undefined);

  const [first = [], ...later] = groups;
  let note = await send(first, sendFirst);
  const { id } = note;
  const storedPictures = first.map(({ number }) => number);
  const failedPictures: PictureFailure[] = [];
  // The whole content again puts the pictures where it shows them; without it each request puts its own at the end.
  const shown = later.flat().some(({ number }) => content?.includes(`<图片p_${number}>`)) ? content : undefined;
  let fault: UpstreamFault | undefined;
  for (const group of later) {
    try {
      if (fault) throw fault;
      note = await send(group, ({ pids = '', ...texts }, parts) =>
        write(noteEndpoints.addPictures, { id, content: shown, pids, ...texts }, parts),
      );
      storedPictures.push(...group.map(({ number }) => number));
    } catch (error) {
      discardPictures(group);
      failedPictures.push(...group.map(({ number }) => failureOf(number, error)));
      if (error instanceof UpstreamFault) fault = error; // what did not answer now is not asked twice more
      // What is known of the note may no longer be so.
      if (error instanceof UpstreamFault && error.code === 'UPSTREAM_RESULT_UNKNOWN') note = { id } as NoteShape;
    }
  }
  return { note, storedPictures, failedPictures };
}

function byThrees(pictures: readonly NotePicture[]): NotePicture[][] {
  const groups: NotePicture[][] = [];
  for (let at = 0; at < pictures.length; at += NOTE_PICTURES_MAX)
    groups.push(pictures.slice(at, at + NOTE_PICTURES_MAX));
  return groups;
}

function textsOf(group: readonly NotePicture[]): Texts {
  const texts: Texts = {};
  if (group.length) texts.pids = group.map(({ number }) => `p_${number}`).join(',');
  for (const { number, layout, caption } of group) {
    texts[`layout_${number}`] = layout ?? 'C';
    texts[`desc_${number}`] = caption || undefined;
  }
  return texts;
}

function failureOf(number: number, error: unknown): PictureFailure {
  if (error instanceof PictureRefused && error.number !== number) {
    return { number, code: 'PICTURE_NOT_SENT', message: 'Another picture of the same request was refused.' };
  }
  if (error instanceof PictureRefused) return { number, code: error.code, message: error.message };
  const known = told(named(error, pictureCodes));
  const isOurs = !known && !(error instanceof UpstreamRefusal) && !isCoded(error);
  if (isOurs) throw error;
  if (known) return { number, code: String(known.extensions.code), message: known.message };
  const { message, extensions } = error as { message: string; extensions: { code: string } };
  return { number, code: extensions.code, message };
}

const isCoded = (error: unknown): boolean =>
  typeof (error as { extensions?: { code?: unknown } }).extensions?.code === 'string';

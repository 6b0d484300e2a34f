import { noteEndpoints } from '../../api/note.ts';
import type { InputBuilder } from '../../engine/builder.ts';
import { changeMutations } from '../../engine/fields/change.ts';
import { type Payload, type ValuesOf, type Written, mutation } from '../../engine/fields/mutation.ts';
import { invalidIf, required } from '../../engine/errors/violations.ts';
import type { FieldBuilder } from '../../engine/fields/node.ts';
import { changedField, deletion } from '../../engine/fields/mutation-payloads.ts';
import {
  NotePictureInput,
  PictureFailure,
  type PicturedNote,
  callsFor,
  notePictures,
  sendByThrees,
} from './note-pictures.ts';
import { formerOwner } from '../caller.ts';
import { Note, NotePrivacyEnum } from './note.ts';
import { notePatch } from './note.patch.ts';
import type { KeptPictures } from './written-note.ts';

const noteFields = (t: InputBuilder, isWhole: true) => ({
  title: t.string({ required: isWhole, description: 'The title, not empty.' }),
  content: t.string({
    required: isWhole,
    description: 'The text, not empty. Links are `<a href>` or plain URLs; `<图片p_n>` shows picture n.',
  }),
  pictures: t.field({ type: [NotePictureInput], description: 'Pictures to add, uploaded in a multipart request.' }),
});

/** The note after a write. */
const noteField = <Result>(t: FieldBuilder<Written<Result>>, noteOf?: (written: Written<Result>) => object) => ({
  note: changedField(
    t,
    Note,
    'The note after the write. Fields that the response to the write does not provide cost a call.',
    noteOf,
  ),
});

const picturedPayload = (description: string): Payload<PicturedNote> => ({
  description,
  fields: (t) => ({
    ...noteField(t, ({ result }) => result.note),
    storedPictures: t.intList({
      description: 'The numbers of the stored pictures.',
      resolve: ({ result }) => [...result.storedPictures],
    }),
    failedPictures: t.field({
      type: [PictureFailure],
      description:
        'The pictures that were not stored. The service accepts three in a request, so the note can be stored and a later request fail. Empty on success.',
      resolve: ({ result }) => [...result.failedPictures],
    }),
  }),
});

/** Requests for the largest number of pictures: three with the note, and three with each later request. */
const CALLS_MAX = 4;
/** Pictures in a variable that is not known yet are as many as there may be. */
function maxCalls(input: { pictures?: readonly unknown[] | null | undefined } | undefined): number {
  const { pictures } = input ?? { pictures: [undefined] };
  const isKnown = pictures?.every((each) => typeof each === 'object') ?? true;
  return isKnown ? Math.min(CALLS_MAX, callsFor(pictures?.length ?? 0)) : CALLS_MAX;
}

// Notes are requested with the token of a person, so no response is shared and only the record must be invalidated.
const invalidates = (id: string): string[] => [`Note:${id}`];

type NoteInput = ValuesOf<typeof noteFields> & {
  privacy?: string | null;
  canReply?: boolean | null;
} & KeptPictures;

const noteBroken = ({ title, content }: NoteInput) => [required('title', title), required('content', content)];

const draftOf = ({ title, content, privacy, canReply, shownPictures }: NoteInput) => ({
  ...shownPictures,
  title,
  content,
  privacy: privacy ?? undefined,
  can_reply: canReply ?? undefined,
});

mutation('createNote', {
  description: 'Creates a note. More than three pictures are sent in further requests.',
  upstream: '`POST /v2/notes`, then `POST /v2/note/{id}`',
  endpoint: noteEndpoints.create,
  input: {
    description: 'The note to create in the diary of the caller.',
    fields: (t: InputBuilder) => ({
      ...noteFields(t, true),
      privacy: t.field({ type: NotePrivacyEnum, defaultValue: 'public', description: 'Who may see it.' }),
      canReply: t.boolean({ defaultValue: true, description: 'Whether comments are allowed.' }),
    }),
  },
  check: noteBroken,
  request: draftOf,
  run: sendByThrees,
  maxCalls,
  payload: picturedPayload('The new note.'),
  invalidates: () => [], // lists of notes are not cached
  pictures: notePictures,
});
changeMutations('Note', {
  what: 'a note of the caller',
  cleared: 'everything is required. Existing pictures remain, even if the content no longer shows them.',
  endpoint: noteEndpoints.update,
  target: ['id', 'Note'],
  fields: (t: InputBuilder, isWhole: true) => ({
    ...noteFields(t, isWhole),
    privacy: t.field({ type: NotePrivacyEnum, required: isWhole, description: 'Who may see it.' }),
    canReply: t.boolean({ required: isWhole, description: 'Whether comments are allowed.' }),
  }),
  patch: notePatch,
  check: noteBroken,
  request: (input, id) => ({ id, ...draftOf(input) }),
  run: sendByThrees,
  maxCalls,
  payload: picturedPayload('The changed note.'),
  invalidates,
  pictures: notePictures,
});
mutation('addNotePictures', {
  description: 'Adds pictures to a note of the caller, three in a request.',
  endpoint: noteEndpoints.addPictures,
  target: ['id', 'Note'],
  input: {
    description: 'The pictures to add to a note.',
    fields: (t: InputBuilder) => ({
      pictures: t.field({ type: [NotePictureInput], required: true, description: 'The pictures, at least one.' }),
      content: t.string({
        description: 'The whole new text, which shows the pictures. Without it, the pictures are appended.',
      }),
    }),
  },
  check: ({ pictures, content }) => [
    invalidIf(pictures.length === 0, 'pictures', 'MISSING_ARGUMENT'),
    invalidIf(content?.trim() === '', 'content', 'MISSING_ARGUMENT'),
  ],
  request: ({ content }, id) => ({ id, content: content ?? undefined, pids: '' }),
  run: sendByThrees,
  maxCalls,
  payload: picturedPayload('The note with its pictures.'),
  invalidates,
  pictures: notePictures,
});
deletion('Note', {
  description: 'Deletes a note of the caller.',
  endpoint: noteEndpoints.delete,
  owner: formerOwner('author'),
  invalidates,
});
mutation('likeNote', {
  description:
    'Likes a note. The service does not say whether the caller has liked a note: show `likesCount` of the response instead of counting in the client.',
  endpoint: noteEndpoints.like,
  target: ['id', 'Note'],
  input: { description: 'The note to like.' },
  payload: { description: 'The result of liking a note.', fields: (t) => noteField(t) },
  invalidates,
});
mutation('unlikeNote', {
  description: 'Removes the like of a note.',
  endpoint: noteEndpoints.unlike,
  target: ['id', 'Note'],
  input: { description: 'The note to unlike.' },
  payload: { description: 'The result of unliking a note.', fields: (t) => noteField(t) },
  invalidates,
});

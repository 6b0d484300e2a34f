import { PICTURE_BELOW } from '../../api/book.ts';
import { NOTE_PICTURES_MAX, noteEndpoints } from '../../api/note.ts';
import type { GraphQLError } from 'graphql';
import { UpstreamFailure } from '../../upstream/errors.ts';
import { PhotoLayout } from '../types/content-blocks.ts';
import { ErrorCode } from '../types/error-code.ts';
import { builder } from '../../engine/builder.ts';
import { type ClientCode, isClientCode } from '../../engine/errors/codes.ts';
import { toClientError } from '../../engine/errors/to-client-error.ts';
import { type PictureForm, pictureFields, pictureParts } from '../../engine/fields/picture-upload.ts';
import { type WriteRun, withClientCode } from '../../engine/fields/mutation.ts';
import type { NoteShape } from './note.ts';

/** Every other cause of code 999 is rejected before the call. */
const errorCodes = { 999: 'PICTURE_NUMBER_USED' } as const;

export const notePictures: PictureForm = {
  bytesBelow: PICTURE_BELOW,
  nameOf: (number) => `image_${number}`,
  errorCodes,
};

export const NotePictureInput = builder.inputType('NotePictureInput', {
  description:
    'A picture of a note. The service accepts three in a request, so more pictures are sent in groups of three.',
  fields: (t) => ({
    ...pictureFields(t, notePictures, 'note', '<图片p_n>'),
    layout: t.field({ type: PhotoLayout, defaultValue: 'C', description: 'The alignment of the picture.' }),
    caption: t.string({ description: 'The caption; none by default.' }),
  }),
});

interface PictureFailure {
  number: number;
  code: ClientCode;
  message: string;
}
export const PictureFailure = builder.objectRef<PictureFailure>('PictureFailure').implement({
  description: 'A picture that was not stored, although the note was.',
  fields: (t) => ({
    number: t.exposeInt('number', { description: 'The number of the picture in the input.' }),
    code: t.expose('code', {
      type: ErrorCode,
      description: 'The error code.',
    }),
    message: t.exposeString('message', { description: 'The error message.' }),
  }),
});

export interface PicturedNote {
  note: NoteShape;
  storedPictures: readonly number[];
  failedPictures: readonly PictureFailure[];
}
type NotePicture = typeof NotePictureInput.$inferInput;

/**
 * Sends the note with its first three pictures, then three pictures in each further request. If a further request fails, its pictures are
 * reported in the payload instead of an error, because the note itself is stored.
 */
export async function sendByThrees(
  { send, write }: WriteRun<NoteShape>,
  input: { pictures?: readonly NotePicture[] | null; content?: string | null },
): Promise<PicturedNote> {
  const pictures = input.pictures ?? [];
  const partsOf = (group: readonly NotePicture[]) => pictureParts(group, notePictures);

  const [first, ...later] = byThrees(pictures);
  let note = await (first ? send(textsOf(first), partsOf(first)) : send());
  const { id } = note;
  const storedPictures = first?.map(({ number }) => number) ?? [];
  const failedPictures: PictureFailure[] = [];
  // With the whole content, the service places the pictures where the content shows them; without it, each request appends its own.
  const isShown = later.flat().some(({ number }) => input.content?.includes(`<图片p_${number}>`));
  const content = isShown ? input.content! : undefined;
  let fault: UpstreamFailure | undefined;
  for (const group of later) {
    try {
      if (fault) throw fault;
      note = await write(noteEndpoints.addPictures, { id, content, ...textsOf(group) }, partsOf(group));
      storedPictures.push(...group.map(({ number }) => number));
    } catch (error) {
      failedPictures.push(...group.map(({ number }) => failureOf(number, error)));
      if (error instanceof UpstreamFailure) fault = error; // do not send the next groups to an unavailable service
      // The state of the note is unknown, so keep only its id.
      if (error instanceof UpstreamFailure && error.code === 'UPSTREAM_RESULT_UNKNOWN') note = { id } as NoteShape;
    }
  }
  return { note, storedPictures, failedPictures };
}

/** The requests for so many pictures. */
export const callsFor = (pictures: number): number => Math.max(1, Math.ceil(pictures / NOTE_PICTURES_MAX));

const byThrees = (pictures: readonly NotePicture[]): NotePicture[][] =>
  Array.from({ length: Math.ceil(pictures.length / NOTE_PICTURES_MAX) }, (_, group) =>
    pictures.slice(group * NOTE_PICTURES_MAX, (group + 1) * NOTE_PICTURES_MAX),
  );

const textsOf = (group: readonly NotePicture[]) => ({
  pids: group.map(({ number }) => `p_${number}`).join(','),
  ...Object.fromEntries(
    group.flatMap(({ number, layout, caption }) => [
      [`layout_${number}`, layout ?? 'C'],
      [`desc_${number}`, caption || undefined],
    ]),
  ),
});

function failureOf(number: number, error: unknown): PictureFailure {
  const { message, extensions } = toClientError(withClientCode(error, errorCodes)) ?? (error as GraphQLError);
  if (!isClientCode(extensions?.code)) throw error; // a defect
  return { number, code: extensions.code, message };
}

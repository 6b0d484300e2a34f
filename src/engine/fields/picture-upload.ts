/** The pictures of a mutation: what they must be, and how they are sent. */
import type { FilePart } from '../../upstream/http/multipart.ts';
import type { InputBuilder } from '../builder.ts';
import type { ClientCode } from '../errors/codes.ts';
import { type Violation, inRange, invalidIf } from '../errors/violations.ts';
import type { UploadedFile } from '../values/uploaded-file.ts';

/** The service takes numbers of at most six digits. */
export const PICTURE_NUMBER_MAX = 999_999;

export interface PictureInput {
  number: number;
  file: UploadedFile;
}

/** How the pictures of a mutation are sent. */
export interface PictureForm {
  /** No picture may have so many bytes, or more. */
  readonly bytesBelow: number;
  /** The name of a picture's part. */
  readonly nameOf: (number: number) => string;
  /** Client codes of service codes, for inputs with pictures. */
  readonly errorCodes?: Readonly<Partial<Record<number, ClientCode>>>;
}

/** The fields of a picture in an input; `mark` shows picture n in the content. */
export const pictureFields = (t: InputBuilder, { bytesBelow }: PictureForm, record: string, mark: string) => ({
  number: t.int({
    required: true,
    description: `From 1 to 999999, and never used in this ${record} before; \`${mark}\` in the content shows picture n.`,
  }),
  file: t.field({
    type: 'Upload',
    required: true,
    description: `JPEG, PNG, GIF or WebP, under ${bytesBelow.toLocaleString('en')} bytes.`,
  }),
});

export function pictureViolations(
  pictures: readonly PictureInput[],
  { bytesBelow }: PictureForm,
  limit: number,
): (Violation | undefined)[] {
  const numbers = pictures.map(({ number }) => number);
  return [
    invalidIf(numbers.length > limit, 'pictures', 'TOO_MANY_PICTURES', { limit, actual: numbers.length }),
    ...pictures.map(({ number, file }, index) => {
      const at = (field: string) => ['pictures', index, field];
      return (
        inRange(at('number'), number, [1, PICTURE_NUMBER_MAX], 'INVALID_PICTURE_NUMBER') ??
        invalidIf(numbers.indexOf(number) < index, at('number'), 'PICTURE_NUMBER_USED', { actual: number }) ??
        invalidIf(!typeOf(file), at('file'), 'PICTURE_TYPE') ??
        invalidIf(file.size >= bytesBelow, at('file'), 'PICTURE_TOO_LARGE', {
          limit: bytesBelow - 1,
          actual: file.size,
        })
      );
    }),
  ];
}

/** The pictures, which break no rule, as parts of a form. */
export const pictureParts = (pictures: readonly PictureInput[], { nameOf }: PictureForm): readonly FilePart[] =>
  pictures.map(({ number, file }) => {
    const type = typeOf(file)!;
    return { name: nameOf(number), filename: `${number}.${type}`, type: `image/${type}`, bytes: file.bytes };
  });

/** By its first bytes. */
function typeOf({ bytes }: UploadedFile): 'jpeg' | 'png' | 'gif' | 'webp' | null {
  const text = Buffer.concat(bytes.slice(0, 12).map((each) => each.subarray(0, 12))).toString('latin1', 0, 12);
  if (text.startsWith('\xff\xd8\xff')) return 'jpeg';
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'png';
  if (/^GIF8[79]a/.test(text)) return 'gif';
  return text.startsWith('RIFF') && text.slice(8) === 'WEBP' ? 'webp' : null;
}

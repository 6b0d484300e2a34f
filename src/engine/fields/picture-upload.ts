/** Streams the pictures of a mutation to the service. They are checked while they pass. */
import type { Readable } from 'node:stream';
import type { FileUpload } from 'graphql-upload-minimal';
import { GraphQLError } from 'graphql';
import type { FilePart } from '../../upstream/http/multipart.ts';
import type { InputBuilder } from '../builder.ts';
import type { ClientCode } from '../errors/codes.ts';
import { badInput } from '../errors/to-client-error.ts';
import { type Violation, inRange, invalidIf, violationError } from '../errors/violations.ts';
import type { UploadedFile } from '../values/uploaded-file.ts';

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

/** The rules that can be checked before any file is read. */
export function pictureViolations(pictures: readonly PictureInput[], limit: number): (Violation | undefined)[] {
  const numbers = pictures.map(({ number }) => number);
  return [
    invalidIf(numbers.length > limit, 'pictures', 'TOO_MANY_PICTURES', { limit, actual: numbers.length }),
    ...numbers.map((number, index) => {
      const field = ['pictures', index, 'number'];
      return (
        inRange(field, number, [1, PICTURE_NUMBER_MAX], 'INVALID_PICTURE_NUMBER') ??
        invalidIf(numbers.indexOf(number) < index, field, 'PICTURE_NUMBER_USED', { actual: number })
      );
    }),
  ];
}

/** A picture broke a rule that shows only while its file is read. */
export class PictureRejected extends GraphQLError {
  override name = 'PictureRejected';
  readonly number: number;

  constructor(number: number, violation: Violation) {
    const { message, extensions } = violationError([violation]);
    super(message, { extensions });
    this.number = number;
  }
}

/**
 * The pictures as parts of a form, in the order in which they arrive, so that none of them is held in memory for another. `all` gives the
 * index of each in the input.
 */
export async function* pictureParts(
  pictures: readonly PictureInput[],
  form: PictureForm,
  all: readonly PictureInput[] = pictures,
): AsyncGenerator<FilePart, void, void> {
  const coming = new Map(pictures.map((picture) => [picture, arrival(picture)]));
  try {
    while (coming.size > 0) {
      const { picture, file } = await Promise.race(coming.values());
      coming.delete(picture);
      yield* part(picture, file, form, all.indexOf(picture));
    }
  } catch (error) {
    throw uploadError(error);
  }
}

const arrival = async (picture: PictureInput) => ({ picture, file: await picture.file });

const badUpload = (message: string): GraphQLError => badInput(message, { code: 'BAD_UPLOAD' });

const uploadError = (error: unknown): GraphQLError =>
  error instanceof GraphQLError ? error : badUpload('The file could not be read to its end.');

async function* part(
  { number }: PictureInput,
  file: FileUpload,
  { bytesBelow, nameOf }: PictureForm,
  index: number,
): AsyncGenerator<FilePart, void, void> {
  const stream = file.createReadStream();
  const chunks = stream.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>;
  const path = ['input', 'pictures', index, 'file'];
  const rejected = (violation: Omit<Violation, 'path'>) => new PictureRejected(number, { path, ...violation });
  try {
    const head = await headOf(chunks);
    const type = typeOf(head);
    if (!type) throw rejected({ code: 'PICTURE_TYPE' });
    yield { name: nameOf(number), filename: `${number}.${type}`, type: `image/${type}`, bytes: counted(head, chunks) };
  } finally {
    await chunks.return?.();
    discard(stream);
  }

  async function* counted(head: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, void> {
    let size = 0;
    const tooLarge = () => rejected({ code: 'PICTURE_TOO_LARGE', limit: bytesBelow - 1, actual: size });
    try {
      for await (const chunk of joined(head, rest)) {
        size += chunk.length;
        if (size >= bytesBelow) throw tooLarge();
        yield chunk;
      }
    } catch (error) {
      throw uploadError(error);
    }
    // graphql-upload-minimal ends a file that it cut at its limit like any other.
    if ((stream as Readable & { truncated?: boolean }).truncated) throw tooLarge();
  }
}

async function* joined(head: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, void> {
  yield head;
  yield* rest;
}

/** Enough bytes to detect the type. */
async function headOf(chunks: AsyncIterator<Buffer>): Promise<Buffer> {
  let head: Buffer = Buffer.alloc(0);
  while (head.length < 12) {
    const next = await chunks.next();
    if (next.done) return head;
    head = head.length ? Buffer.concat([head, next.value]) : next.value;
  }
  return head;
}

function typeOf(head: Buffer): 'jpeg' | 'png' | 'gif' | 'webp' | null {
  const text = head.toString('latin1', 0, 12);
  if (text.startsWith('\xff\xd8\xff')) return 'jpeg';
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'png';
  if (/^GIF8[79]a/.test(text)) return 'gif';
  return text.startsWith('RIFF') && text.slice(8) === 'WEBP' ? 'webp' : null;
}

/** Reads the rest of a file and discards it; otherwise the files behind it would never arrive. */
function discard(stream: Readable): void {
  stream.on('error', () => undefined);
  setImmediate(() => stream.resume());
}

/** Discards files that no call took. */
export function discardPictures(pictures: readonly PictureInput[]): void {
  for (const { file } of pictures) file.discard();
}

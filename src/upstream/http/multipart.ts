import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';

/** A streamed file of a form. */
export interface FilePart {
  /** The name of the part. */
  name: string;
  filename: string;
  type: string;
  bytes: AsyncIterable<Uint8Array>;
}

/** Streams a form: first the texts, then the files. A failing file ends the stream with an error, so that the receiver rejects it. */
export function multipartForm(texts: Readonly<Record<string, unknown>>, files: AsyncIterable<FilePart>) {
  const boundary = `catalog-${randomBytes(16).toString('hex')}`;
  const pieces = written(boundary, texts, files);
  let cause: unknown;
  // Only errors of the form pass through `next`; a connection error calls `return`.
  const watched = {
    [Symbol.asyncIterator]: () => watched,
    next: () =>
      pieces.next().catch((error: unknown) => {
        cause ??= error;
        throw error;
      }),
    return: () => pieces.return(),
  };
  const body = Readable.from(watched, { objectMode: false });
  // `cause` holds the error. The HTTP client may stop listening before the form ends, and an unhandled error would end the process.
  body.on('error', () => undefined);
  /** `failure`: the error that ended the form early; undefined without one. */
  return { contentType: `multipart/form-data; boundary=${boundary}`, body, failure: () => cause };
}

async function* written(
  boundary: string,
  texts: Readonly<Record<string, unknown>>,
  files: AsyncIterable<FilePart>,
): AsyncGenerator<Uint8Array, void, void> {
  for (const [name, value] of Object.entries(texts)) {
    yield Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${String(value)}\r\n`);
  }
  for await (const { name, filename, type, bytes } of files) {
    const disposition = `form-data; name="${name}"; filename="${filename}"`;
    yield Buffer.from(`--${boundary}\r\ncontent-disposition: ${disposition}\r\ncontent-type: ${type}\r\n\r\n`);
    yield* bytes;
    yield Buffer.from('\r\n');
  }
  yield Buffer.from(`--${boundary}--\r\n`);
}

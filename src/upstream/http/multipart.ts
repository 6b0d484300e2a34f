import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';

/** A file of a form, as it arrives. */
export interface FilePart {
  /** Of its part. */
  name: string;
  filename: string;
  type: string;
  bytes: AsyncIterable<Uint8Array>;
}

export interface Form {
  contentType: string;
  body: Readable;
  /** Why the form was cut before its end; undefined while nothing was wrong with it. */
  failure: () => unknown;
}

/** A form as a stream: the texts first, then each file as it comes. A file that fails cuts it, so that nobody takes it for whole. */
export function multipartForm(texts: Readonly<Record<string, unknown>>, files: AsyncIterable<FilePart>): Form {
  const boundary = `catalog-${randomBytes(16).toString('hex')}`;
  const pieces = written(boundary, texts, files);
  let cause: unknown;
  // Its own failures alone pass through `next`; those of the connection come from the other side.
  const watched = {
    [Symbol.asyncIterator]: () => watched,
    next: async () => {
      try {
        return await pieces.next();
      } catch (error) {
        cause ??= error;
        throw error;
      }
    },
    return: () => pieces.return(),
  };
  const body = Readable.from(watched, { objectMode: false });
  // `cause` keeps the error. The HTTP client may stop listening before the form ends, and an unhandled error would end the process.
  body.on('error', () => undefined);
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body,
    failure: () => cause,
  };
}

async function* written(
  boundary: string,
  texts: Readonly<Record<string, unknown>>,
  files: AsyncIterable<FilePart>,
): AsyncGenerator<Uint8Array, void, void> {
  for (const [name, value] of Object.entries(texts)) {
    yield Buffer.from(
      `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${String(value)}\r\n`,
      'utf8',
    );
  }
  for await (const { name, filename, type, bytes } of files) {
    const disposition = `form-data; name="${name}"; filename="${filename}"`;
    yield Buffer.from(`--${boundary}\r\ncontent-disposition: ${disposition}\r\ncontent-type: ${type}\r\n\r\n`);
    yield* bytes;
    yield Buffer.from('\r\n');
  }
  yield Buffer.from(`--${boundary}--\r\n`);
}

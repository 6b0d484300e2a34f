import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';

/** A file of a form. */
export interface FilePart {
  /** The name of the part. */
  name: string;
  filename: string;
  type: string;
  bytes: Iterable<Uint8Array>;
}

/** A form: first the texts, then the files. It is written as fast as it is read. */
export function multipartForm(texts: Readonly<Record<string, unknown>>, files: readonly FilePart[]) {
  const boundary = `catalog-${randomBytes(16).toString('hex')}`;
  const body = Readable.from(written(boundary, texts, files), { objectMode: false });
  return { contentType: `multipart/form-data; boundary=${boundary}`, body };
}

function* written(boundary: string, texts: Readonly<Record<string, unknown>>, files: readonly FilePart[]) {
  for (const [name, value] of Object.entries(texts))
    yield Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${String(value)}\r\n`);
  for (const { name, filename, type, bytes } of files) {
    const disposition = `form-data; name="${name}"; filename="${filename}"`;
    yield Buffer.from(`--${boundary}\r\ncontent-disposition: ${disposition}\r\ncontent-type: ${type}\r\n\r\n`);
    yield* bytes;
    yield Buffer.from('\r\n');
  }
  yield Buffer.from(`--${boundary}--\r\n`);
}

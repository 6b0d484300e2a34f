/** Files of a program in the variables of an operation: a Blob or File stands where a multipart request has a file. */
import type { ReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { type FileUpload, Upload } from 'graphql-upload-minimal';
import { variablesLimit } from '../engine/documents/limits.ts';
import type { Variables } from '../engine/plan/document.ts';
import type { UploadedFile } from '../engine/values/uploaded-file.ts';

/** A Blob, of Node or of the fetch library of a server. */
type BlobLike = Pick<Blob, 'stream' | 'type'> & { readonly name?: string };

/** The variables with each Blob as the scalar `Upload` reads it. JSON has no functions, so no JSON is taken for one. */
export function withFiles(variables: Variables): Variables {
  // The pipeline rejects those with too many values; they may also be nested too deep for the copy.
  return variablesLimit(variables) ? variables : (copied(variables) as Variables);
}

function copied(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Upload) return value;
  if (isBlob(value)) return uploadOf(value);
  if (Array.isArray(value)) return value.map(copied);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, copied(each)]));
}

const isBlob = (value: object): value is BlobLike =>
  'stream' in value && typeof value.stream === 'function' && 'type' in value && typeof value.type === 'string';

function uploadOf(blob: BlobLike): object {
  const { name: filename = 'blob', type: mimetype } = blob;
  const createReadStream = () => Readable.from(bytesOf(blob), { objectMode: false }) as ReadStream;
  const file: FileUpload = { filename, mimetype, encoding: '7bit', fieldName: filename, createReadStream };
  const whole = Promise.resolve(file);
  // Nothing waits behind a file that is in memory already.
  const promise: UploadedFile = {
    then: (onFile, onError) => whole.then(onFile, onError),
    discard: () => undefined,
  };
  return Object.assign(new Upload(), { promise, toJSON: () => 'a file' });
}

async function* bytesOf(blob: BlobLike): AsyncGenerator<Uint8Array, void, void> {
  // Not every stream of a fetch library can be iterated.
  const reader = blob.stream().getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel();
  }
}

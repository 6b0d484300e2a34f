import { createHash } from 'node:crypto';
import type { Upload } from 'graphql-upload-minimal';

/** A file of the request, as the scalar `Upload` gives it. It has arrived when the operation begins. */
export interface UploadedFile {
  readonly name: string;
  /** Its size in bytes. */
  readonly size: number;
  readonly bytes: readonly Uint8Array[];
  /** A hash of all its bytes. */
  readonly digest: string;
}

export function uploadedFile(name: string, bytes: readonly Uint8Array[]): UploadedFile {
  const hash = createHash('sha256');
  for (const piece of bytes) hash.update(piece);
  const size = bytes.reduce((sum, { length }) => sum + length, 0);
  return { name, size, bytes, digest: hash.digest('base64url') };
}

/** Puts a file at its path in the variables. What counts or prints values does not see into it. */
export const putFile = (variable: Upload, file: UploadedFile): Upload =>
  Object.defineProperties(variable, {
    file: { value: file, enumerable: false },
    toJSON: { value: () => 'a file', enumerable: true }, // as messages show it
  });

/** Files of a program in the variables of an operation: a Blob or File stands where a multipart request has a file. */
import { Upload } from 'graphql-upload-minimal';
import { variablesLimit } from '../engine/documents/limits.ts';
import type { Variables } from '../engine/plan/document.ts';
import { putFile, uploadedFile } from '../engine/values/uploaded-file.ts';

/** A Blob, of Node or of the fetch library of a server. */
type BlobLike = Pick<Blob, 'arrayBuffer' | 'type'> & { readonly name?: string };

/** The variables with each Blob as the scalar `Upload` reads it. JSON has no functions, so no JSON is taken for one. */
export async function withFiles(variables: Variables): Promise<Variables> {
  // The pipeline rejects those with too many values; they may also be nested too deep for the copy.
  return variablesLimit(variables) ? variables : ((await copied(variables)) as Variables);
}

async function copied(value: unknown): Promise<unknown> {
  if (typeof value !== 'object' || value === null || value instanceof Upload) return value;
  if (isBlob(value)) {
    const bytes = new Uint8Array(await value.arrayBuffer());
    return putFile(new Upload(), uploadedFile(value.name ?? 'blob', [bytes]));
  }
  if (Array.isArray(value)) return Promise.all(value.map(copied));
  const members = Object.entries(value).map(async ([name, each]) => [name, await copied(each)] as const);
  return Object.fromEntries(await Promise.all(members));
}

const isBlob = (value: object): value is BlobLike =>
  'arrayBuffer' in value &&
  typeof value.arrayBuffer === 'function' &&
  'type' in value &&
  typeof value.type === 'string';

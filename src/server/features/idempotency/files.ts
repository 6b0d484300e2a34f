/** The files of a request with a key: their bytes are hashed as they pass, so that other files under the same key are noticed. */
import { type Hash, createHash } from 'node:crypto';
import { type FileUpload, Upload } from 'graphql-upload-minimal';
import type { FilePart } from '../../../upstream/http/multipart.ts';
import { reused } from './refusals.ts';

/** What was read to its end, each with its name. */
export interface FilesRead {
  readonly names: string[];
  readonly hashes: string[];
}

export const noFiles = (): FilesRead => ({ names: [], hashes: [] });

/**
 * Passes the parts on; what they contain is noted when they were read to their end. Nothing more is sent once `mayGoOn` is false, or if a
 * file is not the one that was read `before`: then the form is cut before its end.
 */
export async function* watchParts(
  parts: AsyncIterable<FilePart>,
  read: FilesRead,
  before: FilesRead = noFiles(),
  mayGoOn: () => boolean = () => true,
): AsyncGenerator<FilePart, void, void> {
  for await (const part of parts) yield { ...part, bytes: watched(part) };

  async function* watched({ name, bytes }: FilePart): AsyncGenerator<Uint8Array, void, void> {
    const hash = createHash('sha256');
    for await (const chunk of bytes) {
      if (!mayGoOn()) throw new Error('the write has taken too long');
      hash.update(chunk);
      yield chunk;
    }
    const digest = digestOf(hash);
    const at = before.names.indexOf(name);
    if (at >= 0 && before.hashes[at] !== digest) throw reused();
    read.names.push(name);
    read.hashes.push(digest);
  }
}

/** Reads those of a write that is not sent. */
export async function compareFiles(
  parts: AsyncIterable<FilePart> | undefined,
  before: FilesRead | undefined,
): Promise<void> {
  if (!parts || !before) return;
  for await (const { bytes } of watchParts(parts, noFiles(), before)) for await (const _ of bytes);
}

const digestOf = (hash: Hash): string => hash.digest('base64url');

/** Reads the files of a request that is not run, and returns their hashes. A file that does not arrive whole has none. */
export async function hashFiles(variables: unknown): Promise<string[]> {
  const hashes = await Promise.all([...filesIn(variables)].map((file) => hashOfFile(file)));
  return hashes.filter((hash) => hash !== undefined);
}

async function hashOfFile(file: Promise<FileUpload>): Promise<string | undefined> {
  try {
    const hash = createHash('sha256');
    for await (const chunk of (await file).createReadStream()) hash.update(chunk as Uint8Array);
    return digestOf(hash);
  } catch {
    return undefined;
  }
}

function filesIn(variables: unknown): Set<Promise<FileUpload>> {
  const files = new Set<Promise<FileUpload>>();
  const waiting = [variables]; // an explicit stack, because JSON can nest deeper than the call stack
  while (waiting.length > 0) {
    const each = waiting.pop();
    if (each instanceof Upload) files.add(each.promise);
    else if (typeof each === 'object' && each !== null) waiting.push(...(Object.values(each) as unknown[]));
  }
  return files;
}

/** Whether all files that were read before are among those of this request. */
export function includesFiles(hashes: readonly string[], before: readonly string[]): boolean {
  const left = [...hashes];
  return before.every((hash) => {
    const at = left.indexOf(hash);
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}

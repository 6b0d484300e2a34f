/** Text files as editors and shells of all systems write them. */
import { readFileSync } from 'node:fs';
import { outerCharset } from './charset.ts';

/** A file as text, in UTF-8 or UTF-16, without the byte order mark. `-` is the standard input. */
export function readTextFile(path: string): string {
  const bytes = readFileSync(path === '-' ? 0 : path);
  return new TextDecoder(outerCharset(bytes)).decode(bytes); // which removes the mark
}

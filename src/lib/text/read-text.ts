/** Text files as editors and shells of all systems write them. */
import { readFileSync } from 'node:fs';
import { UserError } from '../user-error.ts';
import { outerCharset } from './charset.ts';

/** A file as text, in UTF-8 or UTF-16, without the byte order mark. `-` is the standard input. Throws a UserError. */
export function readTextFile(path: string): string {
  try {
    const bytes = readFileSync(path === '-' ? 0 : path);
    return new TextDecoder(outerCharset(bytes)).decode(bytes); // which removes the mark
  } catch (error) {
    throw cannotRead(path, error);
  }
}

export function cannotRead(given: string, error: unknown): UserError {
  const { path = given, code } = error as NodeJS.ErrnoException;
  return new UserError(`${path} cannot be read (${code}).`);
}

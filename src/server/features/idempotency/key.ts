/** The header `Idempotency-Key`, and what it is a key of: a document, its variables and files. */
import { type Hmac, hash } from 'node:crypto';
import { print } from 'graphql';
import { Upload } from 'graphql-upload-minimal';
import type { Variables } from '../../../engine/plan/document.ts';
import type { UploadedFile } from '../../../engine/values/uploaded-file.ts';
import { oncePer } from '../../../lib/remember.ts';
import type { ExecutableDocument } from '../../../engine/documents/prepare.ts';
import { type KeySecrets, secretsOf } from './store/seal.ts';
import { HttpError } from '../../http/response/http-error.ts';

/** A shorter one may be somebody else's by chance, and can be guessed. */
const KEY_MIN = 16;
const KEY_MAX = 255;
/** RFC 9651, a string without spaces: visible characters, with quotes and backslashes escaped. */
const QUOTED = /^"((?:[!#-[\]-~]|\\["\\])+)"$/;
const BARE = /^([!#-~][!-~]*)$/;

/** The key in a header or in metadata: a string of structured fields, or the bare characters. Throws an HttpError. */
export function readKey(given: unknown): string {
  const text = typeof given === 'string' ? given.trim() : '';
  const isQuoted = text.startsWith('"');
  const written = (isQuoted ? QUOTED : BARE).exec(text)?.[1] ?? '';
  const key = isQuoted && written.includes('\\') ? written.replace(/\\(["\\])/g, '$1') : written;
  if (key.length >= KEY_MIN && key.length <= KEY_MAX) return key;
  const message = `An idempotency key has ${KEY_MIN} to ${KEY_MAX} visible ASCII characters, in quotes or without: use a random UUID.`;
  throw new HttpError('BAD_IDEMPOTENCY_KEY', message);
}

/** A key with what is derived of it, and what it is a key of. */
export interface IdempotencyKey extends KeySecrets {
  /** Equal for requests with the same document, variables and files. */
  readonly fingerprint: string;
}

/** What a key is of, with variables that are within their limits. */
export function identify(given: string, ready: ExecutableDocument, variables: Variables | undefined): IdempotencyKey {
  const secrets = secretsOf(given);
  return { ...secrets, fingerprint: fingerprintOf(secrets.hmac().update(hashOfDocument(ready)), variables ?? {}) };
}

const hashOfDocument = oncePer(({ document, operation }: ExecutableDocument) =>
  hash('sha256', `${operation.name?.value ?? ''}\n${document.loc?.source.body ?? print(document)}`, 'base64url'),
);

/** Longer texts are hashed piece by piece, so that the variables are never copied as a whole. */
const PIECE_CHARACTERS = 65_536;

/**
 * A hash of text with sorted names: clients may write the members of their variables in any order. Of files it is of their bytes.
 * The stack is explicit, because JSON can nest deeper than the call stack.
 */
function fingerprintOf(pieces: Hmac, variables: object): string {
  let text = '';
  const waiting: Piece[] = [{ value: variables }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next === 'string') text += next;
    else if (Array.isArray(next.value)) pushItems(waiting, next.value);
    else if (next.value instanceof Upload) text += (next.value.file as unknown as UploadedFile).digest;
    else if (typeof next.value === 'object' && next.value !== null)
      pushMembers(waiting, next.value as Record<string, unknown>);
    else text += JSON.stringify(next.value);
    if (text.length < PIECE_CHARACTERS) continue;
    pieces.update(text);
    text = '';
  }
  return pieces.update(text).digest('base64url');
}

/** Text of the fingerprint, or a value whose text follows. */
type Piece = string | { readonly value: unknown };

function pushItems(waiting: Piece[], items: readonly unknown[]): void {
  waiting.push(']');
  for (let at = items.length - 1; at >= 0; at--) waiting.push(',', { value: items[at] });
  waiting.push('[');
}

function pushMembers(waiting: Piece[], members: Readonly<Record<string, unknown>>): void {
  waiting.push('}');
  const names = Object.keys(members).sort();
  for (let at = names.length - 1; at >= 0; at--)
    waiting.push(',', { value: members[names[at]!] }, `${JSON.stringify(names[at])}:`);
  waiting.push('{');
}

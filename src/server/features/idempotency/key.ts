/** The header `Idempotency-Key`, and what it is a key of: a document, its variables and files. */
import { hash } from 'node:crypto';
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
/** A string of RFC 9651 without spaces, and without what is escaped there. */
const QUOTED = /^"([!#-[\]-~]+)"$/;
const BARE = /^([!#-~][!-~]*)$/;

/** The key in a header or in metadata: a string of structured fields, or the bare characters. Throws an HttpError. */
export function readKey(given: unknown): string {
  const text = typeof given === 'string' ? given.trim() : '';
  const key = (text.startsWith('"') ? QUOTED : BARE).exec(text)?.[1] ?? '';
  if (key.length >= KEY_MIN && key.length <= KEY_MAX) return key;
  const message = `An idempotency key has ${KEY_MIN} to ${KEY_MAX} visible ASCII characters, in quotes or without; in quotes none is a quote or a backslash. Use a random UUID.`;
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
  return { ...secrets, fingerprint: secrets.hash(hashOfDocument(ready) + canonicalText(variables ?? {})) };
}

const hashOfDocument = oncePer(({ document, operation }: ExecutableDocument) =>
  hash('sha256', `${operation.name?.value ?? ''}\n${document.loc?.source.body ?? print(document)}`, 'base64url'),
);

/** JSON with sorted names: clients may write the members of their variables in any order. Of files it is of their bytes. */
function canonicalText(variables: Variables): string {
  try {
    return JSON.stringify(variables, canonical);
  } catch (error) {
    if (error instanceof RangeError) throw new HttpError('BAD_REQUEST', 'The variables nest too deeply.');
    throw error;
  }
}

/** A replacer of JSON, which gets of a file what its `toJSON` returns: `this` has the file. */
function canonical(this: Record<string, unknown>, name: string, value: unknown): unknown {
  const given = this[name];
  if (given instanceof Upload) return (given.file as unknown as UploadedFile).digest;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

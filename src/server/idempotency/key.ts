/** The header `Idempotency-Key`, and what it is a key of: the caller, the document and its variables. */
import { hash } from 'node:crypto';
import { print } from 'graphql';
import { Upload } from 'graphql-upload-minimal';
import type { Variables } from '../../graph/plan/document.ts';
import { oncePer } from '../../lib/remember.ts';
import type { ExecutableDocument } from '../graphql/documents/prepare.ts';
import { HttpError } from '../http/response/http-error.ts';

/** A key of one caller. Stores outside of this process get hashes of the secret and of the token. */
export interface KeyIdentity {
  /** The caller and the key; also what responses are encrypted with. */
  readonly secret: string;
  /** A hash, the same for requests of the key with the same document and variables. */
  readonly fingerprint: string;
  /** Of the caller. */
  readonly token: string;
}

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
  if (key !== '' && key.length <= KEY_MAX) return key;
  const message = `An idempotency key has 1 to ${KEY_MAX} visible ASCII characters, in quotes or without.`;
  throw new HttpError(400, 'BAD_IDEMPOTENCY_KEY', message);
}

/** Throws an HttpError for variables that nest deeper than the call stack. */
export function identify(
  key: string,
  token: string,
  ready: ExecutableDocument,
  variables: Variables | undefined,
): KeyIdentity {
  // The length keeps a token apart from the beginning of a key.
  const secret = `${token.length} ${token}${key}`;
  const asked = `${hashOfDocument(ready)}${canonicalText(variables ?? {})}`;
  return { secret, fingerprint: hashOf(`request ${secret.length} ${secret}${asked}`), token };
}

const hashOfDocument = oncePer(({ document, operation }: ExecutableDocument) =>
  hashOf(`${operation.name?.value ?? ''}\n${document.loc?.source.body ?? print(document)}`),
);

export const hashOf = (text: string): string => hash('sha256', text, 'base64url');

/** Text with sorted names: clients may write the members of their variables in any order. Files are compared by their bytes, later. */
function canonicalText(value: unknown): string {
  try {
    return canonical(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new HttpError(400, 'BAD_REQUEST', 'The variables are nested too deep.');
  }
}

function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null || value instanceof Upload) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const members = value as Record<string, unknown>;
  let text = '';
  for (const name of Object.keys(members).sort()) text += `${JSON.stringify(name)}:${canonical(members[name])},`;
  return `{${text}}`;
}

/** The header `Idempotency-Key`, and what it is a key of: the caller, the document and its variables. */
import { createHash, createHmac } from 'node:crypto';
import { print } from 'graphql';
import type { Variables } from '../../graph/plan/document.ts';
import type { ExecutableDocument } from '../graphql/documents/prepare.ts';
import { HttpError } from '../http/response/http-error.ts';

/** A key of one caller. Without the token and the key, none of it shows whose it is. */
export interface KeyIdentity {
  readonly id: string;
  /** The same for all keys of the caller. */
  readonly caller: string;
  /** The same for requests with the same document and variables. */
  readonly fingerprint: string;
  /** What responses are encrypted with. */
  readonly secret: string;
}

const KEY_MAX = 255;
/** RFC 9651, a string: visible characters and spaces, with quotes and backslashes escaped. */
const QUOTED = /^"((?:[ !#-[\]-~]|\\["\\])*)"$/;
const VISIBLE = /^[!-~]+$/;

/** The key in a header or in metadata: a string of structured fields, or the bare characters. Throws an HttpError. */
export function readKey(given: unknown): string {
  const text = typeof given === 'string' ? given.trim() : '';
  const [, quoted] = QUOTED.exec(text) ?? [];
  const key = quoted === undefined ? text : quoted.replace(/\\(["\\])/g, '$1');
  const isBroken = quoted === undefined && text.startsWith('"');
  if (!isBroken && key.length <= KEY_MAX && VISIBLE.test(key)) return key;
  const message = `An idempotency key has 1 to ${KEY_MAX} visible ASCII characters, in quotes or without.`;
  throw new HttpError(400, 'BAD_IDEMPOTENCY_KEY', message);
}

export function identify(
  key: string,
  token: string,
  { document, operation }: ExecutableDocument,
  variables: Variables | undefined,
): KeyIdentity {
  // The length keeps a token apart from the beginning of a key.
  const secret = `${token.length} ${token}${key}`;
  const text = document.loc?.source.body ?? print(document);
  const asked = `${operation.name?.value ?? ''}\n${text}\n${canonical(variables ?? {})}`;
  return {
    id: hashOf(`key ${secret}`),
    caller: hashOf(`caller ${token}`),
    fingerprint: createHmac('sha256', secret).update(asked).digest('base64url'),
    secret,
  };
}

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 32);

/** JSON with sorted names: clients may write the members of their variables in any order. Files are compared by their bytes, later. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );

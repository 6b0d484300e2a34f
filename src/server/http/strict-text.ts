/**
 * Rejects text that cannot be passed on unchanged. Decoders replace invalid UTF-8, and encoders lone surrogates, by U+FFFD; a mutation
 * would store the replacement without an error.
 */
import { isUtf8 } from 'node:buffer';
import { isPercentEncodedUtf8 } from '../../lib/unicode.ts';
import { HttpError } from './http-error.ts';

/** Decodes UTF-8. Throws an HttpError, INVALID_TEXT, for other bytes; so do the functions below. */
export function decodeStrictUtf8(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw invalidText('The body is not UTF-8.');
  return bytes.toString();
}

/** Rejects a query string or form whose percent-encoded bytes are not UTF-8. */
export function checkPercentEncoding(text: string): void {
  if (!isPercentEncodedUtf8(text)) throw invalidText('The percent-encoded bytes are not UTF-8.');
}

/** Rejects JSON with a lone surrogate. It has been decoded from UTF-8, so only an escape can contain one. */
export function checkSurrogates(json: string): void {
  if (!/\\ud[89a-f]/i.test(json)) return;
  for (const [, half] of json.matchAll(escapes)) if (half) throw invalidText('A text has a lone surrogate.');
}

/** An escaped surrogate pair, a lone surrogate (captured), or any other escape. */
const escapes = /\\u[dD][89abAB][\dA-Fa-f]{2}\\u[dD][c-fC-F][\dA-Fa-f]{2}|(\\u[dD][89a-fA-F][\dA-Fa-f]{2})|\\./gs;

export const invalidText = (message: string): HttpError => new HttpError(400, 'INVALID_TEXT', message);

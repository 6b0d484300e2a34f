/**
 * Text that cannot be passed on as it was sent. Decoders put U+FFFD in the place of bytes that are not UTF-8 and encoders in that of half
 * a surrogate pair; a mutation would store it, and nobody would be told.
 */
import { isUtf8 } from 'node:buffer';
import { isPercentEncodedUtf8 } from '../contract/unicode.ts';
import { RequestRefusal } from './refusal.ts';

/** Bytes of UTF-8 as text; refuses any others. */
export function strictText(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw notText('The body is not UTF-8.');
  return bytes.toString();
}

/** Refuses a query string or form whose percent-encoded bytes are not UTF-8. */
export function refuseBrokenEscapes(text: string): void {
  if (!isPercentEncodedUtf8(text)) throw notText('What is percent-encoded is not UTF-8.');
}

/** Refuses JSON with half a surrogate pair in it, which it can hold by an escape alone. */
export function refuseHalfPairs(json: string): void {
  if (!/\\ud[89a-f]/i.test(json)) return;
  for (const [, half] of json.matchAll(escapes)) if (half) throw notText('A text has half of a surrogate pair.');
}

/** A whole pair, half of one, or any other escape. */
const escapes = /\\u[dD][89abAB][\dA-Fa-f]{2}\\u[dD][c-fC-F][\dA-Fa-f]{2}|(\\u[dD][89a-fA-F][\dA-Fa-f]{2})|\\./gs;

export const notText = (message: string): RequestRefusal => new RequestRefusal(400, 'INVALID_TEXT', message);

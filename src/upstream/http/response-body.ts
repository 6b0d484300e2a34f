/** What the body of an answer says: inflated, checked and decoded, or refused. */
import { isAscii, isUtf8 } from 'node:buffer';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { textOf } from '../../lib/utf8.ts';

const gunzipBody = promisify(gunzip);

/** An answer that came, and cannot be read. */
export class InvalidResponse extends Error {}

/** The body without its layer of gzip. */
export function inflate(body: Buffer, encoding: string | undefined, maxBytes: number): Buffer | Promise<Buffer> {
  const coding = encoding?.toLowerCase() ?? 'identity';
  if (coding === 'identity') return body;
  if (coding !== 'gzip') throw new InvalidResponse(`an encoding of ${coding.slice(0, 20)}`);
  if (body.length === 0) return body;
  return gunzipBody(body, { maxOutputLength: maxBytes }).catch((error: unknown) => {
    throw new InvalidResponse('gzip that is broken or too large', { cause: error });
  });
}

/** The same without a byte order mark, where it is UTF-8. */
export function requireUtf8(body: Buffer): Buffer {
  if (!isUtf8(body)) throw new InvalidResponse('a body that is not UTF-8');
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? body.subarray(3) : body;
}

/** The text of what {@link requireUtf8} let through. */
export const decodeUtf8 = (bytes: Buffer): string => (isAscii(bytes) ? bytes.toString('latin1') : textOf(bytes));

/** What the body of an answer says: inflated, checked and decoded, or refused. */
import { isAscii, isUtf8 } from 'node:buffer';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { textOf } from '../../lib/utf8.ts';

const inflate = promisify(gunzip);

/** An answer that came, and cannot be read. */
export class Nonsense extends Error {}

/** The body without its layer of gzip. */
export function inflated(body: Buffer, encoding: string | undefined, maxBytes: number): Buffer | Promise<Buffer> {
  const coding = encoding?.toLowerCase() ?? 'identity';
  if (coding === 'identity') return body;
  if (coding !== 'gzip') throw new Nonsense(`an encoding of ${coding.slice(0, 20)}`);
  if (body.length === 0) return body;
  return inflate(body, { maxOutputLength: maxBytes }).catch((error: unknown) => {
    throw new Nonsense('gzip that is broken or too large', { cause: error });
  });
}

/** The same without a byte order mark, where it is UTF-8. */
export function utf8(body: Buffer): Buffer {
  if (!isUtf8(body)) throw new Nonsense('a body that is not UTF-8');
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? body.subarray(3) : body;
}

/** The text of what {@link utf8} let through. */
export const decodeUtf8 = (bytes: Buffer): string => (isAscii(bytes) ? bytes.toString('latin1') : textOf(bytes));

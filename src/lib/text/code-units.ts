/** The code units of texts as numbers: reading them from an array takes a fraction of the time of `charCodeAt`. */
import { endianness } from 'node:os';

/** The code units of the text, and two more elements. */
export function codeUnitsOf(text: string): Uint16Array {
  const bytes = Buffer.allocUnsafe(2 * (text.length + 2));
  bytes.write(text, 'utf16le');
  if (endianness() === 'BE') bytes.swap16();
  return new Uint16Array(bytes.buffer, bytes.byteOffset, text.length + 2);
}

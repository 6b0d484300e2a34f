/** The code units of texts as numbers: reading them from an array takes a fraction of the time of `charCodeAt`. */
import { endianness } from 'node:os';

/** The code units of the text, and two more elements. */
export function codeUnitsOf(text: string): Uint16Array {
  const units = new Uint16Array(text.length + 2);
  const bytes = Buffer.from(units.buffer, 0, 2 * text.length);
  bytes.write(text, 'utf16le');
  if (endianness() === 'BE') bytes.swap16();
  return units;
}

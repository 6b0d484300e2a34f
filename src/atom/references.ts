/** The references that every XML document may have: the five entities of XML, and numbers of characters. */
import { isWritable } from './xml.ts';

const entities = new Map([
  ['lt;', '<'],
  ['gt;', '>'],
  ['amp;', '&'],
  ['quot;', '"'],
  ['apos;', "'"],
]);

/** The character of a reference, given after its `&`; undefined if XML itself has no such reference. */
export function characterOf(reference: string): string | undefined {
  const known = entities.get(reference);
  if (known !== undefined) return known;
  const [, decimal, hexadecimal] = /^#(?:(\d{1,7})|x([\da-fA-F]{1,6}));$/.exec(reference) ?? [];
  if (decimal === undefined && hexadecimal === undefined) return undefined;
  const code = decimal === undefined ? Number.parseInt(hexadecimal!, 16) : Number(decimal);
  if (code > 0x10ffff) return undefined;
  const character = String.fromCodePoint(code);
  return isWritable(character) ? character : undefined;
}

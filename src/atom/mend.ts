/** Mends what lenient senders write in references, so that `readFields` can read it. fast-xml-parser says whether the rest is well-formed. */
import { createRequire } from 'node:module';
import type * as Entities from 'entities';
import type * as Xml from 'fast-xml-parser';
import { lazily } from '../lib/promises.ts';
import { AtomError, characterOf, escape } from './xml.ts';

/** Loaded with the first document that needs it, because most processes never need it. */
const withLibrary = lazily(() => {
  const require = createRequire(import.meta.url);
  const { XMLValidator } = require('fast-xml-parser') as typeof Xml;
  const { decodeHTMLStrict } = require('entities') as typeof Entities;
  return { decodeHTMLStrict, isWellFormed: (text: string) => XMLValidator.validate(text) === true };
});

/** A comment, an instruction or CDATA, which have no references, or a reference. What is never closed ends with the text. */
const PARTS =
  /<!--[^]*?(?:-->|$)|<\?[^]*?(?:\?>|$)|<!\[CDATA\[[^]*?(?:\]\]>|$)|&(?:(#\d{1,7};|#x[\da-fA-F]{1,6};)|[A-Za-z]\w{0,31};)?/g;

/** Writes entities of HTML as characters, and escapes an ampersand that begins no reference. Throws an AtomError for what is not well-formed. */
export function mended(document: string): string {
  const text = document.replace(PARTS, (part, numeric: string | undefined) => {
    if (!part.startsWith('&')) return part;
    // The library would take the numbers 128 to 159 for characters of Windows-1252. It leaves a name that HTML does not have as it is written.
    const character = numeric === undefined ? withLibrary().decodeHTMLStrict(part) : characterOf(numeric);
    if (character === undefined) throw new AtomError('a reference to no character');
    return escape(character).replaceAll("'", '&apos;'); // which may be in a value between single quotes
  });
  if (!withLibrary().isWellFormed(text)) throw new AtomError('not well-formed XML');
  return text;
}

/** XML basics for reading and writing: characters, white space, the namespaces of the interface. */

/** A document is not the expected Atom or must not be read, or a text contains a character that XML forbids. */
export class AtomError extends SyntaxError {
  override name = 'AtomError';
}

export const namespaces = {
  atom: 'http://www.w3.org/2005/Atom',
  db: 'http://www.douban.com/xmlns/',
  gd: 'http://schemas.google.com/g/2005',
  opensearch: 'http://a9.com/-/spec/opensearchrss/1.0/',
  georss: 'http://www.georss.org/georss',
} as const;
export type Namespace = keyof typeof namespaces;

const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/;

/** Whether XML 1.0 forbids a character, lone surrogates aside. With U+FFFE and U+FFFF in the expression it would take twice as long. */
export const hasForbidden = (text: string): boolean =>
  control.test(text) || text.includes('\ufffe') || text.includes('\uffff');

export const isWritable = (text: string): boolean => !hasForbidden(text) && text.isWellFormed();

/** The text without the characters that XML cannot carry. */
export const writableText = (text: string): string =>
  text.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '');

/** A document without the characters that XML forbids, and the references to them. Two references to a surrogate pair are its character. */
export const readableText = (document: string): string =>
  writableText(
    document.replace(/&#(x[\da-f]{1,6}|\d{1,7});/gi, (reference, digits: string) => {
      const code = Number(`0${digits}`); // hexadecimal digits follow an x
      if (code > 0x10ffff) return '';
      const character = String.fromCodePoint(code);
      return isWritable(character) ? reference : character;
    }),
  );

const escapes: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  // XML readers replace unescaped tabs and line feeds in attributes by spaces, and carriage returns everywhere by line feeds.
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};

export function escape(text: string): string {
  if (!isWritable(text)) throw new AtomError('a character that XML cannot carry');
  return text.replace(/[&<>"\t\n\r]/g, (character) => escapes[character] ?? character);
}

/** Normalises line ends as XML requires. Reading a text that `replaceAll` has joined from many pieces is slower. */
export const withLineFeeds = (text: string): string =>
  text.includes('\r') ? text.split('\r\n').join('\n').replaceAll('\r', '\n') : text;

/** Removes the white space of XML, and no other, from both ends. */
export function trim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

export const isBlank = (code: number): boolean => code === 32 || code === 9 || code === 10 || code === 13;

/** The references that every XML document may have. */
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

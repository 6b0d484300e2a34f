/** Texts of others, such as a service or a file, for a terminal. */

/** Control characters, which move the cursor, and those that change the direction of writing: both can make a line say something else. */
const UNSAFE = /[\0-\x08\v-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** The text with `\u001b` for an escape, and so on. Line feeds stay. JSON that is printed so is the same JSON. */
export const printable = (text: string): string =>
  text.replaceAll(UNSAFE, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The printable text in one line: line feeds are escaped too. */
export const printableLine = (text: string): string => printable(text).replaceAll('\n', '\\n');

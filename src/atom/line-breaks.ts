/** Markup inside a text is read as its text, with a line break where a block begins or ends. */

import { trim } from './xml.ts';

// No document contains these characters, so they can mark the breaks until the text is complete.
const BLOCK = '\u0000';
const BREAK = '\u0001';

const blocks = new Set(
  (
    'address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure footer form ' +
    'h1 h2 h3 h4 h5 h6 header hgroup hr legend li main menu nav ol option p pre section summary table tbody td tfoot th thead tr ul'
  ).split(' '),
);

/** The part of a name after its prefix. */
export const localName = (name: string): string => name.split(':', 2).at(-1)!;

/** The mark before and after an element inside a text; '' for one that breaks no line. */
function breakOf(name: string): string {
  const local = localName(name).toLowerCase();
  return local === 'br' ? BREAK : blocks.has(local) ? BLOCK : '';
}

/** The text of an element inside a text. */
export function textInside(name: string, text: string): string {
  const mark = breakOf(name);
  return mark === BREAK ? mark + text : mark + text + mark;
}

/** The text with its marks as line breaks; white space beside them is only the layout of the markup. */
export function withBreaks(text: string): string {
  if (!text.includes(BLOCK) && !text.includes(BREAK)) return text;
  let whole = '';
  let breaks = 0;
  for (const piece of text.split(/([\u0000\u0001])/)) {
    if (piece === BREAK) breaks++;
    const line = piece === BREAK || piece === BLOCK ? '' : trim(piece);
    if (line === '') continue;
    whole += whole === '' ? line : '\n'.repeat(breaks || 1) + line;
    breaks = 0;
  }
  return whole;
}

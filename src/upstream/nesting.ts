/** Lists and objects inside one another in an answer: the deepest known have 6. */
export const NESTING_MAX = 64;

const QUOTE = 34;
const BACKSLASH = 92;

/**
 * Whether lists and objects of a JSON text go deeper than `most`.
 * The parser itself takes any depth; what walks the value afterwards would run out of stack.
 */
export function nestsDeeper(text: string, most: number): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
      if (at === -1) return false; // cut off: the parser says so
    } else if (code === 91 || code === 123) {
      if (++depth > most) return true;
    } else if (code === 93 || code === 125) depth--;
  }
  return false;
}

function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1) {
    let slashes = end;
    while (text.charCodeAt(slashes - 1) === BACKSLASH) slashes--;
    if ((end - slashes) % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return -1;
}

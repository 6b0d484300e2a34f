/** Lists and objects inside one another in an answer: the deepest known have 6. */
export const NESTING_MAX = 64;

/** Texts up to this length are parsed before their depth is known: a value costs less to walk than its text, and a short one is never ruinous. */
const SHORT_MAX = 1 << 18;

/**
 * JSON.parse, but lists and objects that go deeper than `most` are a SyntaxError too.
 * The parser itself takes any depth; what walks the value afterwards would run out of stack.
 */
export function parseJson(text: string, most: number): unknown {
  const isShort = text.length <= SHORT_MAX;
  if (!isShort && textNests(text, most)) throw new SyntaxError('nested too deeply');
  const value: unknown = JSON.parse(text);
  if (isShort && valueNests(value, most)) throw new SyntaxError('nested too deeply');
  return value;
}

function valueNests(value: unknown, most: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (most === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value) if (valueNests(item, most - 1)) return true;
    return false;
  }
  const members = value as Record<string, unknown>;
  for (const name in members) if (valueNests(members[name], most - 1)) return true;
  return false;
}

const QUOTE = 34;
const BACKSLASH = 92;

function textNests(text: string, most: number): boolean {
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

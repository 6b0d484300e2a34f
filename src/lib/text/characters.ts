/**
 * Counts the characters of text limits as code points.
 * Not specified: the interface only says "characters". Grapheme clusters would be closer to what readers count, but one cluster can have
 * any length, and segmenting a long text takes more than quadratic time.
 */

/** Index after the first `count` code points, or the length of a shorter text. Scans no further than that. */
function endOf(text: string, count: number): number {
  if (text.length <= count) return text.length;
  let at = 0;
  for (let left = count; left > 0 && at < text.length; left--) at += isPairAt(text, at) ? 2 : 1;
  return at;
}

const isPairAt = (text: string, at: number): boolean => text.codePointAt(at)! > 0xffff;

/** Whether a text has more code points than the limit. */
export const hasMoreThan = (text: string, limit: number): boolean => endOf(text, limit) < text.length;

/** The beginning of a text: at most this many code points. */
export const firstCharacters = (text: string, most: number): string => text.slice(0, endOf(text, most));

/** Number of code points of a text, at most `most`. */
export function charactersIn(text: string, most: number): number {
  let count = 0;
  for (let at = 0; at < text.length && count < most; count++) at += isPairAt(text, at) ? 2 : 1;
  return count;
}

/**
 * Characters of a text limit are code points.
 * Not specified: the interface says "characters" and no more. Grapheme clusters, as readers count them, have no longest form: one of them
 * can be of any size, and finding them takes more than the square of a long text.
 */

/** Where the first `count` code points of a text end: its length, where it has no more of them. Walks no further than that. */
function endOf(text: string, count: number): number {
  if (text.length <= count) return text.length;
  let at = 0;
  for (let left = count; left > 0 && at < text.length; left--) at += isPairAt(text, at) ? 2 : 1;
  return at;
}

const isPairAt = (text: string, at: number): boolean => text.codePointAt(at)! > 0xffff;

/** Whether a text has more code points than this. */
export const hasMoreThan = (text: string, limit: number): boolean => endOf(text, limit) < text.length;

/** The first code points of a text, at most so many. */
export const firstCharacters = (text: string, most: number): string => text.slice(0, endOf(text, most));

/** How many code points a text has; stops counting at `most`. */
export function charactersIn(text: string, most: number): number {
  let count = 0;
  for (let at = 0; at < text.length && count < most; count++) at += isPairAt(text, at) ? 2 : 1;
  return count;
}

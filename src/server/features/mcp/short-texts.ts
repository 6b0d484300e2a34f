/** Shortens the long texts of what an agent reads. */

/** Texts of a response that is too long are shortened to this many characters. */
const TEXT_MAX = 1_000;

/** Something of which not all is shown. */
export interface Cut {
  path: string;
  shown: number;
  of: number;
}

/** What is shown of a list beside the data: its first entries. */
export const SHOWN_MAX = 10;

/** Names a list beside the data of which not all is shown. */
export const cutOf = (path: string, of: number, shown = Math.min(of, SHOWN_MAX)): Cut[] =>
  shown < of ? [{ path, shown, of }] : [];

/** A copy with short texts. One entry of `cuts` for all texts at the same place of the document. */
export function withShortTexts(value: unknown, cuts: Map<string, Cut>, path = ''): unknown {
  if (typeof value === 'string') {
    if (value.length <= TEXT_MAX) return value;
    cuts.set(path, { path, shown: TEXT_MAX, of: Math.max(value.length, cuts.get(path)?.of ?? 0) });
    return shortenText(value, TEXT_MAX);
  }
  if (Array.isArray(value)) return value.map((item) => withShortTexts(item, cuts, path));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, withShortTexts(member, cuts, path ? `${path}.${key}` : key)]),
  );
}

/** Does not cut a character of two units in half. */
export function shortenText(text: string, most: number): string {
  if (text.length <= most) return text;
  const kept = text.slice(0, Math.max(0, most - 1));
  return `${/[\uD800-\uDBFF]$/.test(kept) ? kept.slice(0, -1) : kept}…`;
}

const words = new Intl.Segmenter('zh', { granularity: 'word' });
const graphemes = new Intl.Segmenter('zh', { granularity: 'grapheme' });
/** A line never begins with one of these. */
const closing = /^[\s，。、：；！？）》」』】”’…·,.:;!?)\]}]/u;
/** A line never ends with one of these. */
const opening = /[（《「『【“‘([{]$/u;

/** Breaks the text in the largest font size that fits `width` pixels and `most` lines; at the smallest size it is cut. */
export function fitted(text: string, width: number, sizes: readonly number[], most: number) {
  // Titles of events have no limit.
  const units = unitsOf(words, text.slice(0, 200).replace(/\s+/gu, ' ').trim());
  const size = sizes.find((each) => linesOf(units, width / each).length <= most) ?? sizes.at(-1)!;
  const lines = linesOf(units, width / size);
  if (lines.length > most) return { size, lines: cut(lines.slice(0, most), width / size) };
  // Lines have about equal lengths, so that no single character is left on the last one.
  const narrower = [0.5, 0.6, 0.7, 0.8, 0.9].map((part) => linesOf(units, (part * width) / size));
  return { size, lines: narrower.find((each) => each.length === lines.length) ?? lines };
}

/** Units between which a line may be broken. */
function unitsOf(segmenter: Intl.Segmenter, text: string): string[] {
  const units: string[] = [];
  for (const { segment } of segmenter.segment(text)) {
    const last = units.at(-1) ?? '';
    if (last !== '' && (closing.test(segment) || opening.test(last))) units.splice(-1, 1, last + segment);
    else units.push(segment);
  }
  return units;
}

function linesOf(units: readonly string[], ems: number): string[] {
  const lines: string[] = [];
  // A word longer than a line is broken anywhere.
  for (const unit of units.flatMap((each) => (emsOf(each) > ems ? unitsOf(graphemes, each) : each))) {
    const last = lines.at(-1);
    if (last === undefined || emsOf(last + unit) > ems) lines.push(unit);
    else lines.splice(-1, 1, last + unit);
  }
  return lines.map((line) => line.trim()).filter(Boolean);
}

function cut(lines: readonly string[], ems: number): string[] {
  let last = lines.at(-1) ?? '';
  while (last !== '' && emsOf(`${last}…`) > ems) last = unitsOf(graphemes, last).slice(0, -1).join('');
  return [...lines.slice(0, -1), `${last.trimEnd()}…`];
}

/** Approximate width of a text in ems; the fonts of the client are unknown. */
function emsOf(text: string): number {
  let ems = 0;
  for (const c of text.trimEnd())
    ems += c > '\u10ff' ? 1 : /[\sil.,:;'|!()]/.test(c) ? 0.34 : /[A-ZMWmw\d]/.test(c) ? 0.74 : 0.6;
  return ems;
}

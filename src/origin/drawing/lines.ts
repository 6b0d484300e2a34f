/** Most characters of a text that are read, because titles of events have no limit. */
const LOOKED_AT = 200;
const graphemes = new Intl.Segmenter('zh', { granularity: 'grapheme' });
const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
/** A line never begins with one of these. */
const closing = /^[，。、：；！？）》」』】”’…·,.:;!?)\]}]/u;

/** A line never ends with one of these. */
const opening = /^[（《「『【“‘([{]+$/u;

interface Fitted {
  /** Font size in pixels. */
  size: number;
  lines: string[];
}

/** Breaks the text in the largest font size that fits `width` pixels and `linesMax` lines; at the smallest size it is cut. */
export function fitted(text: string, width: number, sizes: readonly number[], linesMax: number): Fitted {
  const words = wordsOf(text);
  let last: Fitted = { size: 1, lines: [] };
  for (const size of sizes) {
    last = { size, lines: linesOf(words, width / size) };
    if (last.lines.length <= linesMax) return { size, lines: balanced(words, width / size, last.lines) };
  }
  return { size: last.size, lines: shortened(last.lines, linesMax, width / last.size) };
}

/** Units between which a line may be broken: single Chinese characters, other words, and spaces. */
function wordsOf(text: string): string[] {
  const words: string[] = [];
  let word = '';
  for (const { segment } of graphemes.segment(text.slice(0, LOOKED_AT).replace(/\s+/gu, ' ').trim())) {
    const last = words.length - 1;
    if (closing.test(segment) && word === '' && last >= 0) {
      words[last] += segment;
    } else if (opening.test(segment)) {
      if (word !== '') words.push(word);
      word = segment;
    } else if (segment === ' ' || (wide.test(segment) && !closing.test(segment))) {
      if (word !== '' && !opening.test(word)) words.push(word);
      words.push(opening.test(word) ? word + segment : segment);
      word = '';
    } else {
      word += segment;
    }
  }
  return word === '' ? words : [...words, word];
}

function linesOf(words: readonly string[], ems: number): string[] {
  const lines: string[] = [];
  let line = '';
  const end = () => {
    if (line.trim() !== '') lines.push(line.trim());
    line = '';
  };
  for (const word of words) {
    if (line !== '' && emsOf(line + word) > ems && word !== ' ') end();
    // A word longer than a line is broken anywhere.
    if (emsOf(word) <= ems) line += word;
    else
      for (const { segment } of graphemes.segment(word)) {
        if (line !== '' && emsOf(line + segment) > ems && !closing.test(segment)) end();
        line += segment;
      }
  }
  end();
  return lines;
}

/** The same number of lines of about equal length, so that no single character is left on the last. */
function balanced(words: readonly string[], ems: number, lines: string[]): string[] {
  let best = lines;
  for (let narrower = ems * 0.94; narrower > ems / 2; narrower *= 0.94) {
    const tried = linesOf(words, narrower);
    if (tried.length > lines.length) break;
    best = tried;
  }
  return best;
}

function shortened(lines: readonly string[], most: number, ems: number): string[] {
  const last = [...graphemes.segment(lines[most - 1] ?? '')].map(({ segment }) => segment);
  while (last.length > 0 && emsOf(`${last.join('')}…`) > ems) last.pop();
  return [...lines.slice(0, most - 1), `${last.join('').trimEnd()}…`];
}

/** Approximate width of a text in ems; the fonts of the client are unknown. */
function emsOf(text: string): number {
  let ems = 0;
  for (const { segment } of graphemes.segment(text)) {
    if (wide.test(segment) || segment === '…') ems += 1;
    else if (/^[\sil.,:;'|!()[\]]/.test(segment)) ems += 0.34;
    else ems += /^[A-ZMWmw\d]/.test(segment) ? 0.74 : 0.6;
  }
  return ems;
}

import { firstCharacters, hasMoreThan } from '../../../lib/text/characters.ts';

const ABSTRACT_MAX = 100;
const pictureTag = /<图片(\d{1,6})>/g;

/** The beginning of the text, without pictures. */
export function abstractOf(content: string): string {
  return shortened(content.replaceAll(pictureTag, ''), ABSTRACT_MAX);
}

/** The text on one line, shortened with dots if it is too long. */
export function shortened(text: string, max: number): string {
  const line = text.replace(/\s+/gu, ' ').trim();
  return hasMoreThan(line, max) ? `${firstCharacters(line, max).trimEnd()}...` : line;
}

/** The numbers of the pictures in the content, in order. */
export function pictureNumbersIn(content: string): number[] {
  return [...content.matchAll(pictureTag)].map(([, number]) => Number(number));
}

/** An empty block separates paragraphs, as in the real service. Not specified: the HTML of a picture. */
export function annotationHtml(content: string, photos: ReadonlyMap<number, string>): string {
  return content
    .split(/\r?\n+/)
    .map((paragraph) =>
      paragraph
        .split(pictureTag)
        .map((piece, n) => (n % 2 === 0 ? escaped(piece) : picture(photos.get(Number(piece)))))
        .join(''),
    )
    .join('<div style="padding-bottom:1em;"></div>');
}

const picture = (url: string | undefined) => (url === undefined ? '' : `<img src="${escaped(url)}">`);

export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** Not specified: the notation of math; here between double dollars. */
export const hasMath = (content: string) => /\$\$[^$]+\$\$/.test(content);

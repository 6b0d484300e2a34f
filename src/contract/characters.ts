const segmenter = new Intl.Segmenter('zh', { granularity: 'grapheme' });
const plain = /^[\u0020-\u007e\u3000-\u303f\u4e00-\u9fff\uff00-\uffef\n]*$/;

/**
 * How many characters a reader sees: grapheme clusters, so a Chinese character is one, and so is an emoji of several code points.
 * Not specified: the interface says "characters" and no more.
 */
export function charactersIn(text: string): number {
  if (plain.test(text)) return text.length;
  let count = 0;
  for (const _ of segmenter.segment(text)) count++;
  return count;
}

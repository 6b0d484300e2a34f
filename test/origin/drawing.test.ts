import { XMLValidator } from 'fast-xml-parser';
import { expect, test } from 'vitest';
import { fitted } from '../../src/origin/drawing/lines.ts';
import { draw } from '../../src/origin/drawing/draw.ts';

test('a title that fits is drawn on one line in the largest font size', () => {
  expect(fitted('百年孤独', 200, [36, 24], 3)).toEqual({ size: 36, lines: ['百年孤独'] });
});

test('a longer title breaks between words and Chinese characters, then gets a smaller font size, and is cut off last', () => {
  expect(fitted('The Storied Life of A. J. Fikry', 200, [36, 24], 3).lines).toEqual([
    'The Storied',
    'Life of A. J.',
    'Fikry',
  ]);
  expect(fitted('这个杀手不太冷', 200, [36], 2).lines).toEqual(['这个杀手', '不太冷']);
  const { size, lines } = fitted('一个人的好天气和另一个人的坏天气', 200, [36, 24], 2);
  expect([size, lines]).toEqual([24, ['一个人的好天气和', '另一个人的坏天气']]);
  const cut = fitted('长'.repeat(100), 200, [36, 24], 2);
  expect(cut).toEqual({ size: 24, lines: ['长'.repeat(8), `${'长'.repeat(7)}…`] });
});

test('a line neither begins with closing punctuation nor ends with opening punctuation, and a word longer than a line is broken', () => {
  for (const text of [
    '哈利·波特与魔法石，第一部（上）',
    '你好，世界！你好，世界！',
    '导读（第一回）《红楼梦》“石头”',
    'Hello, world! (again)',
  ]) {
    for (const width of [60, 80, 100, 130]) {
      const { lines } = fitted(text, width, [20], 20);
      expect(lines.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
      for (const line of lines.slice(1)) expect(line).not.toMatch(/^[，。！？、）》”·,.!)]/);
      for (const line of lines) expect(line).not.toMatch(/[（《“(]$/);
    }
  }
  const { lines } = fitted('Donaudampfschifffahrtsgesellschaft', 100, [20], 9);
  expect(lines.length).toBeGreaterThan(2);
  expect(lines.join('')).toBe('Donaudampfschifffahrtsgesellschaft');
});

test('an empty text has no lines', () => {
  expect(fitted('', 100, [20], 3).lines).toEqual([]);
  expect(fitted(' \n ', 100, [20], 3).lines).toEqual([]);
});

test('a picture is well-formed SVG whatever its title and texts are, and always the same for an id', () => {
  const hostile = '\0\x1b\ud800<>&"\'\uffff]]>\ud83d';
  const captions = [{ text: hostile, y: 20, sizes: [20], most: 2 }];
  for (const kind of ['book', 'subject', 'celebrity', 'person', 'event', 'photo', 'annotation', 'note'] as const) {
    for (let id = 0; id < 8; id++) {
      const text = draw(kind, String(id), [5, 7], hostile, captions);
      expect(XMLValidator.validate(text)).toBe(true);
      expect(text).toContain("<title>&lt;&gt;&amp;&quot;']]&gt;</title>");
      expect(text).toMatch(/^<svg [^>]*width="5" height="7"/);
      expect(draw(kind, String(id), [5, 7], hostile, captions)).toBe(text);
    }
  }
});

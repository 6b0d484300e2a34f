import { describe, expect, test } from 'vitest';
import { noteMarkup } from '../../../src/origin/rules/note/note-text.ts';
import { writtenNote } from '../../../src/graph/note/written-note.ts';
import { thorough } from '../../support/optional.ts';

const photos = { '1': 'https://img.example/1.jpg', '2': 'https://img.example/2.jpg' };

/** The text that the service makes of what is written. */
function madeOf({ content, shownPictures = {} }: NonNullable<ReturnType<typeof writtenNote>>): string {
  return noteMarkup(content, (number) => {
    if (!(number in photos)) return undefined;
    return {
      layout: (shownPictures[`layout_${number}`] ?? 'C') as 'C',
      caption: shownPictures[`desc_${number}`] ?? '',
    };
  });
}

const kept = [
  '',
  '一行\n  两行 \n',
  'a < b && c > d, "引号"',
  '[img=1:L]一 & "二" <三>[/img]和[img=2:C][/img]',
  '[img=1:L]同[/img][img=1:L]同[/img]',
  '见 [url="https://example.com/a?b=1&c=2"][/url] 。',
  '见[url="https://example.com/a"][/url]，[url="https://example.com/b"][/url]',
  '[url="https://example.com/a"][/url][url="https://example.com/b"][/url]',
  '[url="https://example.com/a"]A <b> & "c"[/url]',
  '[url="https://example.com/a"]https://example.com/a[/url]',
  '[url="https://example.com/（a）"][/url] b',
  '没有的图：<图片p_9>',
  '［img=1:L］ [b] [/b]',
];
test.each(kept)('a text is written so that the service makes the same of it: %j', (content) => {
  const written = writtenNote(content, photos);
  expect(written?.content).not.toMatch(/\[(?:img|url)\b/);
  expect(written && madeOf(written)).toBe(content);
});

describe('a text is not kept', () => {
  test.each([
    ['that shows a picture in two ways', '[img=1:L]一[/img][img=1:R]一[/img]'],
    ['with a picture that is not stored', '[img=9:L][/img]'],
    ['with a picture whose number the service would show', '<图片p_1>'],
    ['with a caption that the service would change', '[img=1:L]一\n二[/img]'],
    ['with an open tag', '[img=1:L]一'],
    ['with a tag in a title', '[url="https://example.com/"][img=1:L][/img][/url]'],
    ['with an address that is no link', '见 https://example.com/'],
    ['with an HTML link', '<a href="https://example.com/">a</a>'],
    ['with a link of another scheme', '[url="ftp://example.com/"]a[/url]'],
    ['with an address with spaces', '[url="https://example.com/a b"]a[/url]'],
    ['that the service does not show', undefined],
  ])('%s', (_, content) => {
    expect(writtenNote(content, photos)).toBeUndefined();
  });
});

test('whatever people write, what is kept of it is the same again', () => {
  const pieces = [
    '[img=1:L]',
    '[img=2:R]',
    '[/img]',
    '[url="https://e.example/a"]',
    '[/url]',
    '<图片p_1>',
    '<图片p_9>',
  ];
  const more = [
    '<a href="https://e.example/b">',
    '</a>',
    'https://e.example/c',
    ' ',
    '\n',
    '字',
    '&',
    '<',
    '"',
    '，',
    '.',
  ];
  let seed = 7;
  const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
  const all = [...pieces, ...more];
  let keptTexts = 0;
  for (let nth = 0; nth < (thorough ? 20_000 : 2_000); nth++) {
    const given = Array.from({ length: random(12) }, () => all[random(all.length)]!).join('');
    // As the service shows it.
    const content = nth % 2 === 0 ? given : madeOf({ content: given });
    const written = writtenNote(content, photos);
    if (!written) continue;
    keptTexts++;
    expect({ given, made: madeOf(written) }).toEqual({ given, made: content });
  }
  expect(keptTexts).toBeGreaterThan(100);
});

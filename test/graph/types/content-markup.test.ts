import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type ContentBlockShape,
  annotationBlocks,
  contentPhotos,
  noteBlocks,
} from '../../../src/graph/types/content-markup.ts';
import { expectTimeToGrowWith } from '../../support/growth.ts';

const photos = { 1: 'http://img.example/1.jpg', 2: 'http://img.example/2.jpg' };
const first = { number: 1, url: 'http://img.example/1.jpg' };
const paragraph = (text: string): ContentBlockShape => ({ kind: 'TextBlock', spans: [{ text, linkUrl: null }] });

/** All text that a reader sees, without white space. */
const visible = (pieces: readonly ContentBlockShape[]): string =>
  pieces
    .map((piece) => {
      if (piece.kind === 'TextBlock') return piece.spans.map(({ text }) => text).join('');
      return piece.kind === 'PhotoBlock' ? (piece.caption ?? '') : piece.tex;
    })
    .join('')
    .replace(/\s/g, '');

describe('blocks of a note', () => {
  test('contain one paragraph per non-blank line', () => {
    expect(noteBlocks('one\r\n\r\n \r\ntwo\nthree', {})).toEqual(['one', 'two', 'three'].map(paragraph));
  });

  test('contain a photo at its position, with its layout and caption', () => {
    expect(noteBlocks('before[img=1:L]a cat[/img]after', photos)).toEqual([
      paragraph('before'),
      { kind: 'PhotoBlock', photo: first, layout: 'L', caption: 'a cat' },
      paragraph('after'),
    ]);
  });

  test('contain a photo with a null caption if the caption is empty, and without an image if the number is unknown', () => {
    expect(noteBlocks('[img=9:R][/img]', photos)).toEqual([
      { kind: 'PhotoBlock', photo: null, layout: 'R', caption: null },
    ]);
  });

  test('contain the photos in ascending order of their keys if these are ids that the content does not use', () => {
    const byId = { 70041: 'http://img.example/late.jpg', 70012: 'http://img.example/early.jpg' };
    const shown = (content: string) =>
      noteBlocks(content, byId).map((piece) => piece.kind === 'PhotoBlock' && piece.photo);
    const [early, late] = contentPhotos(byId);
    expect(shown('[img=5:C][/img][img=2:C][/img][img=5:L][/img]')).toEqual([late, early, late]);
    expect(shown('[img=2:C][/img]'), 'one was removed: which one is unknown').toEqual([null]);
    expect(shown('[img=2:C][/img][img=70041:C][/img]')).toEqual([null, late]);
    expect(noteBlocks('[img=1:C][/img]', { 3: 'http://img.example/3.jpg' })).toMatchObject([{ photo: null }]);
  });

  test('contain a link with its title as text, or with its URL if the title is empty', () => {
    expect(noteBlocks('see [url="http://a.example/"]this[/url], [url="http://b.example/"][/url]', {})).toEqual([
      {
        kind: 'TextBlock',
        spans: [
          { text: 'see ', linkUrl: null },
          { text: 'this', linkUrl: 'http://a.example/' },
          { text: ', ', linkUrl: null },
          { text: 'http://b.example/', linkUrl: 'http://b.example/' },
        ],
      },
    ]);
  });

  test('contain a link whose URL has no quotes, as the real service writes it', () => {
    expect(noteBlocks('see [url=http://a.example/7/]this one[/url]', {})).toEqual([
      {
        kind: 'TextBlock',
        spans: [
          { text: 'see ', linkUrl: null },
          { text: 'this one', linkUrl: 'http://a.example/7/' },
        ],
      },
    ]);
  });

  test('contain links to http and https URLs only', () => {
    expect(noteBlocks('[url="javascript:alert(1)"]here[/url]', {})).toEqual([paragraph('here')]);
  });

  test('contain only the text of a link that is part of a caption', () => {
    const [picture] = noteBlocks('[img=1:C]by [url="http://a.example/"]her[/url][/img]', photos);
    expect(picture).toMatchObject({ kind: 'PhotoBlock', caption: 'by her' });
  });

  test('contain a photo that is inside a link, and the text around the photo as links', () => {
    const pieces = noteBlocks('[url="http://a.example/"]x[img=1:C][/img]y[/url]', photos);
    expect(pieces.map(({ kind }) => kind)).toEqual(['TextBlock', 'PhotoBlock', 'TextBlock']);
    expect(pieces[2]).toEqual({ kind: 'TextBlock', spans: [{ text: 'y', linkUrl: 'http://a.example/' }] });
  });

  test.each([
    '[img=1:C]never closed',
    'never opened[/img]',
    '[img=x:C]no number[/img]',
    '[url=http://a.example unclosed[/url]',
    '[url="http://a.example]half quoted[/url]',
    '[url=a.example]no URL[/url]',
    '[url="http://a.example',
    '[b]bold[/b]',
  ])('contain incomplete or unknown markup as text: %s', (content) => {
    expect(noteBlocks(content, photos)).toEqual([paragraph(content)]);
  });

  test('match a closing mark with the nearest opening mark; of two overlapping elements the one that closes first wins', () => {
    expect(visible(noteBlocks('[img=1:C]a[img=2:C]b[/img]', photos))).toBe('[img=1:C]ab');
    expect(visible(noteBlocks('[img=1:C]a[url="http://a.example/"]b[/img]c[/url]', photos))).toBe(
      'a[url="http://a.example/"]bc[/url]',
    );
    expect(visible(noteBlocks('[img=1:C]a[/url]b[/img]', photos))).toBe('a[/url]b');
  });

  test('contain all written text, for any mix of markup', () => {
    const word = fc.stringMatching(/^[^[\]"]{1,8}$/);
    const part = fc.oneof(
      word.map((text) => ({ written: text, shown: text })),
      fc.tuple(fc.nat(5), fc.constantFrom('L', 'C', 'R'), word).map(([number, layout, text]) => ({
        written: `[img=${number}:${layout}]${text}[/img]`,
        shown: text,
      })),
      fc
        .tuple(
          fc.webUrl({ validSchemes: ['http'] }).filter((url) => !url.includes('"')),
          word.filter((text) => text.trim() !== ''),
        )
        .map(([url, text]) => ({
          written: `[url="${url}"]${text}[/url]`,
          shown: text,
        })),
      fc.constantFrom('[', ']', '[/b]', '[img=:C]', '\n').map((text) => ({ written: ` ${text} `, shown: text })),
    );
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const content = parts.map(({ written }) => written).join('');
        expect(visible(noteBlocks(content, photos))).toBe(
          parts
            .map(({ shown }) => shown)
            .join('')
            .replace(/\s/g, ''),
        );
      }),
    );
  });

  test('are parsed without an error for any input', () => {
    const odd = fc.array(
      fc.constantFrom(
        '[img=1:C]',
        '[/img]',
        '[url="http://a.example/"]',
        '[url=http://a.example/]',
        '[/url]',
        '[url="',
        '\n',
        'x',
        '<图片1>',
        '<原文开始>',
        '</原文结束>',
        '$$',
      ),
    );
    fc.assert(
      fc.property(odd, fc.jsonValue(), (parts, anything) => {
        const content = parts.join('');
        for (const pieces of [noteBlocks(content, anything), annotationBlocks(content, anything, true)]) {
          const xs = parts.filter((part) => part === 'x').length;
          expect([...visible(pieces).replaceAll('example', '')].filter((letter) => letter === 'x')).toHaveLength(xs);
          for (const piece of pieces) if (piece.kind === 'TextBlock') expect(piece.spans.length).toBeGreaterThan(0);
        }
      }),
    );
  });

  test.each([
    '[img=1:C]',
    '[url="',
    '[url=http://x',
    '<原文开始><图片1>',
    '<原文开始>x</原文结束>',
    '[/img]',
    '[url="x"]',
    '$$',
    '$',
    '[url="x"][img=1:C]',
  ])('are parsed in time linear in the length: %s', async (part) => {
    await expectTimeToGrowWith(20_000, (n) => noteBlocks(part.repeat(n), photos));
    await expectTimeToGrowWith(20_000, (n) => annotationBlocks(part.repeat(n), photos, true));
  });
});

describe('blocks of an annotation', () => {
  test('contain photos at their positions, centred', () => {
    expect(annotationBlocks('one<图片1>two\n<图片7>', photos, false)).toEqual([
      paragraph('one'),
      { kind: 'PhotoBlock', photo: first, layout: 'C', caption: null },
      paragraph('two'),
      { kind: 'PhotoBlock', photo: null, layout: 'C', caption: null },
    ]);
  });

  test('contain quotations of the book as paragraphs without the marks', () => {
    const quote = (text: string) => ({ ...paragraph(text), isQuote: true });
    expect(
      annotationBlocks('<原文开始>one\ntwo<图片1></原文结束>mine<原文开始>three</原文结束>', photos, false),
    ).toEqual([
      quote('one'),
      quote('two'),
      { kind: 'PhotoBlock', photo: first, layout: 'C', caption: null },
      paragraph('mine'),
      quote('three'),
    ]);
  });

  test.each(['<原文开始>never closed', 'never opened</原文结束>', '</原文结束>reversed<原文开始>'])(
    'contain the mark of an incomplete quotation as text: %s',
    (content) => {
      expect(annotationBlocks(content, {}, false)).toEqual([paragraph(content)]);
    },
  );

  test('contain the nearest opening mark of a quotation, others are text', () => {
    expect(visible(annotationBlocks('<原文开始>a<原文开始>b</原文结束>c</原文结束>', {}, false))).toBe(
      '<原文开始>abc</原文结束>',
    );
  });

  test('contain formulas if the service says that there are any', () => {
    expect(annotationBlocks('so $$ e=mc^2 $$ it is', {}, true)).toEqual([
      paragraph('so '),
      { kind: 'MathBlock', tex: 'e=mc^2' },
      paragraph(' it is'),
    ]);
    expect(annotationBlocks('costs $$5$$', {}, false)).toEqual([paragraph('costs $$5$$')]);
  });

  test('contain formula delimiters as text if they enclose nothing', () => {
    expect(visible(annotationBlocks('a $$ $$ b', {}, true))).toBe('a$$$$b');
    expect(visible(annotationBlocks('a $$x$$ b $$ c', {}, true))).toBe('axb$$c');
  });
});

test('content photos are sorted by number, and an invalid member yields only a null URL', () => {
  expect(contentPhotos({ 10: 'http://img.example/10.jpg', 2: null, note: 'x' })).toEqual([
    { number: 2, url: null },
    { number: 10, url: 'http://img.example/10.jpg' },
  ]);
  expect(contentPhotos([])).toEqual([]);
  expect(contentPhotos(null)).toEqual([]);
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type ContentBlockShape,
  annotationBlocks,
  contentPhotos,
  noteBlocks,
} from '../../../src/graph/types/content-blocks.ts';
import { expectTimeToGrowWith } from '../../support/growth.ts';

const photos = { 1: 'http://img.example/1.jpg', 2: 'http://img.example/2.jpg' };
const first = { number: 1, url: 'http://img.example/1.jpg' };
const paragraph = (text: string): ContentBlockShape => ({ kind: 'TextBlock', spans: [{ text, linkUrl: null }] });

/** Everything that a reader would see, white space aside. */
const visible = (pieces: readonly ContentBlockShape[]): string =>
  pieces
    .map((piece) => {
      if (piece.kind === 'TextBlock') return piece.spans.map(({ text }) => text).join('');
      return piece.kind === 'PhotoBlock' ? (piece.caption ?? '') : piece.tex;
    })
    .join('')
    .replace(/\s/g, '');

describe('a note', () => {
  test('has a paragraph for every line that is not blank', () => {
    expect(noteBlocks('one\r\n\r\n \r\ntwo\nthree', {})).toEqual(['one', 'two', 'three'].map(paragraph));
  });

  test('shows a picture where it stands, with its layout and caption', () => {
    expect(noteBlocks('before[img=1:L]a cat[/img]after', photos)).toEqual([
      paragraph('before'),
      { kind: 'PhotoBlock', photo: first, layout: 'L', caption: 'a cat' },
      paragraph('after'),
    ]);
  });

  test('has no caption where it is empty, and no picture where the number is unknown', () => {
    expect(noteBlocks('[img=9:R][/img]', photos)).toEqual([
      { kind: 'PhotoBlock', photo: null, layout: 'R', caption: null },
    ]);
  });

  test('shows a link by its title, or by its address where it has none', () => {
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

  test('links to http and https alone', () => {
    expect(noteBlocks('[url="javascript:alert(1)"]here[/url]', {})).toEqual([paragraph('here')]);
  });

  test('keeps a link in a caption as the text it shows', () => {
    const [picture] = noteBlocks('[img=1:C]by [url="http://a.example/"]her[/url][/img]', photos);
    expect(picture).toMatchObject({ kind: 'PhotoBlock', caption: 'by her' });
  });

  test('shows a picture inside a link, and the text around it as the link', () => {
    const pieces = noteBlocks('[url="http://a.example/"]x[img=1:C][/img]y[/url]', photos);
    expect(pieces.map(({ kind }) => kind)).toEqual(['TextBlock', 'PhotoBlock', 'TextBlock']);
    expect(pieces[2]).toEqual({ kind: 'TextBlock', spans: [{ text: 'y', linkUrl: 'http://a.example/' }] });
  });

  test.each([
    '[img=1:C]never closed',
    'never opened[/img]',
    '[img=x:C]no number[/img]',
    '[url=http://a.example]no quotes[/url]',
    '[url="http://a.example',
    '[b]bold[/b]',
  ])('leaves what is no whole mark as text: %s', (content) => {
    expect(noteBlocks(content, photos)).toEqual([paragraph(content)]);
  });

  test('takes the nearest of two marks that open, and of two that cross the one that closes first', () => {
    expect(visible(noteBlocks('[img=1:C]a[img=2:C]b[/img]', photos))).toBe('[img=1:C]ab');
    expect(visible(noteBlocks('[img=1:C]a[url="http://a.example/"]b[/img]c[/url]', photos))).toBe(
      'a[url="http://a.example/"]bc[/url]',
    );
    expect(visible(noteBlocks('[img=1:C]a[/url]b[/img]', photos))).toBe('a[/url]b');
  });

  test('loses nothing that was written, whatever it is made of', () => {
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

  test('is read whatever it holds', () => {
    const odd = fc.array(
      fc.constantFrom(
        '[img=1:C]',
        '[/img]',
        '[url="http://a.example/"]',
        '[/url]',
        '[url="',
        '\n',
        'x',
        '<图片1>',
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

  test.each(['[img=1:C]', '[url="', '[/img]', '[url="x"]', '$$', '$', '[url="x"][img=1:C]'])(
    'is read in time that grows with its length: %s',
    async (part) => {
      await expectTimeToGrowWith(100_000, (n) => noteBlocks(part.repeat(n), photos));
      await expectTimeToGrowWith(100_000, (n) => annotationBlocks(part.repeat(n), photos, true));
    },
  );
});

describe('an annotation', () => {
  test('shows pictures where they stand, in the middle', () => {
    expect(annotationBlocks('one<图片1>two\n<图片7>', photos, false)).toEqual([
      paragraph('one'),
      { kind: 'PhotoBlock', photo: first, layout: 'C', caption: null },
      paragraph('two'),
      { kind: 'PhotoBlock', photo: null, layout: 'C', caption: null },
    ]);
  });

  test('shows formulas where the service says that there are any', () => {
    expect(annotationBlocks('so $$ e=mc^2 $$ it is', {}, true)).toEqual([
      paragraph('so '),
      { kind: 'MathBlock', tex: 'e=mc^2' },
      paragraph(' it is'),
    ]);
    expect(annotationBlocks('costs $$5$$', {}, false)).toEqual([paragraph('costs $$5$$')]);
  });

  test('keeps signs of formulas that enclose nothing', () => {
    expect(visible(annotationBlocks('a $$ $$ b', {}, true))).toBe('a$$$$b');
    expect(visible(annotationBlocks('a $$x$$ b $$ c', {}, true))).toBe('axb$$c');
  });
});

test('pictures come by number, an odd member costing only itself', () => {
  expect(contentPhotos({ 10: 'http://img.example/10.jpg', 2: null, note: 'x' })).toEqual([
    { number: 2, url: null },
    { number: 10, url: 'http://img.example/10.jpg' },
  ]);
  expect(contentPhotos([])).toEqual([]);
  expect(contentPhotos(null)).toEqual([]);
});

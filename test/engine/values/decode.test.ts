import fc from 'fast-check';
import type { GraphQLScalarType } from 'graphql';
import { describe, expect, test } from 'vitest';
import * as decode from '../../../src/engine/values/decode.ts';
import { isbnOf } from '../../../src/graph/book/isbn.ts';
import { schema } from '../../../src/graph/schema.ts';
import { averageOf, userRating } from '../../../src/graph/types/rating.ts';

const decoders = Object.entries(decode).flatMap(([name, member]) =>
  typeof member === 'object' && 'decode' in member ? [[name, member] as const] : [],
);

test.each(decoders)('%s decodes any value without throwing', (_, { decode, list, nullable }) => {
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), fc.constant(undefined)), (value) => {
      const shown = decode(value);
      if (!nullable) expect(shown).not.toBeNull();
      if (list && shown !== null) expect(shown).toBeInstanceOf(Array);
    }),
  );
});

describe('numbers', () => {
  test('are decoded from text too, with or without a fraction', () => {
    expect(['50', '00', 4, '4', 1.0, 259.9].map(decode.count.decode)).toEqual([50, 0, 4, 4, 1, 259]);
    expect(decode.asFloat('8.6')).toBe(8.6);
  });

  test('are null if they are invalid or outside the range of GraphQL', () => {
    expect([2 ** 31, 'x', '', null, Infinity, '1e3', {}].map(decode.countOrNull.decode)).toEqual(Array(7).fill(null));
  });

  test('counted from 1 are null if they are 0', () => {
    expect([0, '0', -1, 3].map(decode.positiveOrNull.decode)).toEqual([null, null, null, 3]);
  });
});

describe('texts', () => {
  test('are null if they are empty or blank and the field is nullable', () => {
    expect(['', ' \n', null, undefined, []].map(decode.textOrNull.decode)).toEqual(Array(5).fill(null));
    expect(decode.textOrNull.decode(' 活着 ')).toBe(' 活着 ');
  });

  test('in lists exclude empty ones', () => {
    expect(decode.texts.decode(['', '', '导演'])).toEqual(['导演']);
    expect(decode.texts.decode('余华')).toEqual(['余华']);
    expect(decode.texts.decode(null)).toEqual([]);
  });
});

describe('image and page URLs', () => {
  test('are http or https, as written', () => {
    expect(decode.urlOrNull.decode('http://img3.example.com/a.jpg')).toBe('http://img3.example.com/a.jpg');
    expect(decode.urlOrNull.decode('https://a.example')).toBe('https://a.example');
    expect(decode.urlOrNull.decode('//img3.example.com/a.jpg')).toBe('https://img3.example.com/a.jpg');
    expect(decode.urlsOrNull.decode('https://a.example/1.mp4')).toEqual(['https://a.example/1.mp4']);
  });

  test.each([
    '',
    'javascript:alert(1)',
    '//',
    '///a.example/',
    'ftp://a.example/',
    'http://',
    'http://a b/',
    'data:text/html,x',
  ])('of any other kind are null: %s', (value) => {
    expect(decode.urlOrNull.decode(value)).toBeNull();
  });
});

test('a word of a closed list may stand between white space', () => {
  const word = decode.wordOrNull<'read' | 'wish'>('String', ['read', 'wish']);
  expect(['read', ' wish\n', 'Read', 'x', null, ['read']].map(word.decode)).toEqual([
    'read',
    'wish',
    null,
    null,
    null,
    null,
  ]);
});

describe('website URLs', () => {
  test.each([
    ['http://a.example/x', 'http://a.example/x'],
    ['www.example.com', 'http://www.example.com'],
    [' example.com/film?id=7#top ', 'http://example.com/film?id=7#top'],
    ['//a.example/', 'https://a.example/'],
    ['电影.example', 'http://电影.example'],
    ['a.example:8080/x', 'http://a.example:8080/x'],
  ])('%s is decoded to %s', (written, site) => {
    expect(decode.siteOrNull.decode(written)).toBe(site);
  });

  test.each([
    '',
    'none',
    '暂无',
    'javascript:alert(1)',
    'mailto:a@b.example',
    'ftp://a.example',
    'a b.example',
    'a@b.example',
    '.example',
    'v1..2',
    '1.5',
    null,
  ])('%s is decoded to null', (value) => {
    expect(decode.siteOrNull.decode(value)).toBeNull();
  });
});

describe('timestamps', () => {
  test('without a time zone get a T between date and time', () => {
    expect(decode.localDateTime.decode('2015-02-28 10:31:02')).toBe('2015-02-28T10:31:02');
    expect(decode.localDateTime.decode('2015-02-28 10:31')).toBe('2015-02-28T10:31:00');
  });

  test('are one moment in all their forms', () => {
    for (const form of ['2012-09-02 20:00:00,5 +0800', '2012-09-02T12:00:00.5Z', '20120902T200000.5+08'])
      expect(decode.timeOf(form)).toBe(1_346_587_200_500);
    expect(decode.timeOf('soon')).toBeNaN();
  });

  test('with a time zone keep it', () => {
    expect(decode.dateTime.decode('2011-12-18T19:30:00+08:00')).toBe('2011-12-18T19:30:00+08:00');
  });

  test.each([
    ['2011-12-18T19:30:00+0800', '2011-12-18T19:30:00+08:00'],
    ['2012-09-02 20:00:00 +0800', '2012-09-02T20:00:00+08:00'],
    ['2012-09-02 20:00 Z', '2012-09-02T20:00:00Z'],
    ['2012-09-02T20:00:00,5 +08:00', '2012-09-02T20:00:00.5+08:00'],
    ['2011-12-18T19:30+08:00', '2011-12-18T19:30:00+08:00'],
    ['2011-12-18 19:30+08', '2011-12-18T19:30:00+08:00'],
    ['2011-12-18T11:30Z', '2011-12-18T11:30:00Z'],
    ['2011-12-18T19:30:00.5-0430', '2011-12-18T19:30:00.5-04:30'],
    ['2011-12-18T19:30:00.1234567890+0800', '2011-12-18T19:30:00.1234567890+08:00'],
  ])('with a time zone are accepted in the forms of ISO 8601: %s', (written, moment) => {
    expect(decode.dateTime.decode(written)).toBe(moment);
    // Arguments must conform to RFC 3339.
    expect(() => (schema.getType('DateTime') as GraphQLScalarType).parseValue(written)).toThrow(
      'A DateTime must be RFC 3339 text',
    );
  });

  test.each<[string, string | null]>([
    ['2012-09-02T24:00:00+08:00', '2012-09-03T00:00:00+08:00'],
    ['2012-12-31T24:00+08:00', '2013-01-01T00:00:00+08:00'],
    ['2012-02-29T24:00Z', '2012-03-01T00:00:00Z'],
    ['20120902T200000+0800', '2012-09-02T20:00:00+08:00'],
    ['20120902T2000Z', '2012-09-02T20:00:00Z'],
    ['2012-09-02T20:00:00,5+08:00', '2012-09-02T20:00:00.5+08:00'],
    ['2012-09-02T20:00:00\u221203:30', '2012-09-02T20:00:00-03:30'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00Z'],
    ['2012-09-02T24:00:01+08:00', null],
    ['2012-09-02T25:00+08:00', null],
    ['2012-09-31T24:00+08:00', null],
    ['2012-13-02T20:00+08:00', null],
    ['2012-09-02T20:60+08:00', null],
    ['2012-09-02T20:00+24:00', null],
    ['2012-09-02T20:00:00+24:00', null],
    ['2012-09-02T20:00:00+19:00', null],
    ['2012-0902T20:00Z', null],
    ['2012-09-02T20:00:00-08:60', null],
    ['2012-W35-7T20:00+08:00', null],
    ['2012-246T20:00+08:00', null],
    ['2012-09-02T20+08:00', null],
    ['2012-09-02T20:30.5+08:00', null],
    ['2012-09-02T20:00', null],
    ['9999-12-31T24:00Z', null],
  ])('are rewritten from a day of the month with hours and minutes, if there is such a time: %s', (written, moment) => {
    expect(decode.dateTime.decode(written)).toBe(moment);
  });

  test.each(['2015-02-31 10:00:00', '2015-13-01 00:00:00', '2015-02-28', 'soon', 5])(
    'that do not exist in the calendar are null: %s',
    (value) => {
      expect(decode.localDateTime.decode(value)).toBeNull();
      expect(decode.dateTime.decode(value)).toBeNull();
    },
  );
});

describe('ratings', () => {
  test('of one user are text for books and a float for films; 0 means not rated', () => {
    expect(userRating({ max: 5, min: 0, value: '4' })).toEqual({ value: 4, max: 5, min: 0 });
    expect(userRating({ max: 5, min: 0, value: 4.0 })).toEqual({ value: 4, max: 5, min: 0 });
    expect([{ value: 0 }, { value: '0' }, {}, null, undefined, 'x', []].map(userRating)).toEqual(Array(7).fill(null));
  });

  test('of all users are null if nobody has rated', () => {
    expect(['0.0', 0, null].map(averageOf)).toEqual([null, null, null]);
    expect(['8.6', 9].map(averageOf)).toEqual([8.6, 9]);
  });
});

describe('an ISBN', () => {
  test.each([
    ['7544270874', '7544270874'],
    ['978-7-5442-7087-8', '9787544270878'],
    ['978 7544270878', '9787544270878'],
    ['080442957x', '080442957X'],
  ])('%s is normalized to %s', (written, isbn) => {
    expect(isbnOf(written)).toBe(isbn);
  });

  test.each(['', '7544270875', '9787544270879', '978754427087', 'X544270874', '75442708740000'])(
    '%s is invalid',
    (written) => {
      expect(isbnOf(written)).toBeNull();
    },
  );
});

test.each([
  [['2019-07-26(中国大陆)', '2019-08-01'], '2019-07-26(中国大陆)'],
  [{ '0': '', '1': 'b' }, 'b'],
  [[], null],
  [{}, null],
  [['', ' '], null],
])('where one text is due, the first text of a list counts: %j', (value, text) => {
  expect(decode.textOrNull.decode(value)).toBe(text);
});

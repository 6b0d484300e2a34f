import { expect, test } from 'vitest';
import { charsetSources, decodeStrictly } from '../../../src/lib/text/charset.ts';

/** The charsets that a body declares, without the default. */
const declaredCharsets = (body: Buffer, contentType: string | undefined) =>
  charsetSources.slice(0, -1).flatMap((charsetOf) => charsetOf(body, contentType) ?? []);

const none = Buffer.from('{}');
const utf16be = (text: string) => Buffer.from(text, 'utf16le').swap16();

test.each<[string, string | undefined, readonly string[]]>([
  ['no header', undefined, []],
  ['no charset', 'application/json', []],
  ['UTF-8', 'application/json; charset=UTF-8', ['utf-8']],
  ['UTF-8 as MySQL calls it', 'application/json;charset=utf8mb4', ['utf-8']],
  ['GBK in quotes', 'text/xml; charset="GBK"', ['gbk']],
  ['a parameter before it', 'application/atom+xml; type=feed; charset=Big5', ['big5']],
  ['a code page of Java', 'application/json;charset=MS936', ['gbk']],
  ['a code page of Windows', 'application/json;charset=cp950', ['big5']],
  ['an unknown name', 'application/json;charset=x-martian', ['x-martian']],
])('the charset of a header is read: %s', (_, header, charsets) => {
  expect(declaredCharsets(none, header)).toEqual(charsets);
});

test.each<[string, Buffer, readonly string[]]>([
  ['single quotes', Buffer.from(`<?xml version='1.0' encoding='GBK'?><a/>`), ['gbk']],
  ['a second place', Buffer.from('<?xml version="1.0" standalone="yes" encoding="Big5"?><a/>'), ['big5']],
  ['no encoding', Buffer.from('<?xml version="1.0"?><a encoding="GBK"/>'), []],
  ['an element alone', Buffer.from('<a encoding="GBK"/>'), []],
  ['a mark of UTF-8', Buffer.from('\ufeff{}'), ['utf-8']],
  ['a mark of UTF-16', Buffer.from('\ufeff{}', 'utf16le'), ['utf-16le']],
  ['a mark of the other UTF-16', utf16be('\ufeff{}'), ['utf-16be']],
  ['UTF-16 without a mark', utf16be('<?xml encoding="UTF-16"?>'), ['utf-16be']],
  ['control characters', Buffer.from('\u0000{}'), []],
])('the charset of a body is read: %s', (_, body, charsets) => {
  expect(declaredCharsets(body, undefined)).toEqual(charsets);
});

test('a byte order mark counts before the header, and the header before the XML declaration', () => {
  expect(declaredCharsets(Buffer.from('\ufeff{}', 'utf16le'), 'text/xml;charset=GBK')[0]).toBe('utf-16le');
  const declared = Buffer.from('<?xml version="1.0" encoding="GBK"?><a/>');
  expect(declaredCharsets(declared, 'text/xml; charset=big5')).toEqual(['big5', 'gbk']);
});

test.each<[string, readonly number[], string]>([
  ['gbk', [0xc2, 0xb3, 0xd1, 0xb8], '鲁迅'],
  ['gb18030', [0xd6, 0xd0, 0xb9, 0xfa], '中国'],
  ['big5', [0xa4, 0xa4, 0xb0, 0xea], '中國'],
  ['iso-8859-1', [0x41, 0x6d, 0xe9, 0x6c, 0x69, 0x65], 'Amélie'],
  ['windows-1252', [0x49, 0x74, 0x92, 0x73, 0x20, 0x80], 'It’s €'],
  ['shift_jis', [0x93, 0xfa, 0x96, 0x7b], '日本'],
  ['koi8-r', [0xed, 0xc9, 0xd2], 'Мир'],
  ['utf-8', [0xef, 0xbb, 0xbf, 0xc3, 0xa9], 'é'],
  ['utf-16le', [0xff, 0xfe, 0x2d, 0x4e], '中'],
  ['utf-16be', [0x4e, 0x2d], '中'],
])('%s is decoded', (charset, bytes, text) => {
  expect(decodeStrictly(Buffer.from(bytes), charset)).toBe(text);
});

test.each<[string, readonly number[]]>([
  ['gbk', [0x41, 0xff, 0xff]],
  ['utf-16le', [0x00, 0xd8, 0x41, 0x00]],
  ['utf-8', [0xc3]],
  ['x-martian', [0x41]],
])('bytes that are not %s are not mended', (charset, bytes) => {
  expect(decodeStrictly(Buffer.from(bytes), charset)).toBeUndefined();
});

test.each([1, 500])('characters of one byte to four are decoded, %i of each', (times) => {
  const text = '\ufeff\u0080\u07ff\u0800\uffff\u{10ffff}雨a'.repeat(times);
  expect(decodeStrictly(Buffer.from(text), 'utf-8')).toBe(text.slice(1));
});

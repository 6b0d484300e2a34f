/** Where a scan is in its document, and the values that it went over since it last took any. */
import { textOf } from '../utf8.ts';
import { type Codes, codesOf } from './codes.ts';
import { isBlank, isWritable, trim } from './xml.ts';

export interface Cursor {
  readonly codes: Codes;
  /** A character for each byte: right where they are ASCII, as all markup is that is read here. */
  readonly text: string;
  at: number;
  /** There are characters that were not looked at one by one: the whole document is, in the end. */
  isSuspect: boolean;
  /** What there was in what {@link endOfRun} went over. */
  hasReference: boolean;
  isWide: boolean;
  /** Where the values are, of texts and of attributes. */
  readonly values: Values;
}

/** Only the first `count` of each count. */
export interface Values {
  count: number;
  readonly starts: number[];
  readonly ends: number[];
  /** Whether there is more than ASCII in each. */
  readonly wide: boolean[];
  /** Those that are not what stands there, by their number: with their references read. */
  readonly read: Map<number, string>;
}

/** No two scans are under way at once: one set of arrays, grown once, is enough. */
const values: Values = { count: 0, starts: [], ends: [], wide: [], read: new Map() };

export function createCursor(document: Uint8Array): Cursor {
  forget(values);
  const codes = codesOf(document);
  const text = codes.bytes.toString('latin1', 0, codes.length);
  return { codes, text, at: 0, isSuspect: false, hasReference: false, isWide: false, values };
}

export function forget(some: Values): void {
  some.count = 0;
  if (some.read.size > 0) some.read.clear();
}

/** Thrown to leave the text to the parser; one for all, since making an error costs more than reading a feed. */
export const doubt = new Error('left to the parser');

export function giveUp(): never {
  throw doubt;
}

export const [DOUBLE_QUOTE, AMPERSAND, SINGLE_QUOTE, SLASH, LESS, GREATER] = [34, 38, 39, 47, 60, 62];
const [TAB, LINE_FEED, SPACE] = [9, 10, 32];
/** Of a character beyond ASCII, and what the last of those that take three bytes begin with. */
const [WIDE, LAST_OF_THREE] = [0x80, 0xef];

/** Goes over the value that begins there and that `mark` ends, a quote or the next tag; 0: there is nothing of it. Tells where it ends. */
export function passValue(cursor: Cursor, start: number, mark: number): number {
  if (mark === 0) return addValue(cursor.values, start, start, false);
  const end = endOfRun(cursor, start, mark);
  const read = cursor.hasReference ? readBetween(cursor, start, end) : undefined;
  return addValue(cursor.values, start, end, cursor.isWide, read);
}

export function addValue(some: Values, start: number, end: number, isWide: boolean, read?: string): number {
  const at = some.count++;
  some.starts[at] = start;
  some.ends[at] = end;
  some.wide[at] = isWide;
  if (read !== undefined) some.read.set(at, read);
  return end;
}

/** What stands there with its references read, without white space at its ends. */
export const readBetween = (cursor: Cursor, start: number, end: number): string =>
  trim(withReferences(textOf(cursor.codes.bytes, start, end)));

export function valueAt(cursor: Cursor, at: number): string {
  const {
    text,
    codes: { bytes },
    values,
  } = cursor;
  const read = values.read.size > 0 ? values.read.get(at) : undefined;
  if (read !== undefined) return read;
  let start = values.starts[at]!;
  let end = values.ends[at]!;
  while (start < end && isBlank(bytes[start]!)) start++;
  while (end > start && isBlank(bytes[end - 1]!)) end--;
  return values.wide[at] ? textOf(bytes, start, end) : text.slice(start, end);
}

/** Where a text or a value ends that `mark` ends. */
export function endOfRun(cursor: Cursor, from: number, mark: number): number {
  const { bytes } = cursor.codes;
  let hasReference = false;
  let all = 0;
  for (let at = from; ; at++) {
    let code = bytes[at]!;
    // Nearly all are these: in a loop of their own they take half the time.
    while (code > LESS ? code !== LAST_OF_THREE : code > SINGLE_QUOTE && code < LESS) {
      all |= code;
      code = bytes[++at]!;
    }
    if (code === mark) {
      cursor.hasReference = hasReference;
      cursor.isWide = all >= WIDE;
      return at;
    }
    if (code === AMPERSAND) hasReference = true;
    else if (code === LAST_OF_THREE) {
      all |= code;
      if (bytes[at + 1] === 0xbf && bytes[at + 2]! >= 0xbe) giveUp(); // no character
    } else if (code === LESS || (code < SPACE && code !== LINE_FEED && code !== TAB)) giveUp();
  }
}

/** A piece of text with its references read. */
export function withReferences(piece: string): string {
  let read = '';
  let at = 0;
  for (let found = piece.indexOf('&'); found !== -1; found = piece.indexOf('&', at)) {
    const end = piece.indexOf(';', found);
    if (end === -1) giveUp();
    read += piece.slice(at, found) + characterOf(piece.slice(found + 1, end));
    at = end + 1;
  }
  return read + piece.slice(at);
}

function characterOf(reference: string): string {
  const known = entities.get(reference);
  if (known !== undefined) return known;
  const [, decimal, hexadecimal] = /^#(?:(\d{1,7})|x([\da-fA-F]{1,6}))$/.exec(reference) ?? giveUp();
  const code = decimal === undefined ? Number.parseInt(hexadecimal!, 16) : Number(decimal);
  if (code > 0x10ffff) giveUp();
  const character = String.fromCodePoint(code);
  return isWritable(character) ? character : giveUp();
}

const entities = new Map([
  ['lt', '<'],
  ['gt', '>'],
  ['amp', '&'],
  ['quot', '"'],
  ['apos', "'"],
]);

/** Where a scan is in its text, and the values that it went over since it last took any. */
import { type Codes, codesOf } from './codes.ts';
import { isBlank, isWritable, trim } from './xml.ts';

export interface Cursor {
  readonly text: string;
  readonly codes: Codes;
  at: number;
  /** There are characters that were not looked at one by one: the whole text is, in the end. */
  isSuspect: boolean;
  /** Whether there was a reference in what {@link endOfRun} went over. */
  hasReference: boolean;
  /** Where the values are, of texts and of attributes. */
  readonly values: Values;
}

/** Only the first `count` of each count. */
export interface Values {
  count: number;
  readonly starts: number[];
  readonly ends: number[];
  /** Those that are not what stands there, by their number: with their references read. */
  readonly read: Map<number, string>;
}

/** No two scans are under way at once: one set of arrays, grown once, is enough. */
const values: Values = { count: 0, starts: [], ends: [], read: new Map() };

export function createCursor(text: string): Cursor {
  forget(values);
  return { text, codes: codesOf(text), at: 0, isSuspect: false, hasReference: false, values };
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
const [TAB, LINE_FEED, SPACE, SURROGATES] = [9, 10, 32, 0xd800];

/** Goes over the value that begins there and that `mark` ends, a quote or the next tag; 0: there is nothing of it. Tells where it ends. */
export function passValue(cursor: Cursor, start: number, mark: number): number {
  if (mark === 0) return addValue(cursor.values, start, start);
  const end = endOfRun(cursor, start, mark);
  return addValue(cursor.values, start, end, cursor.hasReference ? readBetween(cursor, start, end) : undefined);
}

export function addValue(some: Values, start: number, end: number, read?: string): number {
  const at = some.count++;
  some.starts[at] = start;
  some.ends[at] = end;
  if (read !== undefined) some.read.set(at, read);
  return end;
}

/** A piece of the text with its references read, without white space at its ends. */
export const readBetween = ({ text }: Cursor, start: number, end: number): string =>
  trim(withReferences(text.slice(start, end)));

export function valueAt({ text, codes: { units }, values }: Cursor, at: number): string {
  const read = values.read.size > 0 ? values.read.get(at) : undefined;
  if (read !== undefined) return read;
  let start = values.starts[at]!;
  let end = values.ends[at]!;
  while (start < end && isBlank(units[start]!)) start++;
  while (end > start && isBlank(units[end - 1]!)) end--;
  return text.slice(start, end);
}

/** Where a text or a value ends that `mark` ends. */
export function endOfRun(cursor: Cursor, from: number, mark: number): number {
  const { units } = cursor.codes;
  let hasReference = false;
  for (let at = from; ; at++) {
    let code = units[at]!;
    // Nearly all are these: in a loop of their own they take half the time.
    while ((code > LESS && code < SURROGATES) || (code > SINGLE_QUOTE && code < LESS)) code = units[++at]!;
    if (code === mark) {
      cursor.hasReference = hasReference;
      return at;
    }
    if (code === AMPERSAND) hasReference = true;
    else if (code >= SURROGATES) at += restOf(code, units[at + 1]!);
    else if (code === LESS || (code < SPACE && code !== LINE_FEED && code !== TAB)) giveUp();
  }
}

/** How many codes a character has after its first, which is not below the surrogates. */
function restOf(code: number, next: number): number {
  if (code < 0xdc00 && next >= 0xdc00 && next < 0xe000) return 1;
  return code < 0xe000 || code > 0xfffd ? giveUp() : 0; // half a character, or none
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

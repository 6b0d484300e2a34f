/** A tag of a document, read with care: its name, its attributes, and where their values are. */
import { type Cursor, DOUBLE_QUOTE, GREATER, SINGLE_QUOTE, SLASH, endOfRun, giveUp, readBetween } from './cursor.ts';
import { isBlank } from './xml.ts';

const [COLON, EQUALS] = [58, 61];

export interface Tag {
  name: string;
  prefix: string;
  local: string;
  attributes: Attribute[];
  /** Whether it is also its own end. */
  isEmpty: boolean;
}
export interface Attribute {
  name: string;
  start: number;
  mark: number;
  value: string;
}

/** Comparing the names of more takes long. */
const ATTRIBUTES_MAX = 32;

/** Reads the tag that begins there. */
export function readTag(cursor: Cursor): Tag {
  const {
    text,
    codes: { bytes },
  } = cursor;
  const from = cursor.at + 1;
  let at = endOfName(bytes, from);
  const name = nameAt(text, from, at);
  const colon = name.indexOf(':');
  const attributes: Attribute[] = [];
  for (;;) {
    const isApart = isBlank(bytes[at]!);
    while (isBlank(bytes[at]!)) at++;
    const code = bytes[at];
    if (code === GREATER || code === SLASH) {
      const isEmpty = code === SLASH;
      if (isEmpty && bytes[++at] !== GREATER) giveUp();
      cursor.at = at + 1;
      return { name, prefix: name.slice(0, Math.max(0, colon)), local: name.slice(colon + 1), attributes, isEmpty };
    }
    if (!isApart || attributes.length === ATTRIBUTES_MAX) giveUp();
    const attribute = readAttribute(cursor, at);
    if (attributes.some((other) => other.name === attribute.name)) giveUp();
    attributes.push(attribute);
    at = cursor.at;
  }
}

function readAttribute(cursor: Cursor, from: number): Attribute {
  const {
    text,
    codes: { bytes },
  } = cursor;
  const to = endOfName(bytes, from);
  const mark = bytes[to + 1]!;
  if (bytes[to] !== EQUALS || (mark !== DOUBLE_QUOTE && mark !== SINGLE_QUOTE)) giveUp();
  const start = to + 2;
  const end = endOfRun(cursor, start, mark);
  cursor.at = end + 1;
  return { name: nameAt(text, from, to), start, mark, value: readBetween(cursor, start, end) };
}

/** The parser refuses names that would reach an object's prototype. */
const reserved = ['__proto__', 'constructor', 'prototype'];

function nameAt(text: string, from: number, to: number): string {
  const name = text.slice(from, to);
  return reserved.includes(name) ? giveUp() : name;
}

const [FIRST, LATER] = [1, 2];
/** Which ASCII characters a name begins with, and which it goes on with. Names in other letters are left to the parser. */
const nameCharacters = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  return /[A-Za-z_]/.test(character) ? FIRST | LATER : /[-.\d]/.test(character) ? LATER : 0;
});
const isFirst = (code: number) => code < 128 && (nameCharacters[code]! & FIRST) !== 0;
const isLater = (code: number) => code < 128 && nameCharacters[code] !== 0;

/** The end of a name, which has one prefix at most. */
function endOfName(bytes: Uint8Array, from: number): number {
  if (!isFirst(bytes[from]!)) giveUp();
  let at = from + 1;
  while (isLater(bytes[at]!)) at++;
  if (bytes[at] !== COLON) return at;
  at++;
  if (!isFirst(bytes[at]!)) giveUp();
  while (isLater(bytes[at]!)) at++;
  return bytes[at] === COLON ? giveUp() : at;
}

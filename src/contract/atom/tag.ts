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
    codes: { units },
  } = cursor;
  const from = cursor.at + 1;
  let at = endOfName(units, from);
  const name = nameAt(text, from, at);
  const colon = name.indexOf(':');
  const attributes: Attribute[] = [];
  for (;;) {
    const isApart = isBlank(units[at]!);
    while (isBlank(units[at]!)) at++;
    const code = units[at];
    if (code === GREATER || code === SLASH) {
      const isEmpty = code === SLASH;
      if (isEmpty && units[++at] !== GREATER) giveUp();
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
    codes: { units },
  } = cursor;
  const to = endOfName(units, from);
  const mark = units[to + 1]!;
  if (units[to] !== EQUALS || (mark !== DOUBLE_QUOTE && mark !== SINGLE_QUOTE)) giveUp();
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
function endOfName(units: Uint16Array, from: number): number {
  if (!isFirst(units[from]!)) giveUp();
  let at = from + 1;
  while (isLater(units[at]!)) at++;
  if (units[at] !== COLON) return at;
  at++;
  if (!isFirst(units[at]!)) giveUp();
  while (isLater(units[at]!)) at++;
  return units[at] === COLON ? giveUp() : at;
}

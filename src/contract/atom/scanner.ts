/**
 * Reads the Atom that the service is known to send, in one pass and without a tree. It reads all of the text, what nobody wants included, for it
 * may never take what the parser would refuse; whatever it is not sure of (nesting it does not know, a namespace that is not the interface's,
 * the same element twice, an entity beyond XML's five, a carriage return...) it leaves to the parser.
 */
import { type Parts, type TextName, addAttribute, addLink, addTerm, createParts, locationOf, texts } from './parts.ts';
import { type Namespace, isBlank, isWritable, namespaces, trimmed } from './xml.ts';

/** What is in the root element, where the parser would find the same; undefined where that is not certain. */
export function scan(text: string, root: string): Parts | undefined {
  if (suspect.test(text) && (text.includes('\r') || !isWritable(text))) return undefined;
  const cursor: Cursor = { text, at: 0, ampersand: -1, names: [], values: [], count: 0, spaces: undefined };
  try {
    return document(cursor, root);
  } catch (error) {
    if (error === doubt) return undefined;
    throw error;
  }
}

// What XML cannot carry, line ends that it changes, and halves of characters, which may or may not be whole.
const suspect = /[\0-\u0008\u000b-\u001f\ud800-\udfff\ufffe\uffff]/;

/** Thrown to leave the text to the parser; one for all, since making an error costs more than reading a feed. */
const doubt = new Error('left to the parser');

function giveUp(): never {
  throw doubt;
}

interface Cursor {
  readonly text: string;
  at: number;
  /** Where the next ampersand is, or was when it was last looked for. */
  ampersand: number;
  /** The attributes of the tag read last; only `count` of them. */
  readonly names: string[];
  readonly values: string[];
  count: number;
  /** The prefixes of each namespace, `''` for none, as the root declares them; undefined until it is read. */
  spaces: Record<Namespace, string[]> | undefined;
}

const [BANG, DOUBLE_QUOTE, SLASH, COLON, LESS, EQUALS, GREATER, QUESTION] = [33, 34, 47, 58, 60, 61, 62, 63];
const SINGLE_QUOTE = 39;

function document(cursor: Cursor, root: string): Parts {
  const { text } = cursor;
  if (text.startsWith('\ufeff')) cursor.at = 1;
  if (text.startsWith('<?xml', cursor.at)) skipDeclaration(cursor);
  skipToTag(cursor);
  const from = cursor.at + 1;
  const to = endOfName(text, from);
  const isEmpty = readAttributes(cursor, to);
  if (text.slice(localOf(text, from, to), to) !== root) giveUp();
  cursor.spaces = declaredIn(cursor);
  const parts = createParts();
  if (!isEmpty) readInside(cursor, from, to, root, parts);
  for (let { at } = cursor; at < text.length; at++) if (!isBlank(text.charCodeAt(at))) giveUp();
  return parts;
}

/** The text is decoded by now; a document that says it is written in anything else is none we know. */
function skipDeclaration(cursor: Cursor): void {
  const end = endOf(cursor, '?>', cursor.at);
  const declared = cursor.text.slice(cursor.at, end);
  if (
    !/^<\?xml version=(["'])1\.\d\1(?: encoding=(["'])utf-8\2)?(?: standalone=(["'])(?:yes|no)\3)? ?\?>$/i.test(
      declared,
    )
  )
    giveUp();
  cursor.at = end;
}

function declaredIn({ names, values, count }: Cursor): Record<Namespace, string[]> {
  const spaces: Record<Namespace, string[]> = { atom: [], db: [], gd: [], opensearch: [], georss: [] };
  for (let i = 0; i < count; i++) {
    const name = names[i]!;
    if (!name.startsWith('xmlns')) continue;
    for (const space of spaceNames) if (values[i] === namespaces[space]) spaces[space].push(name.slice(6));
  }
  return spaces;
}

const spaceNames = Object.keys(namespaces) as Namespace[];

/** Reads what is in a feed, an entry or an author, from behind its tag to behind the one that ends it. */
function readInside(cursor: Cursor, nameFrom: number, nameTo: number, holder: string, parts: Parts): void {
  const { text } = cursor;
  let seen = 0;
  for (;;) {
    skipToTag(cursor);
    const from = cursor.at + 1;
    if (text.charCodeAt(from) === SLASH) return readEnd(cursor, nameFrom, nameTo);
    const to = endOfName(text, from);
    const local = localOf(text, from, to);
    const known = knownElements(text, local, to);
    const isEmpty = readAttributes(cursor, to);
    if (known === undefined) {
      refuseReserved(text, from, to);
      if (!isEmpty) readText(cursor, from, to);
      continue;
    }
    if (!isBound(cursor, known.space, from, local)) giveUp();
    if (known.bit !== 0) {
      if ((seen & known.bit) !== 0) giveUp(); // which of the two counts is the parser's to say
      seen |= known.bit;
    }
    switch (known.kind) {
      case 'text':
        parts[known.name] = isEmpty ? '' : readText(cursor, from, to);
        break;
      case 'entry': {
        if (holder !== 'feed') giveUp();
        const entry = createParts();
        if (!isEmpty) readInside(cursor, from, to, 'entry', entry);
        parts.entries.push(entry);
        break;
      }
      case 'author': {
        if (holder === 'author') giveUp();
        const author = (parts.author = createParts());
        if (!isEmpty) readInside(cursor, from, to, 'author', author);
        break;
      }
      case 'attribute': {
        const name = attribute(cursor, 'name');
        addAttribute(parts, name, isEmpty ? '' : readText(cursor, from, to));
        break;
      }
      case 'location': {
        const id = attribute(cursor, 'id');
        parts.location = locationOf(id, isEmpty ? '' : readText(cursor, from, to));
        break;
      }
      case 'link':
        addLink(parts, attribute(cursor, 'rel'), attribute(cursor, 'href'));
        if (!isEmpty) readText(cursor, from, to);
        break;
      case 'category':
        addTerm(parts, attribute(cursor, 'term'));
        if (!isEmpty) readText(cursor, from, to);
        break;
      case 'when':
        parts.startTime = attribute(cursor, 'startTime');
        parts.endTime = attribute(cursor, 'endTime');
        if (!isEmpty) readText(cursor, from, to);
        break;
      case 'where':
        parts.where = attribute(cursor, 'valueString');
        if (!isEmpty) readText(cursor, from, to);
        break;
    }
  }
}

type Known = { space: Namespace; /** 0 where there may be many. */ bit: number } & (
  | { kind: 'text'; name: TextName }
  | { kind: 'entry' | 'author' | 'attribute' | 'location' | 'link' | 'category' | 'when' | 'where' }
);

const textNames = Object.keys(texts) as TextName[];
const knownElements = createNames<Known>([
  ...textNames.map((name, at): [string, Known] => [name, { kind: 'text', name, space: texts[name], bit: 1 << at }]),
  ['author', { kind: 'author', space: 'atom', bit: 1 << 20 }],
  ['location', { kind: 'location', space: 'db', bit: 1 << 21 }],
  ['when', { kind: 'when', space: 'gd', bit: 1 << 22 }],
  ['where', { kind: 'where', space: 'gd', bit: 1 << 23 }],
  ['entry', { kind: 'entry', space: 'atom', bit: 0 }],
  ['attribute', { kind: 'attribute', space: 'db', bit: 0 }],
  ['link', { kind: 'link', space: 'atom', bit: 0 }],
  ['category', { kind: 'category', space: 'atom', bit: 0 }],
]);

/** Attributes that are read, and others that come often; the names are the ones to compare with, no text is cut for them. */
const knownAttributes = createNames(
  ['rel', 'href', 'name', 'term', 'scheme', 'id', 'startTime', 'endTime', 'valueString', 'type', 'xmlns'].map(
    (name) => [name, name],
  ),
);

/** Looks a piece of the text up without cutting it out. */
function createNames<Value>(entries: [string, Value][]) {
  interface Entry {
    name: string;
    value: Value;
    next: Entry | undefined;
  }
  const table: (Entry | undefined)[] = Array.from({ length: 512 }, () => undefined);
  const slot = (first: number, length: number) => (first * 16 + length) & 511;
  for (const [name, value] of entries) {
    const at = slot(name.charCodeAt(0), name.length);
    table[at] = { name, value, next: table[at] };
  }
  return (text: string, from: number, to: number): Value | undefined => {
    let entry = table[slot(text.charCodeAt(from), to - from)];
    while (entry !== undefined && !isAt(text, from, to, entry.name)) entry = entry.next;
    return entry?.value;
  };
}

function isAt(text: string, from: number, to: number, name: string): boolean {
  if (to - from !== name.length) return false;
  for (let i = 0; i < name.length; i++) if (text.charCodeAt(from + i) !== name.charCodeAt(i)) return false;
  return true;
}

function isBound({ text, spaces }: Cursor, space: Namespace, from: number, local: number): boolean {
  for (const prefix of spaces![space]) if (isAt(text, from, Math.max(from, local - 1), prefix)) return true;
  return false;
}

/** Names that no object may have, as the parser sees it. */
function refuseReserved(text: string, from: number, to: number): void {
  for (const name of reserved) if (isAt(text, from, to, name)) giveUp();
}
const reserved = ['__proto__', 'constructor', 'prototype'];

/** Reads the attributes of a tag, from behind its name to behind the tag; whether it is also its own end. */
function readAttributes(cursor: Cursor, from: number): boolean {
  const { text, names, values } = cursor;
  let at = from;
  cursor.count = 0;
  for (;;) {
    let code = text.charCodeAt(at);
    if (isBlank(code)) {
      do code = text.charCodeAt(++at);
      while (isBlank(code));
    } else if (code !== GREATER && code !== SLASH) giveUp();
    if (code === GREATER) {
      cursor.at = at + 1;
      return false;
    }
    if (code === SLASH) {
      if (text.charCodeAt(at + 1) !== GREATER) giveUp();
      cursor.at = at + 2;
      return true;
    }
    const to = endOfName(text, at);
    const quote = text.charCodeAt(to + 1);
    if (text.charCodeAt(to) !== EQUALS || (quote !== DOUBLE_QUOTE && quote !== SINGLE_QUOTE)) giveUp();
    const end = text.indexOf(quote === DOUBLE_QUOTE ? '"' : "'", to + 2);
    if (end === -1) giveUp();
    const name = knownAttributes(text, at, to) ?? otherAttribute(cursor, at, to);
    for (let i = 0; i < cursor.count; i++) if (names[i] === name) giveUp();
    names[cursor.count] = name;
    values[cursor.count++] = textBetween(cursor, to + 2, end);
    at = end + 1;
  }
}

function otherAttribute({ text, spaces, count }: Cursor, from: number, to: number): string {
  const name = text.slice(from, to);
  // Namespaces that change on the way, and so many attributes that comparing their names takes long, are not the interface's.
  if (count > 32 || (spaces !== undefined && name.startsWith('xmlns'))) giveUp();
  refuseReserved(text, from, to);
  return name;
}

function attribute({ names, values, count }: Cursor, name: string): string | undefined {
  for (let i = 0; i < count; i++) if (names[i] === name) return values[i];
  return undefined;
}

/** Reads the text of an element that holds nothing else, and the tag that ends it. */
function readText(cursor: Cursor, nameFrom: number, nameTo: number): string {
  const { text, at } = cursor;
  const end = text.indexOf('<', at);
  if (text.charCodeAt(end + 1) !== SLASH) return readPieces(cursor, nameFrom, nameTo);
  cursor.at = end;
  readEnd(cursor, nameFrom, nameTo);
  return textBetween(cursor, at, end);
}

/** The same where comments, instructions or CDATA stand between. */
function readPieces(cursor: Cursor, nameFrom: number, nameTo: number): string {
  const { text } = cursor;
  let whole = '';
  for (;;) {
    const end = text.indexOf('<', cursor.at);
    if (end === -1) giveUp();
    whole += withReferences(cursor, cursor.at, end);
    cursor.at = end;
    if (text.charCodeAt(end + 1) === SLASH) break;
    if (text.startsWith('<![CDATA[', end)) {
      cursor.at = endOf(cursor, ']]>', end + 9);
      whole += text.slice(end + 9, cursor.at - 3);
    } else skipRemark(cursor);
  }
  readEnd(cursor, nameFrom, nameTo);
  return trimmed(whole, 0, whole.length);
}

function readEnd(cursor: Cursor, nameFrom: number, nameTo: number): void {
  const { text } = cursor;
  let at = cursor.at + 2;
  for (let i = nameFrom; i < nameTo; i++) if (text.charCodeAt(i) !== text.charCodeAt(at++)) giveUp();
  if (text.charCodeAt(at) !== GREATER) giveUp();
  cursor.at = at + 1;
}

/** Goes to the next tag, over white space, comments and instructions. */
function skipToTag(cursor: Cursor): void {
  const { text } = cursor;
  for (;;) {
    while (isBlank(text.charCodeAt(cursor.at))) cursor.at++;
    if (text.charCodeAt(cursor.at) !== LESS) giveUp();
    const next = text.charCodeAt(cursor.at + 1);
    if (next !== BANG && next !== QUESTION) return;
    skipRemark(cursor);
  }
}

/** Goes behind a comment or an instruction. */
function skipRemark(cursor: Cursor): void {
  const { text, at } = cursor;
  if (text.startsWith('<!--', at)) cursor.at = endOf(cursor, '-->', at + 4);
  else if (text.startsWith('<?', at)) cursor.at = endOf(cursor, '?>', at + 2);
  else giveUp();
}

function endOf({ text }: Cursor, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  return found === -1 ? giveUp() : found + mark.length;
}

const [FIRST, LATER] = [1, 2];
/** Which ASCII characters a name begins with, and which it goes on with. Names in other letters are left to the parser. */
const nameCharacters = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  return /[A-Za-z_]/.test(character) ? FIRST | LATER : /[-.\d]/.test(character) ? LATER : 0;
});

/** The end of a name, which has one prefix at most. */
function endOfName(text: string, from: number): number {
  if ((nameCharacters[text.charCodeAt(from)]! & FIRST) === 0) giveUp();
  let at = from + 1;
  while (nameCharacters[text.charCodeAt(at)]! > 0) at++;
  if (text.charCodeAt(at) !== COLON) return at;
  at++;
  if ((nameCharacters[text.charCodeAt(at)]! & FIRST) === 0) giveUp();
  while (nameCharacters[text.charCodeAt(at)]! > 0) at++;
  if (text.charCodeAt(at) === COLON) giveUp();
  return at;
}

/** Where a name begins behind its prefix. */
function localOf(text: string, from: number, to: number): number {
  for (let at = from; at < to; at++) if (text.charCodeAt(at) === COLON) return at + 1;
  return from;
}

/** A piece of the text, its references read, without white space at its ends. */
function textBetween(cursor: Cursor, from: number, to: number): string {
  if (ampersandFrom(cursor, from) >= to) return trimmed(cursor.text, from, to);
  const read = withReferences(cursor, from, to);
  return trimmed(read, 0, read.length);
}

function withReferences(cursor: Cursor, from: number, to: number): string {
  const { text } = cursor;
  let read = '';
  let at = from;
  for (let found = ampersandFrom(cursor, at); found < to; found = ampersandFrom(cursor, at)) {
    const end = text.indexOf(';', found);
    if (end === -1 || end >= to) giveUp();
    read += text.slice(at, found) + characterOf(text.slice(found + 1, end));
    at = end + 1;
  }
  return read + text.slice(at, to);
}

function ampersandFrom(cursor: Cursor, from: number): number {
  if (cursor.ampersand < from) {
    const found = cursor.text.indexOf('&', from);
    cursor.ampersand = found === -1 ? cursor.text.length : found;
  }
  return cursor.ampersand;
}

function characterOf(reference: string): string {
  const named = entities.get(reference);
  if (named !== undefined) return named;
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

/**
 * Reads the Atom that the service is known to send, in one pass and without a tree. It looks at all of the text, what nobody wants included, for it
 * may never take what the parser would refuse; whatever it is not sure of (nesting it does not know, a namespace that is not the interface's,
 * the same element twice, an entity beyond XML's five, a carriage return...) it leaves to the parser.
 */
import { type Lookup, codesOf, createLookup, isAt } from './codes.ts';
import {
  type Parts,
  type TextName,
  addAttribute,
  addLink,
  addTerm,
  attributeNames,
  createParts,
  locationOf,
  rels,
  texts,
} from './parts.ts';
import { type Namespace, isBlank, isWritable, namespaces, trim } from './xml.ts';

/** What is in the root element, where the parser would find the same; undefined where that is not certain. */
export function scan(text: string, root: string): Parts | undefined {
  const cursor: Cursor = {
    text,
    codes: codesOf(text),
    at: 0,
    isSuspect: false,
    hasReference: false,
    names: [],
    starts: [],
    ends: [],
    values: [],
    count: 0,
    spaces: undefined,
  };
  try {
    const parts = readDocument(cursor, root);
    return cursor.isSuspect && !isPlain(text) ? undefined : parts;
  } catch (error) {
    if (error === doubt) return undefined;
    throw error;
  }
}

/** Whether every character is one that XML can carry, and none a line end that it would change. */
const isPlain = (text: string): boolean => !text.includes('\r') && isWritable(text);

/** Thrown to leave the text to the parser; one for all, since making an error costs more than reading a feed. */
const doubt = new Error('left to the parser');

function giveUp(): never {
  throw doubt;
}

interface Cursor {
  readonly text: string;
  /** The same as numbers, ended by a 0. */
  readonly codes: Uint16Array;
  at: number;
  /** There are characters that were not looked at one by one: the whole text is, in the end. */
  isSuspect: boolean;
  /** Whether there was an ampersand in what {@link endOfRun} went over. */
  hasReference: boolean;
  /** The attributes of the tag read last, and where the value of each is; only `count` of them. */
  readonly names: string[];
  readonly starts: number[];
  readonly ends: number[];
  /** Values with references in them; the others are cut out when they are asked for. */
  readonly values: (string | undefined)[];
  count: number;
  /** Undefined until the root is read. */
  spaces: Spaces | undefined;
}

const [TAB, LINE_FEED, SPACE, BANG, DOUBLE_QUOTE, AMPERSAND, SINGLE_QUOTE, SLASH] = [9, 10, 32, 33, 34, 38, 39, 47];
const [COLON, LESS, EQUALS, GREATER, QUESTION, SURROGATES] = [58, 60, 61, 62, 63, 0xd800];

function readDocument(cursor: Cursor, root: string): Parts {
  const { text, codes } = cursor;
  const head = headOf(cursor, root);
  const parts = createParts();
  readInside(cursor, head.nameFrom, head.nameTo, root, parts);
  let { at } = cursor;
  while (isBlank(codes[at]!)) at++;
  return at === text.length ? parts : giveUp();
}

/** A document up to the end of its root's tag. */
interface Head {
  text: string;
  /** Where the name of the root is. */
  nameFrom: number;
  nameTo: number;
  spaces: Spaces;
}

/** The last head of each root: a service begins all its documents alike. */
const heads = new Map<string, Head>();
const HEAD_MAX = 2_000;

function headOf(cursor: Cursor, root: string): Head {
  let head = heads.get(root);
  if (!head || !cursor.text.startsWith(head.text)) {
    head = readHead(cursor, root);
    if (head.text.length <= HEAD_MAX) heads.set(root, head);
  }
  cursor.at = head.text.length;
  cursor.spaces = head.spaces;
  return head;
}

function readHead(cursor: Cursor, root: string): Head {
  const { text, codes } = cursor;
  if (text.startsWith('\ufeff')) cursor.at = 1;
  if (text.startsWith('<?xml', cursor.at)) skipDeclaration(cursor);
  skipToTag(cursor);
  const nameFrom = cursor.at + 1;
  const nameTo = endOfName(codes, nameFrom);
  if (!isAt(codes, localOf(codes, nameFrom, nameTo), nameTo, root)) giveUp();
  if (readAttributes(cursor, nameTo)) giveUp(); // a root that holds nothing is no answer we know
  const spaces = declaredIn(cursor);
  // Now, not in the end: other texts will be known by this head, and nobody looks at it again.
  if (cursor.isSuspect && !isPlain(text.slice(0, cursor.at))) giveUp();
  // A copy: a slice would keep the whole text.
  return { text: Buffer.from(text.slice(0, cursor.at), 'utf16le').toString('utf16le'), nameFrom, nameTo, spaces };
}

const declaration =
  /^<\?xml version=(["'])1\.\d\1(?: encoding=(["'])utf-8\2)?(?: standalone=(["'])(?:yes|no)\3)? ?\?>$/i;

/** The text is decoded by now; a document that says it is written in anything but UTF-8 is none we know. */
function skipDeclaration(cursor: Cursor): void {
  const { text, at } = cursor;
  cursor.at = endOf(text, '?>', at);
  if (!declaration.test(text.slice(at, cursor.at))) giveUp();
}

/** The prefixes of each namespace, `''` for none, as the root declares them. */
type Spaces = readonly (readonly string[])[];
const uris = Object.values(namespaces);
const spaceOf = (name: Namespace): number => uris.indexOf(namespaces[name]);

function declaredIn(cursor: Cursor): Spaces {
  const spaces: string[][] = uris.map(() => []);
  for (let i = 0; i < cursor.count; i++) {
    const name = cursor.names[i]!;
    if (name !== 'xmlns' && !name.startsWith('xmlns:')) continue;
    const value = valueAt(cursor, i);
    spaces[uris.findIndex((uri) => uri === value)]?.push(name.slice(6));
  }
  return spaces;
}

/** Reads what is in a feed, an entry or an author, from behind its tag to behind the one that ends it. */
function readInside(cursor: Cursor, nameFrom: number, nameTo: number, holder: string, parts: Parts): void {
  const { codes } = cursor;
  let seen = 0;
  for (;;) {
    skipToTag(cursor);
    const from = cursor.at + 1;
    if (codes[from] === SLASH) return readEnd(cursor, nameFrom, nameTo);
    const to = endOfName(codes, from);
    const local = localOf(codes, from, to);
    const known = knownElements(codes, local, to);
    const isEmpty = readAttributes(cursor, to);
    if (known === undefined) {
      refuseReserved(codes, from, to);
    } else {
      if (!isBound(cursor, known.space, from, local)) giveUp();
      if ((seen & known.bit) !== 0) giveUp(); // which of the two counts is the parser's to say
      seen |= known.bit;
    }
    if (known !== undefined && isHolder(known)) {
      if (known.kind === 'entry' ? holder !== 'feed' : holder === 'author') giveUp();
      const inner = createParts();
      if (known.kind === 'entry') parts.entries.push(inner);
      else parts.author = inner;
      if (!isEmpty) readInside(cursor, from, to, known.kind, inner);
      continue;
    }
    const text = isEmpty ? '' : readText(cursor, from, to);
    if (known !== undefined) keep(cursor, known, text, parts);
  }
}

/** Takes over what an element says, by its text and by its attributes, which were the last to be read. */
function keep(cursor: Cursor, known: KnownLeaf, text: string, parts: Parts): void {
  switch (known.kind) {
    case 'text':
      parts[known.name] = text;
      break;
    case 'link':
      addLink(parts, oneOf(cursor, 'rel', knownRels), attribute(cursor, 'href'));
      break;
    case 'attribute':
      addAttribute(parts, oneOf(cursor, 'name', knownNames), text);
      break;
    case 'location':
      parts.location = locationOf(attribute(cursor, 'id'), text);
      break;
    case 'category':
      addTerm(parts, attribute(cursor, 'term'));
      break;
    case 'when':
      parts.startTime = attribute(cursor, 'startTime');
      parts.endTime = attribute(cursor, 'endTime');
      break;
    case 'where':
      parts.where = attribute(cursor, 'valueString');
  }
}

interface KnownElement {
  /** Which of the namespaces. */
  space: number;
  /** Of its own where it may be there once; 0 where it may be there often. */
  bit: number;
}
type KnownLeaf = KnownElement &
  ({ kind: 'text'; name: TextName } | { kind: 'link' | 'attribute' | 'location' | 'category' | 'when' | 'where' });
type KnownHolder = KnownElement & { kind: 'entry' | 'author' };
type Known = KnownLeaf | KnownHolder;

const isHolder = (known: Known): known is KnownHolder => known.kind === 'entry' || known.kind === 'author';

const textNames = Object.keys(texts) as TextName[];
const knownElements = createLookup<Known>([
  ...textNames.map((name, at): [string, Known] => [
    name,
    { kind: 'text', name, space: spaceOf(texts[name]), bit: 1 << at },
  ]),
  ['author', { kind: 'author', space: spaceOf('atom'), bit: 1 << 20 }],
  ['location', { kind: 'location', space: spaceOf('db'), bit: 1 << 21 }],
  ['when', { kind: 'when', space: spaceOf('gd'), bit: 1 << 22 }],
  ['where', { kind: 'where', space: spaceOf('gd'), bit: 1 << 23 }],
  ['entry', { kind: 'entry', space: spaceOf('atom'), bit: 0 }],
  ['attribute', { kind: 'attribute', space: spaceOf('db'), bit: 0 }],
  ['link', { kind: 'link', space: spaceOf('atom'), bit: 0 }],
  ['category', { kind: 'category', space: spaceOf('atom'), bit: 0 }],
]);

const named = (...names: string[]) => createLookup(names.map((name) => [name, name] as const));
/** Attributes that are read, and others that come often: no text is cut for their names. */
const knownAttributes = named(
  ...['rel', 'href', 'name', 'id', 'term', 'startTime', 'endTime', 'valueString', 'scheme', 'type'],
);
const knownRels = named(...rels);
const knownNames = named(...attributeNames);

function isBound({ codes, spaces }: Cursor, space: number, from: number, local: number): boolean {
  const to = local === from ? from : local - 1;
  for (const prefix of spaces![space]!) if (isAt(codes, from, to, prefix)) return true;
  return false;
}

const reserved = ['__proto__', 'constructor', 'prototype'];

/** The parser refuses names that would reach an object's prototype. */
function refuseReserved(codes: Uint16Array, from: number, to: number): void {
  for (const name of reserved) if (isAt(codes, from, to, name)) giveUp();
}

/** Reads the attributes of a tag, from behind its name to behind the tag; whether it is also its own end. */
function readAttributes(cursor: Cursor, from: number): boolean {
  const { codes, names, starts, ends, values } = cursor;
  let count = 0;
  let at = from;
  for (;;) {
    const isApart = isBlank(codes[at]!);
    while (isBlank(codes[at]!)) at++;
    const code = codes[at];
    if (code === GREATER || code === SLASH) {
      const isEmpty = code === SLASH;
      if (isEmpty && codes[++at] !== GREATER) giveUp();
      cursor.count = count;
      cursor.at = at + 1;
      return isEmpty;
    }
    if (!isApart) giveUp();
    const to = endOfName(codes, at);
    const quote = codes[to + 1];
    if (codes[to] !== EQUALS || (quote !== DOUBLE_QUOTE && quote !== SINGLE_QUOTE)) giveUp();
    const name = knownAttributes(codes, at, to) ?? otherAttribute(cursor, count, at, to);
    for (let i = 0; i < count; i++) if (names[i] === name) giveUp();
    names[count] = name;
    starts[count] = to + 2;
    at = endOfRun(cursor, to + 2, quote);
    values[count] = cursor.hasReference ? textBetween(cursor, to + 2, at) : undefined;
    ends[count++] = at++;
  }
}

function otherAttribute({ text, codes, spaces }: Cursor, count: number, from: number, to: number): string {
  const name = text.slice(from, to);
  // Namespaces that change on the way, and so many attributes that comparing their names takes long, are not the interface's.
  if (count > 32 || (spaces !== undefined && name.startsWith('xmlns'))) giveUp();
  refuseReserved(codes, from, to);
  return name;
}

/** Where a text or a value ends that `mark` ends. */
function endOfRun(cursor: Cursor, from: number, mark: number): number {
  const { codes } = cursor;
  let hasReference = false;
  for (let at = from; ; at++) {
    const code = codes[at]!;
    if (code > GREATER) {
      if (code >= SURROGATES) at += restOf(code, codes[at + 1]!);
    } else if (code === mark) {
      cursor.hasReference = hasReference;
      return at;
    } else if (code === AMPERSAND) hasReference = true;
    else if (code === LESS || (code < SPACE && code !== LINE_FEED && code !== TAB)) giveUp();
  }
}

/** How many codes a character has after its first, which is not below the surrogates. */
function restOf(code: number, next: number): number {
  if (code < 0xdc00 && next >= 0xdc00 && next < 0xe000) return 1;
  return code < 0xe000 || code > 0xfffd ? giveUp() : 0; // half a character, or none
}

/** The value of an attribute of the tag read last. */
function attribute(cursor: Cursor, name: string): string | undefined {
  const at = indexOf(cursor, name);
  return at === -1 ? undefined : valueAt(cursor, at);
}

/** The same of an attribute that often has one of a few values, for which no text is cut. */
function oneOf(cursor: Cursor, name: string, known: Lookup<string>): string | undefined {
  const at = indexOf(cursor, name);
  return at === -1 ? undefined : (known(cursor.codes, cursor.starts[at]!, cursor.ends[at]!) ?? valueAt(cursor, at));
}

function indexOf({ names, count }: Cursor, name: string): number {
  for (let i = 0; i < count; i++) if (names[i] === name) return i;
  return -1;
}

const valueAt = (cursor: Cursor, at: number): string =>
  cursor.values[at] ?? cut(cursor, cursor.starts[at]!, cursor.ends[at]!);

/** Reads the text of an element that holds nothing else, and the tag that ends it. */
function readText(cursor: Cursor, nameFrom: number, nameTo: number): string {
  const { codes, at } = cursor;
  const end = endOfRun(cursor, at, LESS);
  if (codes[end + 1] !== SLASH) return readPieces(cursor, nameFrom, nameTo);
  const text = cursor.hasReference ? textBetween(cursor, at, end) : cut(cursor, at, end);
  cursor.at = end;
  readEnd(cursor, nameFrom, nameTo);
  return text;
}

/** The same where comments, instructions or CDATA stand between. */
function readPieces(cursor: Cursor, nameFrom: number, nameTo: number): string {
  const { text, codes } = cursor;
  let whole = '';
  for (;;) {
    const end = endOfRun(cursor, cursor.at, LESS);
    whole += withReferences(text, cursor.at, end);
    cursor.at = end;
    if (codes[end + 1] === SLASH) break;
    if (text.startsWith('<![CDATA[', end)) {
      cursor.isSuspect = true;
      cursor.at = endOf(text, ']]>', end + 9);
      whole += text.slice(end + 9, cursor.at - 3);
    } else skipRemark(cursor);
  }
  readEnd(cursor, nameFrom, nameTo);
  return trim(whole);
}

/** Goes over the tag that ends the element of that name. */
function readEnd(cursor: Cursor, nameFrom: number, nameTo: number): void {
  const { codes } = cursor;
  let at = cursor.at + 2;
  for (let i = nameFrom; i < nameTo; i++) if (codes[i] !== codes[at++]) giveUp();
  if (codes[at] !== GREATER) giveUp();
  cursor.at = at + 1;
}

/** Goes to the next tag, over white space, comments and instructions. */
function skipToTag(cursor: Cursor): void {
  const { codes } = cursor;
  for (;;) {
    while (isBlank(codes[cursor.at]!)) cursor.at++;
    if (codes[cursor.at] !== LESS) giveUp();
    const next = codes[cursor.at + 1];
    if (next !== BANG && next !== QUESTION) return;
    skipRemark(cursor);
  }
}

/** Goes behind a comment or an instruction. */
function skipRemark(cursor: Cursor): void {
  const { text, at } = cursor;
  cursor.isSuspect = true;
  if (text.startsWith('<!--', at)) cursor.at = endOf(text, '-->', at + 4);
  else if (text.startsWith('<?', at)) cursor.at = endOf(text, '?>', at + 2);
  else giveUp();
}

function endOf(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  return found === -1 ? giveUp() : found + mark.length;
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
function endOfName(codes: Uint16Array, from: number): number {
  if (!isFirst(codes[from]!)) giveUp();
  let at = from + 1;
  while (isLater(codes[at]!)) at++;
  if (codes[at] !== COLON) return at;
  at++;
  if (!isFirst(codes[at]!)) giveUp();
  while (isLater(codes[at]!)) at++;
  return codes[at] === COLON ? giveUp() : at;
}

/** Where a name begins behind its prefix. */
function localOf(codes: Uint16Array, from: number, to: number): number {
  for (let at = from; at < to; at++) if (codes[at] === COLON) return at + 1;
  return from;
}

/** A piece of the text without white space at its ends. */
function cut({ text, codes }: Cursor, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(codes[start]!)) start++;
  while (end > start && isBlank(codes[end - 1]!)) end--;
  return text.slice(start, end);
}

/** The same with its references read. */
const textBetween = ({ text }: Cursor, from: number, to: number): string => trim(withReferences(text, from, to));

function withReferences(text: string, from: number, to: number): string {
  const piece = text.slice(from, to);
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

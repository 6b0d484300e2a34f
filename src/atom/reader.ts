/**
 * Reads Atom in one pass, without building a tree, with any prefixes, namespaces, quotes and spacing.
 *
 * It accepts only well-formed XML. Everything else, such as a bare `&` or an HTML entity, is left to the tree parser, which accepts what
 * lenient senders write and rejects the rest.
 */
import { type ElementRule, type AtomFields, elementRules, setField } from './fields.ts';
import { type Namespace, isBlank, isWritable, namespaces, trim, withLineFeeds } from './xml.ts';

/** The fields of the root element, which must be called `root`; undefined if the document is left to the tree parser. */
export function readFields(text: string, root: 'entry' | 'feed'): AtomFields | undefined {
  if (!isWritable(text)) return undefined;
  const reader: Reader = { text, at: text.startsWith('\ufeff') ? 1 : 0 };
  try {
    skipOutside(reader);
    const tag = readTag(reader, noScope);
    if (tag.local !== root) return undefined;
    const fields: AtomFields = { entries: [] };
    if (!tag.isEmpty) readInside(reader, tag, fields, 1);
    skipOutside(reader);
    return reader.at === text.length ? fields : undefined;
  } catch (error) {
    if (error === bailOut) return undefined;
    throw error;
  }
}

interface Reader {
  readonly text: string;
  at: number;
}

/** Thrown to leave a document to the tree parser. Shared, because creating an error costs as much as reading a feed. */
const bailOut = new Error('left to the tree parser');

function giveUp(): never {
  throw bailOut;
}

/** Namespaces by prefix, '' for the default; undefined for a namespace that the interface does not use. */
type Scope = ReadonlyMap<string, Namespace | undefined>;
const noScope: Scope = new Map();

interface Tag {
  name: string;
  local: string;
  namespace: Namespace | undefined;
  attributes: [name: string, value: string][];
  isEmpty: boolean;
  /** The scope of its content. */
  scope: Scope;
}

const DEPTH_MAX = 40;
const ATTRIBUTES_MAX = 32;
const [BANG, DOUBLE_QUOTE, SINGLE_QUOTE, SLASH, COLON, LESS, EQUALS, GREATER, QUESTION] = [
  33, 34, 39, 47, 58, 60, 61, 62, 63,
];

/** Skips white space, comments and processing instructions before and after the root. */
function skipOutside(reader: Reader): void {
  do skipBlanks(reader);
  while (reader.text.charCodeAt(reader.at) === LESS && skipMarkup(reader));
}

/** Reads the content of an element into `fields`, including its end tag. */
function readInside(reader: Reader, parent: Tag, fields: AtomFields, depth: number): void {
  // Elements of another namespace count only until one of the right namespace is found.
  let exact = 0;
  let loose = 0;
  for (let tag; (tag = nextTag(reader, parent.name, parent.scope));) {
    const rule = elementRules.get(tag.local);
    if (!rule) {
      if (!tag.isEmpty) readText(reader, tag, depth + 1);
      continue;
    }
    const isExact = tag.namespace === rule.namespace;
    const isFirstExact = isExact && (exact & rule.bit) === 0;
    if (isFirstExact && (loose & rule.bit) !== 0) clear(fields, rule);
    const isTaken = isExact
      ? isFirstExact || rule.repeats === true
      : (exact & rule.bit) === 0 && ((loose & rule.bit) === 0 || rule.repeats === true);
    if (isExact) exact |= rule.bit;
    else loose |= rule.bit;
    readElement(reader, tag, rule, isTaken ? fields : undefined, depth + 1);
  }
}

/** Reads one known element. Without `fields` it is only skipped. */
function readElement(reader: Reader, tag: Tag, rule: ElementRule, fields: AtomFields | undefined, depth: number): void {
  if (rule.holds) {
    const inner: AtomFields = { entries: [] };
    if (fields && rule.holds === 'author') fields.author = inner;
    else fields?.entries.push(inner);
    if (depth > DEPTH_MAX) giveUp();
    if (!tag.isEmpty) readInside(reader, tag, inner, depth);
    return;
  }
  const text = tag.isEmpty ? '' : trim(readText(reader, tag, depth));
  if (!fields) return;
  const decided = rule.decidedBy === undefined ? undefined : attributeOf(tag, rule.decidedBy);
  const textField = rule.text?.(decided);
  if (textField !== undefined) setField(fields, textField, text);
  if (!rule.attribute) return;
  for (const [name, value] of tag.attributes) {
    const field = rule.attribute(name, decided);
    if (field !== undefined) setField(fields, field, value);
  }
}

function clear(fields: AtomFields, { fields: names, holds }: ElementRule): void {
  for (const name of names) delete fields[name];
  if (holds === 'author') delete fields.author;
  if (holds === 'entries') fields.entries = [];
}

const attributeOf = ({ attributes }: Tag, name: string): string | undefined =>
  attributes.find((attribute) => attribute[0] === name)?.[1];

/** Reads the text of an element and of the elements in it, including its end tag. */
function readText(reader: Reader, { name, scope }: Tag, depth: number): string {
  if (depth > DEPTH_MAX) giveUp();
  let whole = '';
  for (;;) {
    whole += readPiece(reader);
    const tag = readMarkup(reader, name, scope);
    if (tag === undefined) return whole;
    if (typeof tag === 'string') whole += tag;
    else if (!tag.isEmpty) whole += readText(reader, tag, depth + 1);
  }
}

/** Skips to the next start tag and reads it; undefined after the end tag of the element called `name`. */
function nextTag(reader: Reader, name: string, scope: Scope): Tag | undefined {
  for (;;) {
    readPiece(reader);
    const tag = readMarkup(reader, name, scope);
    if (typeof tag !== 'string') return tag;
  }
}

/** Reads one piece of markup: a start tag, the text of a CDATA section, or '' for a comment; undefined for the end tag of `name`. */
function readMarkup(reader: Reader, name: string, scope: Scope): Tag | string | undefined {
  const { text, at } = reader;
  const next = text.charCodeAt(at + 1);
  if (next === SLASH) return readEndTag(reader, name);
  if (next === BANG && text.startsWith('<![CDATA[', at)) {
    reader.at = endOf(text, ']]>', at + 9);
    return withLineFeeds(text.slice(at + 9, reader.at - 3));
  }
  return skipMarkup(reader) ? '' : readTag(reader, scope);
}

/** Skips a comment or processing instruction; false if there is neither. */
function skipMarkup(reader: Reader): boolean {
  const { text, at } = reader;
  const next = text.charCodeAt(at + 1);
  if (next === QUESTION) reader.at = endOf(text, '?>', at + 2);
  else if (next !== BANG) return false;
  else if (text.startsWith('<!--', at)) reader.at = endOf(text, '-->', at + 4);
  else giveUp(); // a declaration, such as a DOCTYPE
  return true;
}

function endOf(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  return found === -1 ? giveUp() : found + mark.length;
}

/** The text up to the next markup, with references resolved. */
function readPiece(reader: Reader): string {
  const { text, at } = reader;
  const end = text.indexOf('<', at);
  if (end === -1) giveUp();
  reader.at = end;
  return end === at ? '' : withReferences(text.slice(at, end));
}

function readEndTag(reader: Reader, name: string): undefined {
  const { text, at } = reader;
  if (!text.startsWith(name, at + 2)) giveUp();
  reader.at = at + 2 + name.length;
  skipBlanks(reader);
  if (text.charCodeAt(reader.at++) !== GREATER) giveUp();
}

function readTag(reader: Reader, outer: Scope): Tag {
  const { text } = reader;
  reader.at++;
  const name = readName(reader);
  const attributes: Tag['attributes'] = [];
  let scope = outer;
  let declared: Map<string, Namespace | undefined> | undefined;
  for (;;) {
    const isSeparated = isBlank(text.charCodeAt(reader.at));
    skipBlanks(reader);
    const code = text.charCodeAt(reader.at);
    if (code === GREATER || code === SLASH) {
      const isEmpty = code === SLASH;
      if (isEmpty && text.charCodeAt(++reader.at) !== GREATER) giveUp();
      reader.at++;
      const colon = name.indexOf(':');
      const namespace = scope.get(colon === -1 ? '' : name.slice(0, colon));
      return { name, local: name.slice(colon + 1), namespace, attributes, isEmpty, scope };
    }
    if (!isSeparated || attributes.length === ATTRIBUTES_MAX) giveUp();
    const attribute = readAttribute(reader);
    if (attributes.some((other) => other[0] === attribute[0])) giveUp();
    attributes.push(attribute);
    if (attribute[0].startsWith('xmlns')) scope = declared = withNamespace(declared ?? new Map(outer), attribute);
  }
}

function readAttribute(reader: Reader): [string, string] {
  const { text } = reader;
  const name = readName(reader);
  skipBlanks(reader);
  if (text.charCodeAt(reader.at++) !== EQUALS) giveUp();
  skipBlanks(reader);
  const quote = text.charCodeAt(reader.at++);
  if (quote !== DOUBLE_QUOTE && quote !== SINGLE_QUOTE) giveUp();
  const start = reader.at;
  const end = text.indexOf(quote === DOUBLE_QUOTE ? '"' : "'", start);
  if (end === -1) giveUp();
  reader.at = end + 1;
  const value = text.slice(start, end);
  return value.includes('<') ? giveUp() : [name, trim(withReferences(value))];
}

/** Adds the namespace that an attribute declares. */
function withNamespace(scope: Map<string, Namespace | undefined>, [name, uri]: [string, string]): typeof scope {
  if (name === 'xmlns' || name.startsWith('xmlns:')) scope.set(name.slice(6), namespaceNames.get(uri));
  return scope;
}

const namespaceNames: ReadonlyMap<string, Namespace> = new Map(
  (Object.keys(namespaces) as Namespace[]).map((name) => [namespaces[name], name]),
);

/** fast-xml-parser rejects these names, so the tree parser decides about them. */
const reservedNames = ['__proto__', 'constructor', 'prototype'];

/** Reads an ASCII name with at most one prefix; other names are left to the tree parser. */
function readName(reader: Reader): string {
  const { text, at: start } = reader;
  skipNamePart(reader);
  if (text.charCodeAt(reader.at) === COLON) {
    reader.at++;
    skipNamePart(reader);
    if (text.charCodeAt(reader.at) === COLON) giveUp();
  }
  const name = text.slice(start, reader.at);
  return reservedNames.includes(name) ? giveUp() : name;
}

const [FIRST, LATER] = [1, 2];
/** Bit set for each ASCII character: whether it may begin a name, and whether it may continue one. */
const nameCharacters = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  return /[A-Za-z_]/.test(character) ? FIRST | LATER : /[-.\d]/.test(character) ? LATER : 0;
});

function skipNamePart(reader: Reader): void {
  const { text } = reader;
  if ((nameCharacters[text.charCodeAt(reader.at)]! & FIRST) === 0) giveUp();
  do reader.at++;
  while ((nameCharacters[text.charCodeAt(reader.at)]! & LATER) !== 0);
}

function skipBlanks(reader: Reader): void {
  while (isBlank(reader.text.charCodeAt(reader.at))) reader.at++;
}

/** Resolves XML's own entities and numeric references; anything else is left to the tree parser. */
function withReferences(piece: string): string {
  const text = withLineFeeds(piece);
  if (!text.includes('&')) return text;
  return text.replace(/&([^;&]{0,10};)?/g, (_, reference: string | undefined) => characterOf(reference ?? giveUp()));
}

const entities = new Map([
  ['lt;', '<'],
  ['gt;', '>'],
  ['amp;', '&'],
  ['quot;', '"'],
  ['apos;', "'"],
]);

function characterOf(reference: string): string {
  const known = entities.get(reference);
  if (known !== undefined) return known;
  const [, decimal, hexadecimal] = /^#(?:(\d{1,7})|x([\da-fA-F]{1,6}));$/.exec(reference) ?? giveUp();
  const code = decimal === undefined ? Number.parseInt(hexadecimal!, 16) : Number(decimal);
  if (code > 0x10ffff) giveUp();
  const character = String.fromCodePoint(code);
  return isWritable(character) ? character : giveUp();
}

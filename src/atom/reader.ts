/**
 * Reads Atom in one pass, without building a tree, with any prefixes, namespaces, quotes and spacing.
 *
 * It accepts only well-formed XML. Everything else, such as a bare `&` or an HTML entity, is left to the tree parser, which accepts what
 * lenient senders write and rejects the rest.
 */
import { type Content, type ElementRule, AtomFields, elementRules } from './fields.ts';
import { type Namespace, hasForbidden, isBlank, isWritable, namespaces, trim, withLineFeeds } from './xml.ts';

/**
 * The fields of the root element, which must be called `root`; undefined if the document is left to the tree parser.
 * A document has been decoded from UTF-8, so lone surrogates are not looked for.
 */
export function readFields(document: string, root: 'entry' | 'feed'): AtomFields | undefined {
  if (hasForbidden(document)) return undefined;
  const text = withLineFeeds(document);
  const end = text.lastIndexOf('>') + 1;
  if (trim(text.slice(end)) !== '') return undefined;
  const reader: Reader = { text, end, at: text.startsWith('\ufeff') ? 1 : 0, less: -1, ampersand: -1 };
  try {
    skipOutside(reader);
    if (nextLess(reader, reader.at) !== reader.at) return undefined;
    const tag = readTag(reader, noScope);
    if (tag.local !== root) return undefined;
    const fields = new AtomFields();
    if (!tag.isEmpty) readContent(reader, tag, { fields, exact: 0, loose: 0 }, 1);
    skipOutside(reader);
    return reader.at === end ? fields : undefined;
  } catch (error) {
    if (error === bailOut) return undefined;
    throw error;
  }
}

interface Reader {
  readonly text: string;
  /** After the last `>`. Nothing is read from there on: V8 slows down a call of `charCodeAt` that was once beyond the end of a text. */
  readonly end: number;
  at: number;
  /** The next `<` and the next `&`, or earlier ones until they are looked for again. */
  less: number;
  ampersand: number;
}

/** Thrown to leave a document to the tree parser. Shared, because creating an error costs as much as reading a feed. */
const bailOut = new Error('left to the tree parser');

function giveUp(): never {
  throw bailOut;
}

/** Namespaces by prefix and colon, '' for the default; undefined for a namespace that the interface does not use. */
type Scope = ReadonlyMap<string, Namespace | undefined>;
const noScope: Scope = new Map();

interface Tag extends Content {
  readonly name: string;
  readonly local: string;
  readonly rule: ElementRule | undefined;
  /** Whether the namespace is that of the rule. */
  readonly isExact: boolean;
  readonly isEmpty: boolean;
  /** The scope of its content. */
  readonly scope: Scope;
}

/** What is found in an element. Elements of another namespace count only until one of the right namespace is found. */
interface Found {
  readonly fields: AtomFields;
  /** Bits of the rules of the elements found in the right namespace, and in others. */
  exact: number;
  loose: number;
}

const DEPTH_MAX = 40;
const ATTRIBUTES_MAX = 32;
const [BANG, DOUBLE_QUOTE, SINGLE_QUOTE, MINUS, SLASH, COLON, LESS, EQUALS, GREATER, QUESTION] = [
  33, 34, 39, 45, 47, 58, 60, 61, 62, 63,
];

/** Skips white space, comments and processing instructions before and after the root. */
function skipOutside(reader: Reader): void {
  while (reader.at < reader.end && skipBlanks(reader) === LESS && skipMarkup(reader));
}

/** Reads the content of an element, including its end tag: the elements into `found`, or without it the text. */
function readContent(reader: Reader, { name, scope }: Tag, found: Found | undefined, depth: number): string {
  if (depth > DEPTH_MAX) giveUp();
  const { text } = reader;
  let whole = '';
  for (;;) {
    const at = nextLess(reader, reader.at);
    const piece = withReferences(reader, reader.at, at);
    if (!found) whole += piece;
    reader.at = at;
    const next = text.charCodeAt(at + 1);
    if (next === SLASH) {
      readEndTag(reader, name);
      return whole;
    }
    if (next === BANG && text.startsWith('<![CDATA[', at)) {
      reader.at = endOf(text, ']]>', at + 9);
      whole += text.slice(at + 9, reader.at - 3);
    } else if (!skipMarkup(reader)) {
      const tag = readTag(reader, scope);
      if (found && tag.rule) readElement(reader, tag, tag.rule, found, depth + 1);
      else if (!tag.isEmpty) whole += readContent(reader, tag, undefined, depth + 1);
    }
  }
}

function readElement(reader: Reader, tag: Tag, rule: ElementRule, found: Found, depth: number): void {
  const isNeeded = counts(found, rule, tag.isExact);
  const inner = rule.holds ? { fields: new AtomFields(), exact: 0, loose: 0 } : undefined;
  tag.inner = inner?.fields;
  if (!tag.isEmpty) tag.text = trim(readContent(reader, tag, inner, depth));
  if (isNeeded) rule.fill(found.fields, tag);
}

/** Whether an element counts after those found before it. */
function counts(found: Found, { bit, fields, repeats }: ElementRule, isExact: boolean): boolean {
  const { exact, loose } = found;
  if (!isExact) {
    found.loose |= bit;
    return (exact & bit) === 0 && (repeats || (loose & bit) === 0);
  }
  found.exact |= bit;
  if ((exact & bit) !== 0) return repeats;
  if ((loose & bit) !== 0) for (const name of fields) found.fields[name] = undefined;
  return true;
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

function readEndTag(reader: Reader, name: string): void {
  const { text, at } = reader;
  if (!text.startsWith(name, at + 2)) giveUp();
  reader.at = at + 2 + name.length;
  if (skipBlanks(reader) !== GREATER) giveUp();
  reader.at++;
}

function readTag(reader: Reader, outer: Scope): Tag {
  const { text } = reader;
  reader.at++;
  const name = readName(reader);
  const colon = name.indexOf(':');
  const local = name.slice(colon + 1);
  const rule = elementRules.get(local);
  const values: Content['values'] = [undefined, undefined];
  const others: string[] = [];
  let declared: Map<string, Namespace | undefined> | undefined;
  let code;
  while ((code = skipBlanks(reader)) !== GREATER && code !== SLASH) {
    if (!isBlank(text.charCodeAt(reader.at - 1))) giveUp();
    const attribute = readName(reader);
    const value = readValue(reader);
    const position = rule ? rule.attributes.indexOf(attribute) : -1;
    if (position !== -1) {
      if (values[position] !== undefined) giveUp();
      values[position] = value;
      continue;
    }
    checkName(attribute);
    if (others.length === ATTRIBUTES_MAX || others.includes(attribute)) giveUp();
    others.push(attribute);
    if (attribute !== 'xmlns' && !attribute.startsWith('xmlns:')) continue;
    declared ??= new Map(outer);
    declared.set(attribute === 'xmlns' ? '' : `${attribute.slice(6)}:`, namespaceNames.get(value));
  }
  const isEmpty = code === SLASH;
  if (isEmpty && text.charCodeAt(++reader.at) !== GREATER) giveUp();
  reader.at++;
  const scope = declared ?? outer;
  const isExact = rule !== undefined && rule.namespace === scope.get(name.slice(0, colon + 1));
  if (!isExact) checkName(name);
  return { name, local, rule, isExact, isEmpty, scope, values, text: '', inner: undefined };
}

function readValue(reader: Reader): string {
  const { text } = reader;
  if (skipBlanks(reader) !== EQUALS) giveUp();
  reader.at++;
  const quote = skipBlanks(reader);
  if (quote !== DOUBLE_QUOTE && quote !== SINGLE_QUOTE) giveUp();
  const start = reader.at + 1;
  const end = text.indexOf(quote === DOUBLE_QUOTE ? '"' : "'", start);
  if (end === -1 || nextLess(reader, start) < end) giveUp();
  reader.at = end + 1;
  return trim(withReferences(reader, start, end));
}

const namespaceNames: ReadonlyMap<string, Namespace> = new Map(
  (Object.keys(namespaces) as Namespace[]).map((name) => [namespaces[name], name]),
);

/** Reads to the end of a name. Known names need no `checkName`. */
function readName(reader: Reader): string {
  const { text, at: start } = reader;
  let at = start;
  for (let code; (code = text.charCodeAt(at)) > GREATER || (code >= MINUS && code <= COLON && code !== SLASH);) at++;
  reader.at = at;
  return text.slice(start, at);
}

/** ASCII names with at most one prefix, but for those that fast-xml-parser rejects. */
const acceptedName = /^(?!(?:__proto__|constructor|prototype)$)(?:[A-Za-z_][-.\w]*:)?[A-Za-z_][-.\w]*$/;

function checkName(name: string): void {
  if (!acceptedName.test(name)) giveUp();
}

/** Skips white space; returns the character after it. */
function skipBlanks(reader: Reader): number {
  let code;
  while (isBlank((code = reader.text.charCodeAt(reader.at)))) reader.at++;
  return code;
}

/** The position of the next `<`, found once for all attributes of a tag and the text after it. */
function nextLess(reader: Reader, from: number): number {
  if (reader.less < from) reader.less = endOf(reader.text, '<', from) - 1;
  return reader.less;
}

/** A part of the text, with XML's own entities and numeric references resolved; anything else is left to the tree parser. */
function withReferences(reader: Reader, start: number, end: number): string {
  const piece = reader.text.slice(start, end);
  if (reader.ampersand < start) {
    const at = reader.text.indexOf('&', start);
    reader.ampersand = at === -1 ? reader.end : at;
  }
  if (reader.ampersand >= end) return piece;
  return piece.replace(/&([^;&]{0,10};)?/g, (_, reference: string | undefined) => characterOf(reference ?? giveUp()));
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

/**
 * Reads Atom in one pass, without building a tree, with any prefixes, namespaces, quotes and spacing.
 *
 * It accepts only well-formed XML. Everything else, such as a bare `&` or an HTML entity, is left to the tree parser, which accepts what
 * lenient senders write and rejects the rest.
 */
import { codeUnitsOf } from '../lib/text/code-units.ts';
import { type Content, type ElementRule, AtomFields, elementRules } from './fields.ts';
import { textInside, withBreaks } from './line-breaks.ts';
import { resolvedUrl } from './links.ts';
import { characterOf } from './references.ts';
import { type Namespace, hasForbidden, isBlank, namespaces, trim, withLineFeeds } from './xml.ts';

/**
 * The fields of the root element, which must be called `root`; undefined if the document is left to the tree parser.
 * A document has been decoded from UTF-8, so lone surrogates are not looked for.
 */
export function readFields(document: string, root: 'entry' | 'feed', url?: string): AtomFields | undefined {
  if (hasForbidden(document)) return undefined;
  const text = withLineFeeds(document);
  const end = text.lastIndexOf('>') + 1;
  if (trim(text.slice(end)) !== '') return undefined;
  const units = codeUnitsOf(text);
  // Every loop stops at a `<`, so none of them runs past the end.
  units[end] = units[end + 1] = LESS;
  const reader: Reader = { text, units, end, at: text.startsWith('\ufeff') ? 1 : 0, hasMarkup: false };
  try {
    skipOutside(reader);
    if (units[reader.at] !== LESS) return undefined;
    const tag = readTag(reader, noScope);
    const name = text.slice(tag.nameStart, tag.nameEnd);
    if (name.slice(name.indexOf(':') + 1) !== root) return undefined;
    const fields = new AtomFields();
    fields.base = resolvedUrl(tag.base, url);
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
  /** The code units of the text: reading one takes a fraction of the time of `charCodeAt`. */
  readonly units: Uint16Array;
  /** After the last `>`. */
  readonly end: number;
  at: number;
  /** A text had elements in it. */
  hasMarkup: boolean;
}

/** Thrown to leave a document to the tree parser. Shared, because creating an error costs as much as reading a feed. */
const bailOut = new Error('left to the tree parser');

function giveUp(): never {
  throw bailOut;
}

/** The namespaces in scope by prefix and colon, '' for the default; undefined if the interface does not use it. The innermost is first. */
type Scope = readonly { readonly prefix: string; readonly namespace: Namespace | undefined }[];
const noScope: Scope = [];

/** A start tag. Its name stays a range of the text: creating a string takes longer than comparing one in place. */
interface Tag extends Content {
  readonly nameStart: number;
  readonly nameEnd: number;
  readonly rule: ElementRule | undefined;
  /** Whether the namespace is that of the rule. */
  readonly isExact: boolean;
  readonly isEmpty: boolean;
  /** Its `xml:base`. */
  readonly base: string | undefined;
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

const noValues: Content['values'] = [];
const [DEPTH_MAX, ATTRIBUTES_MAX, NAMESPACES_MAX] = [40, 32, 64]; // the scope is searched for each element
const [BANG, DOUBLE_QUOTE, AMPERSAND, SINGLE_QUOTE, MINUS, SLASH, COLON, LESS, EQUALS, GREATER, QUESTION] = [
  33, 34, 38, 39, 45, 47, 58, 60, 61, 62, 63,
];

/** Skips what may stand before and after the root. */
function skipOutside(reader: Reader): void {
  while (reader.at < reader.end && skipBlanks(reader) === LESS && skipMarkup(reader));
}

/** Reads the content of an element, including its end tag: the elements into `found`, or without it the text. */
function readContent(reader: Reader, tag: Tag, found: Found | undefined, depth: number): string {
  if (depth > DEPTH_MAX) giveUp();
  const { text, units } = reader;
  let whole = '';
  for (;;) {
    const piece = readUntil(reader, LESS);
    if (!found) whole += piece;
    const { at } = reader;
    const next = units[at + 1];
    if (next === SLASH) {
      readEndTag(reader, tag);
      return whole;
    }
    if (next === BANG && text.startsWith('<![CDATA[', at)) {
      reader.at = endOf(text, ']]>', at + 9);
      whole += text.slice(at + 9, reader.at - 3);
    } else if (!skipMarkup(reader)) {
      const child = readTag(reader, tag.scope);
      if (found && child.rule) readElement(reader, child, child.rule, found, depth + 1);
      else {
        const inner = child.isEmpty ? '' : readContent(reader, child, undefined, depth + 1);
        if (!found) whole += textInside(text.slice(child.nameStart, child.nameEnd), inner);
        if (!found) reader.hasMarkup = true;
      }
    }
  }
}

function readElement(reader: Reader, tag: Tag, rule: ElementRule, found: Found, depth: number): void {
  const isNeeded = counts(found, rule, tag.isExact);
  const inner = rule.holds ? { fields: new AtomFields(), exact: 0, loose: 0 } : undefined;
  if (inner) inner.fields.base = tag.base === undefined ? found.fields.base : resolvedUrl(tag.base, found.fields.base);
  tag.inner = inner?.fields;
  const text = tag.isEmpty ? '' : readContent(reader, tag, inner, depth);
  if (!rule.holds) tag.text = trim(reader.hasMarkup ? withBreaks(text) : text);
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
  const { text, units, at } = reader;
  const next = units[at + 1];
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

function readEndTag(reader: Reader, { nameStart, nameEnd }: Tag): void {
  const { units } = reader;
  let at = reader.at + 2;
  for (let expected = nameStart; expected < nameEnd; expected++) if (units[at++] !== units[expected]) giveUp();
  reader.at = at;
  if (skipBlanks(reader) !== GREATER) giveUp();
  reader.at++;
}

function readTag(reader: Reader, outer: Scope): Tag {
  const { text, units } = reader;
  const nameStart = ++reader.at;
  const nameEnd = skipName(reader);
  let localStart = nameEnd;
  while (localStart > nameStart && units[localStart - 1] !== COLON) localStart--;
  const rule = ruleOf(reader, localStart, nameEnd);
  const values: Content['values'] = rule?.attributes.length ? [undefined, undefined] : noValues;
  let others: string[] | undefined;
  let base: string | undefined;
  let scope = outer;
  let code;
  while ((code = skipBlanks(reader)) !== GREATER && code !== SLASH) {
    if (!isBlank(units[reader.at - 1]!)) giveUp();
    const from = reader.at;
    const to = skipName(reader);
    const value = readValue(reader);
    const position = rule ? positionOf(rule.attributes, units, from, to) : -1;
    if (position !== -1) {
      if (values[position] !== undefined) giveUp();
      values[position] = value;
      continue;
    }
    const attribute = text.slice(from, to);
    checkName(attribute);
    others ??= [];
    if (others.length === ATTRIBUTES_MAX || others.includes(attribute)) giveUp();
    others.push(attribute);
    if (attribute === 'xml:base') base = value;
    if (attribute !== 'xmlns' && !attribute.startsWith('xmlns:')) continue;
    if (scope.length === NAMESPACES_MAX) giveUp();
    const prefix = attribute === 'xmlns' ? '' : `${attribute.slice(6)}:`;
    scope = [{ prefix, namespace: namespaceNames.get(value) }, ...scope];
  }
  const isEmpty = code === SLASH;
  if (isEmpty && units[++reader.at] !== GREATER) giveUp();
  reader.at++;
  const isExact = rule !== undefined && rule.namespace === namespaceOf(scope, units, nameStart, localStart);
  if (!isExact) checkName(text.slice(nameStart, nameEnd));
  return { nameStart, nameEnd, rule, isExact, isEmpty, base, scope, values, text: '', inner: undefined };
}

/** Rules by the last five bits of the first letter: at most a few names to compare. */
const rulesByInitial: readonly (readonly ElementRule[])[] = Array.from({ length: 32 }, (_, bits) =>
  elementRules.filter(({ name }) => (name.charCodeAt(0) & 31) === bits),
);

function ruleOf({ units }: Reader, start: number, end: number): ElementRule | undefined {
  for (const rule of rulesByInitial[units[start]! & 31]!) if (isAt(rule.name, units, start, end)) return rule;
  return undefined;
}

function positionOf(names: readonly string[], units: Uint16Array, start: number, end: number): number {
  for (let at = 0; at < names.length; at++) if (isAt(names[at]!, units, start, end)) return at;
  return -1;
}

function namespaceOf(scope: Scope, units: Uint16Array, start: number, end: number): Namespace | undefined {
  for (const { prefix, namespace } of scope) if (isAt(prefix, units, start, end)) return namespace;
  return undefined;
}

/** Whether the range of the text is this name. */
function isAt(name: string, units: Uint16Array, start: number, end: number): boolean {
  if (name.length !== end - start) return false;
  for (let at = 0; at < name.length; at++) if (name.charCodeAt(at) !== units[start + at]) return false;
  return true;
}

function readValue(reader: Reader): string {
  if (skipBlanks(reader) !== EQUALS) giveUp();
  reader.at++;
  const quote = skipBlanks(reader);
  if (quote !== DOUBLE_QUOTE && quote !== SINGLE_QUOTE) giveUp();
  reader.at++;
  const value = readUntil(reader, quote);
  reader.at++;
  return trim(value);
}

/** The text before the next `mark`, with references resolved. */
function readUntil(reader: Reader, mark: number): string {
  const { text, units, at: start } = reader;
  let at = start;
  let hasReferences = false;
  for (let unit; (unit = units[at]) !== mark; at++) {
    if (unit === AMPERSAND) hasReferences = true;
    else if (unit === LESS) giveUp();
  }
  if (at >= reader.end) giveUp();
  reader.at = at;
  const piece = text.slice(start, at);
  return hasReferences ? withReferences(piece) : piece;
}

const namespaceNames: ReadonlyMap<string, Namespace> = new Map(
  (Object.keys(namespaces) as Namespace[]).map((name) => [namespaces[name], name]),
);

/** Returns the end of the name that begins here. Known names need no `checkName`. */
function skipName(reader: Reader): number {
  const { units } = reader;
  let { at } = reader;
  for (let unit; (unit = units[at]!) > GREATER || (unit >= MINUS && unit <= COLON && unit !== SLASH);) at++;
  return (reader.at = at);
}

/** ASCII names with at most one prefix, but for those that fast-xml-parser rejects. */
const acceptedName = /^(?!(?:__proto__|constructor|prototype)$)(?:[A-Za-z_][-.\w]*:)?[A-Za-z_][-.\w]*$/;

const checkName = (name: string): boolean => acceptedName.test(name) || giveUp();

/** Skips white space; returns the character after it. */
function skipBlanks(reader: Reader): number {
  const { units } = reader;
  let { at } = reader;
  while (isBlank(units[at]!)) at++;
  reader.at = at;
  return units[at]!;
}

/** XML's own entities and numeric references are resolved; anything else is left to the tree parser. */
const withReferences = (piece: string): string =>
  piece.replace(/&([^;&]{0,10};)?/g, (_, reference: string | undefined) => characterOf(reference ?? '') ?? giveUp());

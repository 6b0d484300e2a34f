/**
 * Reads Atom in one pass, without building a tree, with any prefixes, namespaces, quotes and spacing.
 *
 * It accepts only well-formed XML. Other references, such as a bare `&` or an HTML entity, are mended first, and the text is read here again.
 */
import { codeUnitsOf } from '../lib/text/code-units.ts';
import { type Content, type ElementRule, AtomFields } from './fields.ts';
import { localName, textInside, withBreaks } from './line-breaks.ts';
import { resolvedUrl } from './links.ts';
import { mended } from './mend.ts';
import { type NamespaceScope, namespaceNames, namespaceOf, positionOf, ruleOf } from './names.ts';
import { AtomError, hasForbidden, isBlank, trim, withLineFeeds, characterOf } from './xml.ts';

/** The fields of the root element, which must be called `root`. Throws AtomError. */
export function readAtom(document: string, root: 'entry' | 'feed', url?: string): AtomFields {
  const fields = readFields(document, root, url) ?? readFields(mended(document), root, url, true);
  if (!fields) throw new AtomError(`not one element ${root}`);
  return fields;
}

/**
 * Undefined if the document has to be mended. It has been decoded from UTF-8, so lone surrogates are not looked for. `isMended`: it is known to
 * be well-formed.
 */
export function readFields(
  document: string,
  root: 'entry' | 'feed',
  url?: string,
  isMended = false,
): AtomFields | undefined {
  const text = withLineFeeds(document);
  const end = text.lastIndexOf('>') + 1;
  if (trim(text.slice(end)) !== '') return undefined;
  const units = codeUnitsOf(text);
  // Every loop stops at a `<`, so none of them runs past the end.
  units[end] = units[end + 1] = LESS;
  const reader: Reader = { text, units, end, at: text.startsWith('\ufeff') ? 1 : 0, hasMarkup: false, isMended };
  try {
    skipOutside(reader);
    if (units[reader.at] !== LESS) return undefined;
    const tag = readTag(reader, noScope);
    if (localName(text.slice(tag.nameStart, tag.nameEnd)) !== root) return undefined;
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
  /** Names and duplicate attributes were checked. */
  readonly isMended: boolean;
}

/** Thrown to leave a document to be mended. Shared, because creating an error costs as much as reading a feed. */
const bailOut = new Error('to be mended');

function giveUp(): never {
  throw bailOut;
}

const noScope: NamespaceScope = [];

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
  readonly scope: NamespaceScope;
}

/** What is found in an element. Elements of another namespace count only until one of the right namespace is found. */
interface Found {
  readonly fields: AtomFields;
  /** Bits of the rules of the elements found in the right namespace, and in others. */
  exact: number;
  loose: number;
}

const noValues: Content['values'] = [];
// The scope is searched for each element.
const [DEPTH_MAX, ATTRIBUTES_MAX, NAMESPACES_MAX] = [40, 32, 64];
const [SPACE, BANG, DOUBLE_QUOTE, AMPERSAND, SINGLE_QUOTE, MINUS, SLASH, COLON] = [32, 33, 34, 38, 39, 45, 47, 58];
const [LESS, EQUALS, GREATER, QUESTION, NONCHARACTER] = [60, 61, 62, 63, 0xfffe];

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
        if (!found) reader.hasMarkup = true;
        if (!found) whole += textInside(text.slice(child.nameStart, child.nameEnd), inner);
      }
    }
  }
}

function readElement(reader: Reader, tag: Tag, rule: ElementRule, found: Found, depth: number): void {
  const isNeeded = counts(found, rule, tag.isExact);
  const inner = rule.holds ? { fields: new AtomFields(), exact: 0, loose: 0 } : undefined;
  if (inner) inner.fields.base = resolvedUrl(tag.base, found.fields.base);
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
  return found === -1 || hasForbidden(text.slice(from, found)) ? giveUp() : found + mark.length;
}

function readEndTag(reader: Reader, { nameStart, nameEnd }: Tag): void {
  const { units } = reader;
  let at = reader.at + 2;
  for (let expected = nameStart; expected < nameEnd; expected++) if (units[at++] !== units[expected]) giveUp();
  reader.at = at;
  if (skipBlanks(reader) !== GREATER) giveUp();
  reader.at++;
}

function readTag(reader: Reader, outer: NamespaceScope): Tag {
  const { text, units } = reader;
  const nameStart = ++reader.at;
  const nameEnd = skipName(reader);
  let localStart = nameStart;
  while (localStart < nameEnd && units[localStart] !== COLON) localStart++;
  localStart = localStart < nameEnd ? localStart + 1 : nameStart;
  let localEnd = localStart;
  while (localEnd < nameEnd && units[localEnd] !== COLON) localEnd++;
  const rule = ruleOf(units, localStart, localEnd);
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
    checkName(reader, attribute);
    others ??= [];
    if (!reader.isMended && (others.length === ATTRIBUTES_MAX || others.includes(attribute))) giveUp();
    others.push(attribute);
    if (attribute === 'xml:base') base = value;
    if (attribute !== 'xmlns' && !attribute.startsWith('xmlns:')) continue;
    if (scope.length === NAMESPACES_MAX) giveUp();
    const declared = attribute.slice(6);
    scope = [{ prefix: declared && `${declared}:`, namespace: namespaceNames.get(value) }, ...scope];
  }
  const isEmpty = code === SLASH;
  if (isEmpty && units[++reader.at] !== GREATER) giveUp();
  reader.at++;
  const isExact = rule !== undefined && rule.namespace === namespaceOf(scope, units, nameStart, localStart);
  if (!isExact) checkName(reader, text.slice(nameStart, nameEnd));
  return { nameStart, nameEnd, rule, isExact, isEmpty, base, scope, values, text: '', inner: undefined };
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
  for (let unit; (unit = units[at]!) !== mark; at++) {
    if (unit > LESS && unit < NONCHARACTER) continue;
    if (unit === AMPERSAND) hasReferences = true;
    else if (unit === LESS || unit >= NONCHARACTER || (unit < SPACE && !isBlank(unit))) giveUp();
  }
  if (at >= reader.end) giveUp();
  reader.at = at;
  const piece = text.slice(start, at);
  return hasReferences ? withReferences(piece) : piece;
}

/** Returns the end of the name that begins here. Known names need no `checkName`. */
function skipName(reader: Reader): number {
  const { units } = reader;
  let { at } = reader;
  for (let unit; (unit = units[at]!) > GREATER || (unit >= MINUS && unit <= COLON && unit !== SLASH);) at++;
  return (reader.at = at);
}

/** ASCII names with at most one prefix. */
const plainName = /^(?:[A-Za-z_][-.\w]*:)?[A-Za-z_][-.\w]*$/;
const refusedName = /^(?:__proto__|constructor|prototype)$/;

function checkName({ isMended }: Reader, name: string): void {
  if (refusedName.test(name) || !(isMended || plainName.test(name))) giveUp();
}

/** Skips white space; returns the character after it. */
function skipBlanks(reader: Reader): number {
  const { units } = reader;
  let { at } = reader;
  while (isBlank(units[at]!)) at++;
  reader.at = at;
  return units[at]!;
}

/** XML's own entities and numeric references are resolved; anything else has to be mended. */
const withReferences = (piece: string): string =>
  piece.replace(/&([^;&]{0,10};)?/g, (_, reference: string | undefined) => characterOf(reference ?? '') ?? giveUp());

/**
 * Reads Atom in one pass, without building a tree, with any prefixes, namespaces, quotes and spacing.
 *
 * It accepts only well-formed XML. Other references, such as a bare `&` or an HTML entity, are mended first, and the text is read here again.
 */
import { type Content, type ElementRule, AtomFields, elementRules } from './fields.ts';
import { remembering } from '../lib/remember.ts';
import { localName, textInside, withBreaks } from './line-breaks.ts';
import { resolvedUrl } from './links.ts';
import { mended } from './mend.ts';
import {
  type Namespace,
  AtomError,
  characterOf,
  hasForbidden,
  isBlank,
  namespaces,
  trim,
  withLineFeeds,
} from './xml.ts';

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
  if (hasForbidden(document)) return undefined;
  const text = withLineFeeds(document);
  const reader: Reader = { text, at: text.startsWith('\ufeff') ? 1 : 0, hasMarkup: false, isMended };
  try {
    skipOutside(reader);
    if (text[reader.at] !== '<') return undefined;
    const tag = readTag(reader, new Map());
    if (localName(tag.name) !== root) return undefined;
    const fields = new AtomFields();
    fields.base = resolvedUrl(tag.base, url);
    if (!tag.isEmpty) readContent(reader, tag, { fields, exact: 0, loose: 0 }, 1);
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

/** Namespaces by prefix, '' for the default; undefined if the interface does not use it. */
type Scope = ReadonlyMap<string, Namespace | undefined>;

/** A start tag. */
interface Tag extends Content {
  readonly name: string;
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

const rules = new Map(elementRules.map((rule) => [rule.name, rule]));
const namespaceNames = new Map(
  (Object.keys(namespaces) as Namespace[]).map((name) => [namespaces[name] as string, name]),
);
const noValues: Content['values'] = [];
const noNames: readonly string[] = [];
/** Senders use the same few names in all documents. */
const partsOf = remembering((name = '') => {
  const prefix = name.slice(0, Math.max(name.indexOf(':'), 0));
  return { prefix, rule: rules.get(localName(name)), isPlain: isPlain(name) };
});
// The namespaces in scope are copied by each element that declares one.
const [DEPTH_MAX, ATTRIBUTES_MAX, NAMESPACES_MAX] = [40, 32, 64];
const [BANG, MINUS, SLASH, COLON, EQUALS, GREATER, QUESTION] = [33, 45, 47, 58, 61, 62, 63];

/** Skips what may stand before and after the root. */
function skipOutside(reader: Reader): void {
  do skipBlanks(reader);
  while (reader.text[reader.at] === '<' && skipMarkup(reader));
}

/** Reads the content of an element, including its end tag: the elements into `found`, or without it the text. */
function readContent(reader: Reader, tag: Tag, found: Found | undefined, depth: number): string {
  if (depth > DEPTH_MAX) giveUp();
  const { text } = reader;
  let whole = '';
  for (;;) {
    const piece = withReferences(readUntil(reader, '<'));
    if (!found) whole += piece;
    const { at } = reader;
    const next = text.charCodeAt(at + 1);
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
        if (!found) whole += textInside(child.name, inner);
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

function readEndTag(reader: Reader, { name }: Tag): void {
  reader.at += 2;
  if (!reader.text.startsWith(name, reader.at)) giveUp();
  reader.at += name.length;
  if (skipBlanks(reader) !== GREATER) giveUp();
  reader.at++;
}

function readTag(reader: Reader, outer: Scope): Tag {
  const { text } = reader;
  reader.at++;
  const name = readName(reader);
  const { prefix, rule, isPlain } = partsOf(name);
  if (!isPlain) checkName(reader, name);
  const wanted = rule?.attributes ?? noNames;
  const values: Content['values'] = wanted.length > 0 ? [undefined, undefined] : noValues;
  let others: string[] | undefined;
  let base: string | undefined;
  let scope = outer;
  let code;
  while ((code = skipBlanks(reader)) !== GREATER && code !== SLASH) {
    if (!isBlank(text.charCodeAt(reader.at - 1))) giveUp();
    const attribute = readName(reader);
    const value = readValue(reader);
    const position = wanted.indexOf(attribute);
    if (position !== -1) {
      if (values[position] !== undefined) giveUp();
      values[position] = value;
      continue;
    }
    checkName(reader, attribute);
    others ??= [];
    if (others.length === ATTRIBUTES_MAX || others.includes(attribute)) giveUp();
    others.push(attribute);
    if (attribute === 'xml:base') base = value;
    if (attribute !== 'xmlns' && !attribute.startsWith('xmlns:')) continue;
    if (scope.size >= NAMESPACES_MAX) giveUp();
    scope = new Map(scope).set(attribute.slice(6), namespaceNames.get(value));
  }
  const isEmpty = code === SLASH;
  if (isEmpty && text.charCodeAt(++reader.at) !== GREATER) giveUp();
  reader.at++;
  const isExact = rule !== undefined && scope.get(prefix) === rule.namespace;
  return { name, rule, isExact, isEmpty, base, scope, values, text: '', inner: undefined };
}

function readValue(reader: Reader): string {
  if (skipBlanks(reader) !== EQUALS) giveUp();
  reader.at++;
  skipBlanks(reader);
  const quote = reader.text[reader.at++];
  if (quote !== '"' && quote !== "'") giveUp();
  const value = readUntil(reader, quote);
  reader.at++;
  return value.includes('<') ? giveUp() : trim(withReferences(value));
}

/** The text before the next `mark`, with references resolved. */
function readUntil(reader: Reader, mark: '<' | '"' | "'"): string {
  const { text, at } = reader;
  const end = text.indexOf(mark, at);
  if (end === -1) giveUp();
  reader.at = end;
  return text.slice(at, end);
}

function readName(reader: Reader): string {
  const { text, at: start } = reader;
  let at = start;
  for (let code; (code = text.charCodeAt(at)) > GREATER || (code >= MINUS && code <= COLON && code !== SLASH);) at++;
  reader.at = at;
  return text.slice(start, at);
}

/** An ASCII name with at most one prefix. */
const isPlain = (name: string): boolean => /^(?:[A-Za-z_][-.\w]*:)?[A-Za-z_][-.\w]*$/.test(name) && !isRefused(name);
const isRefused = (name: string): boolean => /^(?:__proto__|constructor|prototype)$/.test(name);

function checkName({ isMended }: Reader, name: string): void {
  if (isMended ? isRefused(name) : !isPlain(name)) giveUp();
}

/** Skips white space; returns the code of the character after it. */
function skipBlanks(reader: Reader): number {
  const { text } = reader;
  let code;
  while (isBlank((code = text.charCodeAt(reader.at)))) reader.at++;
  return code;
}

/** XML's own entities and numeric references are resolved; anything else has to be mended. */
const withReferences = (piece: string): string =>
  piece.includes('&')
    ? piece.replace(/&([^;&]{0,10};)?/g, (_, reference: string | undefined) => characterOf(reference ?? '') ?? giveUp())
    : piece;

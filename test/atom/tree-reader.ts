/**
 * Reads Atom by building a tree with fast-xml-parser: the reference of the tests. It shares with the product which elements fill which fields,
 * and finds elements, namespaces, bases and texts in its own way.
 */
import { createRequire } from 'node:module';
import type * as Entities from 'entities';
import type * as Xml from 'fast-xml-parser';
import { lazily } from '../../src/lib/promises.ts';
import { AtomFields, elementRules } from '../../src/atom/fields.ts';
import { textInside, withBreaks } from '../../src/atom/line-breaks.ts';
import { resolvedUrl } from '../../src/atom/links.ts';
import { AtomError, escape, namespaces, isWritable, trim, withLineFeeds } from '../../src/atom/xml.ts';

/** The fields in the root element, which must be called `root`. Throws AtomError. */
export const parseFields = (text: string, root: string, url?: string): AtomFields => fieldsOf(rootOf(text, root), url);

// Elements are found by namespace. If there is none, by local name only, because some senders get namespaces wrong.

function fieldsOf(parent: Element, outerBase: string | undefined): AtomFields {
  const fields = new AtomFields();
  fields.base = resolvedUrl(parent.attributes.get('xml:base'), outerBase);
  for (const rule of elementRules) {
    const found = findAll(parent, namespaces[rule.namespace], rule.name);
    for (const element of rule.repeats ? found : found.slice(0, 1)) {
      const values = rule.attributes.map((name) => element.attributes.get(name));
      const text = rule.holds ? '' : textOf(element);
      rule.fill(fields, { text, values, inner: rule.holds ? fieldsOf(element, fields.base) : undefined });
    }
  }
  return fields;
}

function findAll(parent: Element, uri: string, local: string): Element[] {
  const named = parent.children.filter((child) => typeof child === 'object' && child.local === local) as Element[];
  const exact = named.filter((child) => child.uri === uri);
  return exact.length > 0 ? exact : named;
}

const textOf = (of: Element) => trim(withBreaks(allText(of)));

const allText = (of: Element): string =>
  of.children.map((child) => (typeof child === 'string' ? child : textInside(child.local, allText(child)))).join('');

interface Element {
  uri: string | undefined;
  local: string;
  attributes: ReadonlyMap<string, string>;
  children: (Element | string)[];
}

const DEPTH_MAX = 40;

/** Loaded with the first document that needs it, because most processes never need it. */
const withLibrary = lazily(() => {
  const require = createRequire(import.meta.url);
  const { XMLParser, XMLValidator } = require('fast-xml-parser') as typeof Xml;
  const parser = new XMLParser({
    preserveOrder: true,
    ignoreAttributes: false,
    attributeNamePrefix: '',
    parseTagValue: false, // it would turn the text 00123 into the number 123
    parseAttributeValue: false,
    trimValues: false, // its trim would also take the ideographic space that begins a Chinese paragraph
    jPath: false, // paths are not used
    htmlEntities: true, // needed to resolve numeric references
    // Documents that declare entities are rejected, so references cannot expand. The default limit would reject a long text.
    processEntities: { enabled: true, maxExpandedLength: Infinity, maxTotalExpansions: Infinity },
  });
  const { decodeHTMLStrict } = require('entities') as typeof Entities;
  return {
    /** The character that HTML gives this name; undefined for a name that it does not have. */
    characterOf: (reference: string): string | undefined => {
      const character = decodeHTMLStrict(reference);
      return character === reference ? undefined : character;
    },
    isWellFormed: (text: string) => XMLValidator.validate(text) === true,
    parse: (text: string) => parser.parse(text) as ParsedNode[],
  };
});

function rootOf(text: string, root: string): Element {
  const plain = plainMarkup(text);
  const xml = withLibrary();
  if (!xml.isWellFormed(plain)) throw new AtomError('not well-formed XML');
  let parsed: ParsedNode[];
  try {
    parsed = xml.parse(plain);
  } catch (error) {
    throw new AtomError('not XML that can be read', { cause: error });
  }
  const read = parsed
    .map((node) => elementOf(node, new Map()))
    .filter((node) => typeof node !== 'string' || trim(node) !== '');
  const [top] = read;
  if (read.length !== 1 || typeof top !== 'object') throw new AtomError('not one XML element');
  if (top.local !== root) throw new AtomError(`the root is ${top.local.slice(0, 40)}, not ${root}`);
  return top;
}

/**
 * Reduces a document to elements, attributes and escaped text: drops comments and instructions, writes CDATA as text, and escapes an
 * ampersand that begins no reference, because some senders forget to. Rejects declarations and deep nesting.
 */
function plainMarkup(document: string): string {
  if (!isWritable(document)) throw new AtomError('a character that XML cannot carry');
  const text = withLineFeeds(document);
  // The library accepts a reference there.
  if (trim(text.slice(text.lastIndexOf('>') + 1)) !== '') throw new AtomError('text behind the root');
  const out: string[] = [];
  let depth = 0;
  let at = text.startsWith('\ufeff') ? 1 : 0;
  while (at < text.length) {
    let end = text.indexOf('<', at);
    if (end === -1) end = text.length;
    if (end > at) {
      out.push(mendReferences(text.slice(at, end)));
    } else if (text.startsWith('<!--', at)) {
      end = endOf(text, '-->', at + 4);
    } else if (text.startsWith('<![CDATA[', at)) {
      end = endOf(text, ']]>', at + 9);
      out.push(escape(text.slice(at + 9, end - 3)));
    } else if (text.startsWith('<?', at)) {
      end = endOf(text, '?>', at + 2);
    } else if (text.startsWith('<!', at)) {
      throw new AtomError('declarations are not read');
    } else {
      end = endOfTag(text, at);
      if (text.slice(at + 1, end).includes('<')) throw new AtomError('a tag in a tag');
      if (text[at + 1] === '/') depth -= 1;
      else if (text[end - 2] !== '/') depth += 1;
      if (depth > DEPTH_MAX) throw new AtomError('nested too deeply');
      out.push(mendReferences(text.slice(at, end)));
    }
    at = end;
  }
  return out.join('');
}

function endOf(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  if (found === -1) throw new AtomError('the text ends too early');
  return found + mark.length;
}

function endOfTag(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (character === '>') return at + 1;
    if (character === '"' || character === "'") at = endOf(text, character, at + 1) - 1;
  }
  throw new AtomError('the text ends too early');
}

function mendReferences(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(
    /&(?:#(\d{1,7});|#x([\da-fA-F]{1,6});|[A-Za-z]\w{0,31};)?/g,
    (reference, decimal: string | undefined, hexadecimal: string | undefined) => {
      if (reference === '&') return '&amp;';
      const code = decimal ? Number(decimal) : hexadecimal ? Number.parseInt(hexadecimal, 16) : undefined;
      // A name that HTML does not have is read as it is written.
      if (code === undefined) return quotable(withLibrary().characterOf(reference) ?? reference);
      if (code > 0x10ffff) throw new AtomError('a reference to no character');
      // Resolved here, because the parser reads the numbers 128 to 159 as Windows-1252 characters.
      return quotable(String.fromCodePoint(code));
    },
  );
}

const quotable = (text: string): string => escape(text).replaceAll("'", '&apos;');

type ParsedNode = Record<string, unknown>;

function elementOf(node: ParsedNode, scope: ReadonlyMap<string, string>): Element | string {
  if ('#text' in node) return String(node['#text']);
  const given = Object.entries((node[':@'] ?? {}) as Record<string, string>);
  const attributes = new Map(given.map(([name, value]) => [name, trim(value)]));
  const name = Object.keys(node).find((key) => key !== ':@') ?? '';
  const declared = [...attributes].filter(([key]) => key === 'xmlns' || key.startsWith('xmlns:'));
  const inner =
    declared.length === 0 ? scope : new Map([...scope, ...declared.map(([key, uri]) => [key.slice(6), uri] as const)]);
  const [prefix, local] = name.includes(':') ? (name.split(':', 2) as [string, string]) : ['', name];
  const children = (node[name] as ParsedNode[]).map((child) => elementOf(child, inner));
  return { uri: inner.get(prefix), local, attributes, children };
}

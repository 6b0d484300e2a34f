import { XMLParser, XMLValidator } from 'fast-xml-parser';
import type { Media } from './endpoint.ts';
import type {
  AtomLocation,
  AtomPerson,
  EventDraft,
  EventFeed,
  EventRecord,
  EventType,
  Feed,
  Links,
  PersonFeed,
} from './event.ts';
import { eventTypes } from './event.ts';

/** A document that is not the Atom it should be, or that must not be read; or a text that XML cannot carry. */
export class AtomError extends Error {
  override name = 'AtomError';
}

/** The media that are Atom documents. */
export type AtomMedia = Exclude<Media, 'json' | 'empty'>;

/** Reads a document into the record it stands for; throws AtomError. */
export const readers = {
  event: (text: string): EventRecord => {
    const event = decodeEvent(parse(text, 'entry'));
    if (!event) throw new AtomError('the entry has no id');
    return event;
  },
  eventFeed: (text: string): EventFeed => decodeFeed(parse(text, 'feed'), decodeEvent),
  personFeed: (text: string): PersonFeed => decodeFeed(parse(text, 'feed'), decodePersonEntry),
  eventDraft: (text: string): EventDraft => decodeDraft(parse(text, 'entry')),
  reason: (text: string) => ({ reason: textAt(parse(text, 'entry'), atom, 'content') ?? '' }),
  result: (text: string) => ({ result: textAt(parse(text, 'entry'), atom, 'result') ?? '' }),
} satisfies Record<AtomMedia, (text: string) => object>;

/** Writes a record as a document; throws AtomError where a text holds what XML 1.0 cannot carry. */
export const writers = {
  event: (event: EventRecord) => serialize(encodeEvent(event)),
  eventFeed: (feed: EventFeed) => serialize(encodeFeed(feed, encodeEvent)),
  personFeed: (feed: PersonFeed) => serialize(encodeFeed(feed, encodePersonEntry)),
  eventDraft: (draft: EventDraft) => serialize(encodeDraft(draft)),
  reason: ({ reason }: { reason: string }) => serialize(element('entry', {}, [leaf('content', reason)])),
  result: ({ result }: { result: string }) => serialize(element('entry', {}, [leaf('result', result)])),
};

const atom = 'http://www.w3.org/2005/Atom';
const db = 'http://www.douban.com/xmlns/';
const gd = 'http://schemas.google.com/g/2005';
const opensearch = 'http://a9.com/-/spec/opensearchrss/1.0/';
const georss = 'http://www.georss.org/georss';
const kindScheme = 'http://www.douban.com/2007#kind';
// The term's base is the scheme's without `#kind`.
const kindTerm = 'http://www.douban.com/2007#event.';

/** The category term of a type of event. */
export const termOf = (type: EventType) => kindTerm + type;

/** The type that a category term ends with; undefined for one that nobody has heard of. */
export function typeOf(term: string): EventType | undefined {
  const name = term.slice(term.lastIndexOf('.') + 1);
  const type = name === 'exhibit' ? 'exhibition' : name; // both spellings are on the wire
  return eventTypes.find((known) => known === type);
}

// Reading: elements are found by namespace or, where senders are sloppy with namespaces, merely by local name.

const rels = ['self', 'alternate', 'icon', 'image', 'homepage'] as const;
const attributeNames = ['invite_only', 'can_invite', 'participants', 'wishers', 'status', 'album'] as const;

function decodeEvent(entry: Element): EventRecord | undefined {
  const links = decodeLinks(entry);
  const id = idFrom(textAt(entry, atom, 'id')) ?? idFrom(links.self);
  if (!id) return undefined;
  const author = find(entry, atom, 'author');
  const when = find(entry, gd, 'when');
  const attributes = attributesOf(entry);
  return present({
    id,
    title: textAt(entry, atom, 'title') ?? '',
    term: termAt(entry),
    author: author && decodeAuthor(author),
    links,
    summary: textAt(entry, atom, 'summary'),
    content: textAt(entry, atom, 'content'),
    ...Object.fromEntries(attributeNames.map((name) => [name, attributes.get(name)])),
    location: decodeLocation(entry),
    startTime: when && attribute(when, 'startTime'),
    endTime: when && attribute(when, 'endTime'),
    where: whereAt(entry),
    point: textAt(entry, georss, 'point'),
  });
}

function decodeDraft(entry: Element): EventDraft {
  const when = find(entry, gd, 'when');
  const attributes = attributesOf(entry);
  return present({
    title: textAt(entry, atom, 'title') ?? '',
    term: termAt(entry) ?? '',
    content: textAt(entry, atom, 'content') ?? '',
    invite_only: attributes.get('invite_only'),
    can_invite: attributes.get('can_invite'),
    startTime: (when && attribute(when, 'startTime')) ?? '',
    endTime: (when && attribute(when, 'endTime')) ?? '',
    where: whereAt(entry) ?? '',
  });
}

function decodePersonEntry(entry: Element): AtomPerson | undefined {
  const links = decodeLinks(entry);
  const url = textAt(entry, atom, 'id') ?? links.self;
  const id = idFrom(url) ?? idFrom(links.self);
  if (!id) return undefined;
  return present({
    id,
    uid: textAt(entry, db, 'uid') || undefined,
    name: textAt(entry, atom, 'title'),
    type: personType([url, links.self, links.alternate]),
    content: textAt(entry, atom, 'content'),
    links,
    location: decodeLocation(entry),
  });
}

function decodeAuthor(author: Element): AtomPerson {
  const links = decodeLinks(author);
  const uri = textAt(author, atom, 'uri');
  return present({
    id: idFrom(uri) ?? idFrom(links.self),
    name: textAt(author, atom, 'name'),
    type: personType([uri, links.self, links.alternate]),
    links,
  });
}

function decodeFeed<Entry>(feed: Element, decode: (entry: Element) => Entry | undefined): Feed<Entry> {
  const author = find(feed, atom, 'author');
  return present({
    title: textAt(feed, atom, 'title'),
    author: author && decodeAuthor(author),
    links: decodeLinks(feed),
    startIndex: integerAt(feed, 'startIndex'),
    itemsPerPage: integerAt(feed, 'itemPerPage') ?? integerAt(feed, 'itemsPerPage'),
    totalResults: integerAt(feed, 'totalResults'),
    // One entry that names nothing does not cost the page.
    entries: findAll(feed, atom, 'entry').flatMap((entry) => decode(entry) ?? []),
  });
}

function decodeLinks(parent: Element): Links {
  const links: Links = {};
  for (const link of findAll(parent, atom, 'link')) {
    const named = attribute(link, 'rel') ?? 'alternate'; // Atom's default
    const rel = rels.find((known) => known === named);
    const href = attribute(link, 'href');
    if (rel && href) links[rel] ??= href;
  }
  return links;
}

function decodeLocation(parent: Element): AtomLocation | undefined {
  const location = find(parent, db, 'location');
  if (!location) return undefined;
  const read = present({ id: attribute(location, 'id') || undefined, name: textOf(location) || undefined });
  return read.id || read.name ? read : undefined;
}

function attributesOf(parent: Element): Map<string, string> {
  const read = new Map<string, string>();
  for (const one of findAll(parent, db, 'attribute')) {
    const name = attribute(one, 'name');
    if (name && !read.has(name)) read.set(name, textOf(one));
  }
  return read;
}

function termAt(entry: Element): string | undefined {
  const terms = findAll(entry, atom, 'category').flatMap((category) => attribute(category, 'term') || []);
  return terms.find((term) => term.includes('#event.')) ?? terms[0];
}

function whereAt(entry: Element): string | undefined {
  const where = find(entry, gd, 'where');
  return where && attribute(where, 'valueString');
}

function integerAt(feed: Element, name: string): number | undefined {
  const text = textAt(feed, opensearch, name);
  return text && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/** The last segment of a URL's path. */
function idFrom(url: string | undefined): string | undefined {
  const path = url?.replace(/[?#].*$/s, '');
  return path?.split('/').findLast((segment) => segment !== '');
}

function personType(urls: (string | undefined)[]): AtomPerson['type'] {
  const known = urls.filter((url) => url !== undefined);
  if (known.some((url) => /\/site\/|^https?:\/\/site\./.test(url))) return 'site';
  return known.some((url) => url.includes('/people/')) ? 'user' : undefined;
}

/** The members that are there: an absent element is an absent member, not an undefined one. */
function present<T extends object>(record: T): T {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as T;
}

// Writing: the names, their order and their spelling are the interface's.

function encodeEvent(event: EventRecord): Node {
  const { author, location } = event;
  return element('entry', {}, [
    leaf('id', urlOf(event.id, event.links.self)),
    leaf('title', event.title),
    event.term !== undefined && element('category', { scheme: kindScheme, term: event.term }),
    author && encodeAuthor(author),
    ...encodeLinks(event.links),
    leaf('summary', event.summary),
    leaf('content', event.content),
    ...attributeNames.map((name) => leaf('db:attribute', event[name], { name })),
    location && encodeLocation(location),
    encodeWhen(event),
    event.where !== undefined && element('gd:where', { valueString: event.where }),
    leaf('georss:point', event.point),
  ]);
}

function encodeDraft(draft: EventDraft): Node {
  return element('entry', {}, [
    leaf('title', draft.title),
    element('category', { scheme: kindScheme, term: draft.term }),
    leaf('content', draft.content),
    leaf('db:attribute', draft.invite_only, { name: 'invite_only' }),
    leaf('db:attribute', draft.can_invite, { name: 'can_invite' }),
    encodeWhen(draft),
    element('gd:where', { valueString: draft.where }),
  ]);
}

function encodePersonEntry(person: AtomPerson): Node {
  return element('entry', {}, [
    leaf('id', urlOf(person.id, person.links.self)),
    leaf('title', person.name),
    ...encodeLinks(person.links),
    leaf('content', person.content),
    person.location && encodeLocation(person.location),
    leaf('db:uid', person.uid),
  ]);
}

const encodeAuthor = (author: AtomPerson) =>
  element('author', {}, [
    ...encodeLinks(author.links),
    leaf('name', author.name),
    leaf('uri', urlOf(author.id, author.links.self)),
  ]);

function encodeFeed<Entry>(feed: Feed<Entry>, encode: (entry: Entry) => Node): Node {
  return element('feed', {}, [
    leaf('title', feed.title),
    feed.author && encodeAuthor(feed.author),
    ...encodeLinks(feed.links ?? {}),
    leaf('opensearch:startIndex', feed.startIndex?.toString()),
    leaf('opensearch:itemPerPage', feed.itemsPerPage?.toString()),
    leaf('opensearch:totalResults', feed.totalResults?.toString()),
    ...feed.entries.map(encode),
  ]);
}

const encodeLinks = (links: Links) =>
  rels.map((rel) => links[rel] !== undefined && element('link', { href: links[rel], rel }));

const encodeLocation = ({ id, name }: AtomLocation) => element('db:location', { id }, name === undefined ? [] : [name]);

const encodeWhen = ({ startTime, endTime }: Pick<EventRecord, 'startTime' | 'endTime'>) =>
  (startTime ?? endTime) !== undefined && element('gd:when', { endTime, startTime });

/** The URL that names a record, where its own link is that; else the id alone, which is read as the same. */
const urlOf = (id: string | undefined, self: string | undefined) => (idFrom(self) === id ? self : id);

interface Node {
  name: string;
  attributes: Record<string, string | undefined>;
  /** A string is text, not yet escaped. */
  children: readonly (Node | string)[];
}

const element = (
  name: string,
  attributes: Node['attributes'] = {},
  children: readonly (Node | string | false | undefined)[] = [],
): Node => ({
  name,
  attributes,
  children: children.filter((child) => child !== false && child !== undefined),
});

const leaf = (name: string, text: string | undefined, attributes: Node['attributes'] = {}) =>
  text !== undefined && element(name, attributes, [text]);

const namespaces = {
  xmlns: atom,
  'xmlns:db': db,
  'xmlns:gd': gd,
  'xmlns:opensearch': opensearch,
  'xmlns:georss': georss,
};

function serialize(root: Node): string {
  const out = ['<?xml version="1.0" encoding="UTF-8"?>\n'];
  write({ ...root, attributes: { ...namespaces, ...root.attributes } }, out);
  return out.join('');
}

function write(node: Node, out: string[]): void {
  out.push('<', node.name);
  for (const [name, value] of Object.entries(node.attributes)) {
    if (value !== undefined) out.push(' ', name, '="', escape(value), '"');
  }
  if (node.children.length === 0) return void out.push('/>');
  out.push('>');
  for (const child of node.children) {
    if (typeof child === 'string') out.push(escape(child));
    else write(child, out);
  }
  out.push('</', node.name, '>');
}

const escapes: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  // As they are, a reader makes spaces of the first two inside attributes, and a line feed of the third anywhere.
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};

function escape(text: string): string {
  refuseUnwritable(text);
  return text.replace(/[&<>"\t\n\r]/g, (character) => escapes[character] ?? character);
}

// The characters of XML 1.0; a lone surrogate is none of them.
const unwritable = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

function refuseUnwritable(text: string): void {
  if (unwritable.test(text)) throw new AtomError('a character that XML cannot carry');
}

// Parsing. The parser takes truncated text, HTML and worse without a word, so the text is made plain and checked first.

interface Element {
  uri: string | undefined;
  local: string;
  attributes: Record<string, string>;
  children: (Element | string)[];
}

const DEPTH_MAX = 40;

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false, // 00123 is not 123
  parseAttributeValue: false,
  trimValues: false, // its trim would also take the ideographic space that begins a Chinese paragraph
  jPath: false, // no path is asked for
  htmlEntities: true, // without it, numeric references stay
  // No entity can be declared here, so references cannot grow; the default limit would refuse a long text.
  processEntities: { enabled: true, maxExpandedLength: Infinity, maxTotalExpansions: Infinity },
});

function parse(text: string, root: string): Element {
  const plain = plainMarkup(text);
  if (XMLValidator.validate(plain) !== true) throw new AtomError('not well-formed XML');
  let parsed: ParsedNode[];
  try {
    parsed = parser.parse(plain) as ParsedNode[];
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
 * The same document in elements, attributes and escaped text alone, in one pass over it: comments and instructions left out, CDATA as text, and an
 * ampersand that begins no reference escaped, since senders forget to. Declarations and deep nesting are refused.
 */
function plainMarkup(text: string): string {
  refuseUnwritable(text);
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
    /&(?:#(\d{1,7});|#x([\da-fA-F]{1,6});|[A-Za-z]\w{0,18};)?/g,
    (reference, decimal: string | undefined, hexadecimal: string | undefined) => {
      if (reference === '&') return '&amp;';
      const code = decimal ? Number(decimal) : hexadecimal ? Number.parseInt(hexadecimal, 16) : undefined;
      if (code === undefined) return reference;
      if (code > 0x10ffff) throw new AtomError('a reference to no character');
      // Written out here: the parser reads the numbers 128 to 159 as Windows letters.
      return escape(String.fromCodePoint(code));
    },
  );
}

type ParsedNode = Record<string, unknown>;

function elementOf(node: ParsedNode, scope: ReadonlyMap<string, string>): Element | string {
  if ('#text' in node) return String(node['#text']);
  const attributes = (node[':@'] ?? {}) as Record<string, string>;
  const name = Object.keys(node).find((key) => key !== ':@') ?? '';
  const declared = Object.entries(attributes).filter(([key]) => key === 'xmlns' || key.startsWith('xmlns:'));
  const inner =
    declared.length === 0
      ? scope
      : new Map([...scope, ...declared.map(([key, uri]) => [key.slice(6), trim(uri)] as const)]);
  const [prefix, local] = name.includes(':') ? (name.split(':', 2) as [string, string]) : ['', name];
  const children = (node[name] as ParsedNode[]).map((child) => elementOf(child, inner));
  return { uri: inner.get(prefix), local, attributes, children };
}

const find = (parent: Element, uri: string, local: string) => findAll(parent, uri, local)[0];

function findAll(parent: Element, uri: string, local: string): Element[] {
  const named = parent.children.filter((child) => typeof child === 'object' && child.local === local) as Element[];
  const exact = named.filter((child) => child.uri === uri);
  return exact.length > 0 ? exact : named;
}

function attribute(of: Element, name: string): string | undefined {
  const value = Object.hasOwn(of.attributes, name) ? of.attributes[name] : undefined;
  return value === undefined ? undefined : trim(value);
}

function textAt(parent: Element, uri: string, local: string): string | undefined {
  const found = find(parent, uri, local);
  return found && textOf(found);
}

const textOf = (of: Element) => trim(allText(of));

/** Markup inside a text is read as its text. */
const allText = (of: Element): string =>
  of.children.map((child) => (typeof child === 'string' ? child : allText(child))).join('');

/** Takes XML's own white space off both ends, no other. */
function trim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

const isBlank = (code: number) => code === 32 || (code >= 9 && code <= 13 && code !== 11 && code !== 12);

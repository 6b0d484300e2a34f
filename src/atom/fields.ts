/** Which texts and attributes of a feed, an entry or an author are read, and the field that each one fills. */
import type { AtomLocation, EventRecord, Links } from '../api/event.ts';
import { textOfHtml } from './html-text.ts';
import { isBetterLink, isHtml, isWeb, relOf, resolvedUrl } from './links.ts';
import type { Namespace } from './xml.ts';

/** Values of `name` of the `db:attribute` elements that are read. */
export const attributeNames = ['invite_only', 'can_invite', 'participants', 'wishers', 'status', 'album'] as const;

/**
 * What one feed, entry or author contains, trimmed. A text is undefined if its element or attribute is absent, and '' if that is empty.
 * It is a class so that all have the same members in the same order, which makes access to them fast.
 */
export class AtomFields {
  id?: string;
  title?: string;
  name?: string;
  uri?: string;
  summary?: string;
  content?: string;
  result?: string;
  uid?: string;
  signature?: string;
  point?: string;
  startIndex?: string;
  itemPerPage?: string;
  itemsPerPage?: string;
  totalResults?: string;
  /** The term of a category that names an event type. */
  term?: string;
  scheme?: string;
  otherTerm?: string;
  otherScheme?: string;
  startTime?: string;
  endTime?: string;
  where?: string;
  location?: AtomLocation;
  links?: Links;
  /** The alternate link is in HTML. */
  hasPage?: boolean;
  /** The URL that its relative addresses refer to. */
  base?: string | undefined;
  attributes?: Pick<EventRecord, (typeof attributeNames)[number]>;
  author?: AtomFields;
  entries?: AtomFields[];
}

/** What an element contains. */
export interface Content {
  text: string;
  /** The fields in an element that holds some. */
  inner: AtomFields | undefined;
  /** The values of the attributes that its rule names. */
  readonly values: (string | undefined)[];
}

/** How one element is read. */
export interface ElementRule {
  /** Its local name. */
  readonly name: string;
  readonly namespace: Namespace;
  /** Every field that the element may fill. */
  readonly fields: readonly (keyof AtomFields)[];
  readonly fill: (fields: AtomFields, content: Content) => void;
  /** The attributes that are read, at most four. */
  readonly attributes: readonly string[];
  /** The element holds fields of its own. */
  readonly holds: boolean;
  /** All elements of that name count; otherwise only the first. */
  readonly repeats: boolean;
  /** Position of the element in a bit set. */
  readonly bit: number;
}
type TextField = { [Name in keyof AtomFields]-?: string extends AtomFields[Name] ? Name : never }[keyof AtomFields];
type Rule = Pick<ElementRule, 'namespace' | 'fields' | 'fill'> & Partial<ElementRule>;

/** Rules of elements whose text is a field of the same name. The first that has a text counts. With the attribute `type` it may be in HTML. */
const textRules = (namespace: Namespace, names: TextField[], attributes: string[] = []): Record<string, Rule> =>
  Object.fromEntries(
    names.map((name) => [
      name,
      {
        namespace,
        fields: [name],
        attributes,
        repeats: true,
        fill: (fields, { text, values: [type] }) => void (fields[name] ||= isHtmlText(type) ? textOfHtml(text) : text),
      },
    ]),
  );

const isHtmlText = (type: string | undefined): boolean => type !== undefined && /^(?:text\/)?html\b/i.test(type);

const among = <Name extends string>(names: readonly Name[], name: string) => names.find((each) => each === name);

const rules: Record<string, Rule> = {
  ...textRules('atom', ['id', 'name', 'uri', 'result']),
  ...textRules('atom', ['title', 'summary', 'content'], ['type']),
  ...textRules('db', ['uid', 'signature']),
  ...textRules('georss', ['point']),
  ...textRules('opensearch', ['startIndex', 'itemPerPage', 'itemsPerPage', 'totalResults']),
  // If an attribute or category occurs several times, the first one with a value counts.
  link: {
    namespace: 'atom',
    fields: ['links'],
    attributes: ['rel', 'href', 'type', 'xml:base'],
    repeats: true,
    // The first that leads to a page wins, for the alternate one in HTML.
    fill(fields, { values: [written, href, type, base] }) {
      const rel = relOf(written);
      if (!rel || !href) return;
      const links = (fields.links ??= {});
      const isPage = rel === 'alternate' && isHtml(type) && isWeb(href);
      if (!isBetterLink(href, links[rel]) && !(isPage && !fields.hasPage)) return;
      if (isPage) fields.hasPage = true;
      links[rel] = resolvedUrl(href, resolvedUrl(base, fields.base));
    },
  },
  attribute: {
    namespace: 'db',
    fields: ['attributes'],
    attributes: ['name'],
    repeats: true,
    fill(fields, { text, values: [called = ''] }) {
      const name = among(attributeNames, called);
      if (name) (fields.attributes ??= {})[name] ??= text;
    },
  },
  category: {
    namespace: 'atom',
    fields: ['term', 'scheme', 'otherTerm', 'otherScheme'],
    attributes: ['term', 'scheme'],
    repeats: true,
    fill(fields, { values: [term = '', scheme] }) {
      const isOfEvent = term.includes('#event.');
      fields[isOfEvent ? 'term' : 'otherTerm'] ??= term || undefined;
      fields[isOfEvent ? 'scheme' : 'otherScheme'] ??= scheme || undefined;
    },
  },
  location: {
    namespace: 'db',
    fields: ['location'],
    attributes: ['id'],
    fill(fields, { text: name, values: [id] }) {
      if (id) (fields.location ??= {}).id = id;
      if (name) (fields.location ??= {}).name = name;
    },
  },
  when: {
    namespace: 'gd',
    fields: ['startTime', 'endTime'],
    attributes: ['startTime', 'endTime'],
    repeats: true,
    fill(fields, { values: [startTime, endTime] }) {
      if (fields.startTime || fields.endTime) return;
      fields.startTime = startTime;
      fields.endTime = endTime;
    },
  },
  where: {
    namespace: 'gd',
    fields: ['where'],
    attributes: ['valueString'],
    repeats: true,
    fill(fields, { values: [where] }) {
      fields.where ||= where;
    },
  },
  author: {
    namespace: 'atom',
    fields: ['author'],
    holds: true,
    fill(fields, { inner }) {
      fields.author = inner;
    },
  },
  entry: {
    namespace: 'atom',
    fields: ['entries'],
    holds: true,
    repeats: true,
    fill(fields, { inner }) {
      if (inner) (fields.entries ??= []).push(inner);
    },
  },
};

/** The elements that are read. */
export const elementRules: readonly ElementRule[] = Object.entries(rules).map(([name, rule], at) => ({
  name,
  bit: 1 << at,
  attributes: [],
  holds: false,
  repeats: false,
  ...rule,
}));

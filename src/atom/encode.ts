/** Writes records as documents, with the names, the order and the spelling of the interface. */
import type { AtomLocation, AtomPerson, EventRecord, Feed, Links } from '../api/event.ts';
import { attributeNames } from './fields.ts';
import { rels } from './links.ts';
import { idFrom } from './decode.ts';
import { type Children, element, leaf } from './xml-writer.ts';
import { namespaces } from './xml.ts';

const kindScheme = 'http://www.douban.com/2007#kind';

type PartialEvent = { [Name in keyof EventRecord]?: EventRecord[Name] | undefined } & Pick<EventRecord, 'links'>;

// Each of these writes the children of an entry or a feed.

export function encodeEvent(event: PartialEvent): Children {
  const { author, location } = event;
  return [
    leaf('id', urlOf(event.id, event.links.self)),
    leaf('title', event.title),
    event.term !== undefined && element('category', { scheme: event.scheme ?? kindScheme, term: event.term }),
    author && encodeAuthor(author),
    ...encodeLinks(event.links),
    leaf('summary', event.summary),
    leaf('content', event.content),
    ...attributeNames.map((name) => leaf('db:attribute', event[name], { name })),
    location && encodeLocation(location),
    encodeWhen(event),
    event.where !== undefined && element('gd:where', { valueString: event.where }),
    leaf('georss:point', event.point),
  ];
}

export const encodePersonEntry = (person: AtomPerson): Children => [
  leaf('id', urlOf(person.id, person.links.self)),
  leaf('title', person.name),
  ...encodeLinks(person.links),
  leaf('content', person.content),
  person.location && encodeLocation(person.location),
  leaf('db:uid', person.uid),
  leaf('db:signature', person.signature),
];

export const encodeFeed = <Entry>(feed: Feed<Entry>, encode: (entry: Entry) => Children): Children => [
  leaf('title', feed.title),
  feed.author && encodeAuthor(feed.author),
  ...encodeLinks(feed.links ?? {}),
  leaf('opensearch:startIndex', feed.startIndex?.toString()),
  leaf('opensearch:itemPerPage', feed.itemsPerPage?.toString()),
  leaf('opensearch:totalResults', feed.totalResults?.toString()),
  ...feed.entries.map((entry) => element('entry', {}, encode(entry))),
];

const encodeAuthor = (author: AtomPerson) =>
  element('author', {}, [
    ...encodeLinks(author.links),
    leaf('name', author.name),
    leaf('uri', urlOf(author.id, author.links.self)),
  ]);

const encodeLinks = (links: Links) =>
  rels.map((rel) => links[rel] !== undefined && element('link', { href: links[rel], rel }));

const encodeLocation = ({ id, name }: AtomLocation) =>
  leaf('db:location', name, { id }) || element('db:location', { id });

const encodeWhen = ({ startTime, endTime }: PartialEvent) =>
  (startTime ?? endTime) !== undefined && element('gd:when', { endTime, startTime });

/** The self link if it ends in the id, otherwise the id alone. Readers accept both. */
const urlOf = (id: string | undefined, self: string | undefined) => (idFrom(self) === id ? self : id);

const declarations = {
  xmlns: namespaces.atom,
  'xmlns:db': namespaces.db,
  'xmlns:gd': namespaces.gd,
  'xmlns:opensearch': namespaces.opensearch,
  'xmlns:georss': namespaces.georss,
};

/** A document with this root. */
export const documentOf = (root: 'entry' | 'feed', children: Children): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n${element(root, declarations, children)}`;

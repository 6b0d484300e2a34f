/** Makes records of what was found in a document. What is absent there is absent here: never a member that is undefined. */
import type {
  AtomLocation,
  AtomPerson,
  EventDraft,
  EventFeed,
  EventRecord,
  Feed,
  Links,
  PersonFeed,
} from '../event.ts';
import { type PartName, type Parts, attributeNames, place, rels } from './parts.ts';
import { AtomError } from './xml.ts';

export function decodeEvent(entry: Parts): EventRecord {
  const event = eventOf(entry);
  if (!event) throw new AtomError('the entry has no id');
  return event;
}

export const decodeEventFeed = (feed: Parts): EventFeed => decodeFeed(feed, eventOf);
export const decodePersonFeed = (feed: Parts): PersonFeed => decodeFeed(feed, personOf);
export const decodeReason = ({ texts }: Parts) => ({ reason: texts[place.content] ?? '' });
export const decodeResult = ({ texts }: Parts) => ({ result: texts[place.result] ?? '' });

export function decodeDraft({ texts }: Parts): EventDraft {
  const draft: EventDraft = {
    title: texts[place.title] ?? '',
    term: texts[place.term] ?? '',
    content: texts[place.content] ?? '',
    startTime: texts[place.startTime] ?? '',
    endTime: texts[place.endTime] ?? '',
    where: texts[place.where] ?? '',
  };
  const inviteOnly = texts[place.invite_only];
  const canInvite = texts[place.can_invite];
  if (inviteOnly !== undefined) draft.invite_only = inviteOnly;
  if (canInvite !== undefined) draft.can_invite = canInvite;
  return draft;
}

/** undefined without an id: it names nothing. */
function eventOf({ texts, author }: Parts): EventRecord | undefined {
  const links = linksOf(texts);
  const id = idFrom(texts[place.id]) ?? idFrom(links.self);
  if (!id) return undefined;
  const event: EventRecord = { id, title: texts[place.title] ?? '', links };
  take(texts, eventTexts, event);
  if (author) event.author = authorOf(author);
  const location = locationOf(texts);
  if (location) event.location = location;
  return event;
}
const eventTexts = placed('term', 'summary', 'content', ...attributeNames, 'startTime', 'endTime', 'where', 'point');

function personOf({ texts }: Parts): AtomPerson | undefined {
  const links = linksOf(texts);
  const url = texts[place.id] ?? links.self;
  const id = idFrom(url) ?? idFrom(links.self);
  if (!id) return undefined;
  const person: AtomPerson = { id, links };
  const uid = texts[place.uid];
  const name = texts[place.title];
  const type = personType(url, links);
  const location = locationOf(texts);
  if (uid) person.uid = uid;
  if (name !== undefined) person.name = name;
  if (type) person.type = type;
  take(texts, personTexts, person);
  if (location) person.location = location;
  return person;
}
const personTexts = placed('content');

function authorOf({ texts }: Parts): AtomPerson {
  const links = linksOf(texts);
  const uri = texts[place.uri];
  const id = idFrom(uri) ?? idFrom(links.self);
  const type = personType(uri, links);
  const author: AtomPerson = { links };
  if (id) author.id = id;
  take(texts, authorTexts, author);
  if (type) author.type = type;
  return author;
}
const authorTexts = placed('name');

function decodeFeed<Entry>(feed: Parts, decode: (entry: Parts) => Entry | undefined): Feed<Entry> {
  const { texts, author } = feed;
  const entries: Entry[] = [];
  for (const entry of feed.entries) {
    const record = decode(entry);
    if (record) entries.push(record); // one entry that names nothing does not cost the page
  }
  const decoded: Feed<Entry> = { links: linksOf(texts), entries };
  const startIndex = integer(texts[place.startIndex]);
  const itemsPerPage = integer(texts[place.itemPerPage]) ?? integer(texts[place.itemsPerPage]);
  const totalResults = integer(texts[place.totalResults]);
  take(texts, feedTexts, decoded);
  if (author) decoded.author = authorOf(author);
  if (startIndex !== undefined) decoded.startIndex = startIndex;
  if (itemsPerPage !== undefined) decoded.itemsPerPage = itemsPerPage;
  if (totalResults !== undefined) decoded.totalResults = totalResults;
  return decoded;
}
const feedTexts = placed('title');

/** A member of a record that is called as its part is. */
interface Placed<Name extends PartName> {
  name: Name;
  at: number;
}

function placed<Name extends PartName>(...names: Name[]): readonly Placed<Name>[] {
  return names.map((name) => ({ name, at: place[name] }));
}

function take<Name extends PartName>(
  texts: Parts['texts'],
  members: readonly Placed<Name>[],
  record: Partial<Record<Name, string>>,
): void {
  for (const { name, at } of members) {
    const text = texts[at];
    if (text !== undefined) record[name] = text;
  }
}

function linksOf(texts: Parts['texts']): Links {
  const links: Links = {};
  take(texts, linkTexts, links);
  return links;
}
const linkTexts = placed(...rels);

function locationOf(texts: Parts['texts']): AtomLocation | undefined {
  const id = texts[place.locationId];
  const name = texts[place.location];
  if (id === undefined) return name === undefined ? undefined : { name };
  return name === undefined ? { id } : { id, name };
}

const integer = (text: string | undefined) => (text && /^\d{1,9}$/.test(text) ? Number(text) : undefined);

/** The last segment of a URL's path. */
export function idFrom(url: string | undefined): string | undefined {
  if (url === undefined) return undefined;
  let end = url.includes('?') || url.includes('#') ? url.search(/[?#]/) : url.length;
  while (end > 0 && url[end - 1] === '/') end--;
  return end === 0 ? undefined : url.slice(url.lastIndexOf('/', end - 1) + 1, end);
}

function personType(url: string | undefined, { self, alternate }: Links): AtomPerson['type'] {
  if (isSite(url) || isSite(self) || isSite(alternate)) return 'site';
  return isPerson(url) || isPerson(self) || isPerson(alternate) ? 'user' : undefined;
}

const isSite = (url: string | undefined) => url?.includes('site') && /\/site\/|^https?:\/\/site\./.test(url);
const isPerson = (url: string | undefined) => url?.includes('/people/');

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
import { type Parts, place } from './parts.ts';
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
/** Member by member: to store under a name that varies would cost more than reading the text did. */
function eventOf({ texts, author }: Parts): EventRecord | undefined {
  const links = linksOf(texts);
  const id = idFrom(texts[place.id]) ?? idFrom(links.self);
  if (!id) return undefined;
  const event: EventRecord = { id, title: texts[place.title] ?? '', links };
  const term = texts[place.term];
  const summary = texts[place.summary];
  const content = texts[place.content];
  const inviteOnly = texts[place.invite_only];
  const canInvite = texts[place.can_invite];
  const participants = texts[place.participants];
  const wishers = texts[place.wishers];
  const status = texts[place.status];
  const album = texts[place.album];
  const startTime = texts[place.startTime];
  const endTime = texts[place.endTime];
  const where = texts[place.where];
  const point = texts[place.point];
  if (term !== undefined) event.term = term;
  if (summary !== undefined) event.summary = summary;
  if (content !== undefined) event.content = content;
  if (inviteOnly !== undefined) event.invite_only = inviteOnly;
  if (canInvite !== undefined) event.can_invite = canInvite;
  if (participants !== undefined) event.participants = participants;
  if (wishers !== undefined) event.wishers = wishers;
  if (status !== undefined) event.status = status;
  if (album !== undefined) event.album = album;
  if (startTime !== undefined) event.startTime = startTime;
  if (endTime !== undefined) event.endTime = endTime;
  if (where !== undefined) event.where = where;
  if (point !== undefined) event.point = point;
  if (author) event.author = authorOf(author);
  const location = locationOf(texts);
  if (location) event.location = location;
  return event;
}

function personOf({ texts }: Parts): AtomPerson | undefined {
  const links = linksOf(texts);
  const url = texts[place.id] ?? links.self;
  const id = idFrom(url) ?? idFrom(links.self);
  if (!id) return undefined;
  const person: AtomPerson = { id, links };
  const uid = texts[place.uid];
  const name = texts[place.title];
  const type = personType(url, links);
  const content = texts[place.content];
  const location = locationOf(texts);
  if (uid) person.uid = uid;
  if (name !== undefined) person.name = name;
  if (type) person.type = type;
  if (content !== undefined) person.content = content;
  if (location) person.location = location;
  return person;
}

function authorOf({ texts }: Parts): AtomPerson {
  const links = linksOf(texts);
  const uri = texts[place.uri];
  const id = idFrom(uri) ?? idFrom(links.self);
  const type = personType(uri, links);
  const name = texts[place.name];
  const author: AtomPerson = { links };
  if (id) author.id = id;
  if (name !== undefined) author.name = name;
  if (type) author.type = type;
  return author;
}

function decodeFeed<Entry>(feed: Parts, decode: (entry: Parts) => Entry | undefined): Feed<Entry> {
  const { texts, author } = feed;
  const entries: Entry[] = [];
  for (const entry of feed.entries) {
    const record = decode(entry);
    if (record) entries.push(record); // one entry that names nothing does not cost the page
  }
  const decoded: Feed<Entry> = { links: linksOf(texts), entries };
  const title = texts[place.title];
  const startIndex = integer(texts[place.startIndex]);
  const itemsPerPage = integer(texts[place.itemPerPage]) ?? integer(texts[place.itemsPerPage]);
  const totalResults = integer(texts[place.totalResults]);
  if (title !== undefined) decoded.title = title;
  if (author) decoded.author = authorOf(author);
  if (startIndex !== undefined) decoded.startIndex = startIndex;
  if (itemsPerPage !== undefined) decoded.itemsPerPage = itemsPerPage;
  if (totalResults !== undefined) decoded.totalResults = totalResults;
  return decoded;
}

function linksOf(texts: Parts['texts']): Links {
  const links: Links = {};
  const self = texts[place.self];
  const alternate = texts[place.alternate];
  const icon = texts[place.icon];
  const image = texts[place.image];
  const homepage = texts[place.homepage];
  if (self !== undefined) links.self = self;
  if (alternate !== undefined) links.alternate = alternate;
  if (icon !== undefined) links.icon = icon;
  if (image !== undefined) links.image = image;
  if (homepage !== undefined) links.homepage = homepage;
  return links;
}

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

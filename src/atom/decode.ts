/** Decodes the fields of a document into records. A field that is absent there has no member here, not an undefined one. */
import type {
  AtomLocation,
  AtomPerson,
  EventDraft,
  EventFeed,
  EventRecord,
  Feed,
  Links,
  PersonFeed,
} from '../api/event.ts';
import { type AtomFields, isOfEvent } from './fields.ts';
import { AtomError } from './xml.ts';

export function decodeEvent(entry: AtomFields): EventRecord {
  const event = eventOf(entry);
  if (!event) throw new AtomError('the entry has no id');
  return event;
}
export const decodeEventFeed = (feed: AtomFields): EventFeed => decodeFeed(feed, eventOf);
export const decodePersonFeed = (feed: AtomFields): PersonFeed => decodeFeed(feed, personOf);
export const decodeReason = ({ content = '' }: AtomFields) => ({ reason: content });
export const decodeResult = ({ result = '' }: AtomFields) => ({ result });

export function decodeDraft(fields: AtomFields): EventDraft {
  const { title = '', term = '', content = '', startTime = '', endTime = '', where = '' } = fields;
  const { invite_only, can_invite } = fields;
  return { title, term, content, startTime, endTime, where, ...present({ invite_only, can_invite }) };
}

/** Undefined without an id, because such a record cannot be requested. */
function eventOf(fields: AtomFields): EventRecord | undefined {
  const links = linksOf(fields);
  const id = idFrom(fields.id) ?? idFrom(links.self);
  if (!id) return undefined;
  const { title = '', term, summary, content, album, startTime, endTime, where, point } = fields;
  const { invite_only, can_invite, participants, wishers, status } = fields;
  const scheme = term !== undefined && isOfEvent(term) ? fields.scheme : fields.otherScheme;
  const author = fields.author && authorOf(fields.author);
  const location = locationOf(fields);
  return {
    id,
    title,
    links,
    ...present({ term, scheme, summary, content, invite_only, can_invite, participants, wishers, status, album }),
    ...present({ startTime, endTime, where, point, author, location }),
  };
}

function personOf(fields: AtomFields): AtomPerson | undefined {
  const links = linksOf(fields);
  const url = fields.id ?? links.self;
  const id = idFrom(url) ?? idFrom(links.self);
  if (!id) return undefined;
  const { uid = '', title: name, content } = fields;
  const members = { name, type: personType(url, links), content, location: locationOf(fields) };
  return { id, links, ...(uid === '' ? {} : { uid }), ...present(members) };
}

function authorOf(fields: AtomFields): AtomPerson {
  const links = linksOf(fields);
  const { uri, name } = fields;
  const id = idFrom(uri) ?? idFrom(links.self);
  return { links, ...(id ? { id } : {}), ...present({ name, type: personType(uri, links) }) };
}

function decodeFeed<Entry>(feed: AtomFields, decode: (entry: AtomFields) => Entry | undefined): Feed<Entry> {
  // Skip an entry without an id instead of failing the page.
  const entries = feed.entries.map(decode).filter((entry) => entry !== undefined);
  const { title, itemPerPage, itemsPerPage } = feed;
  const author = feed.author && authorOf(feed.author);
  const numbers = {
    startIndex: integer(feed.startIndex),
    itemsPerPage: integer(itemPerPage) ?? integer(itemsPerPage),
    totalResults: integer(feed.totalResults),
  };
  return { links: linksOf(feed), entries, ...present({ title, author }), ...present(numbers) };
}

const linksOf = ({ self, alternate, icon, image, homepage }: AtomFields): Links =>
  present({ self, alternate, icon, image, homepage });

function locationOf({ locationId: id, location: name }: AtomFields): AtomLocation | undefined {
  return id === undefined && name === undefined ? undefined : present({ id, name });
}

/** The record without its undefined members. */
function present<T extends object>(members: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  const found: { [Name in keyof T]?: Exclude<T[Name], undefined> } = {};
  for (const name in members) if (members[name] !== undefined) found[name] = members[name] as never;
  return found;
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

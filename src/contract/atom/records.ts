/** Makes records of what was found in a document. What is absent there is absent here: never a member that is undefined. */
import type { AtomPerson, EventDraft, EventFeed, EventRecord, Feed, PersonFeed } from '../event.ts';
import { type Parts, attributeNames } from './parts.ts';
import { AtomError } from './xml.ts';

export function decodeEvent(entry: Parts): EventRecord {
  const event = eventOf(entry);
  if (!event) throw new AtomError('the entry has no id');
  return event;
}

export const decodeEventFeed = (feed: Parts): EventFeed => decodeFeed(feed, eventOf);
export const decodePersonFeed = (feed: Parts): PersonFeed => decodeFeed(feed, personOf);
export const decodeReason = ({ content }: Parts) => ({ reason: content ?? '' });
export const decodeResult = ({ result }: Parts) => ({ result: result ?? '' });

export function decodeDraft({ title, term, content, attributes, startTime, endTime, where }: Parts): EventDraft {
  const { invite_only, can_invite } = attributes;
  const draft: EventDraft = {
    title: title ?? '',
    term: term ?? '',
    content: content ?? '',
    startTime: startTime ?? '',
    endTime: endTime ?? '',
    where: where ?? '',
  };
  if (invite_only !== undefined) draft.invite_only = invite_only;
  if (can_invite !== undefined) draft.can_invite = can_invite;
  return draft;
}

/** undefined without an id: it names nothing. */
function eventOf(entry: Parts): EventRecord | undefined {
  const id = idFrom(entry.id) ?? idFrom(entry.links.self);
  if (!id) return undefined;
  const event: EventRecord = { id, title: entry.title ?? '', links: entry.links };
  const { term, author, summary, content, attributes, location, startTime, endTime, where, point } = entry;
  if (term !== undefined) event.term = term;
  if (author) event.author = authorOf(author);
  if (summary !== undefined) event.summary = summary;
  if (content !== undefined) event.content = content;
  for (const name of attributeNames) {
    const value = attributes[name];
    if (value !== undefined) event[name] = value;
  }
  if (location) event.location = location;
  if (startTime !== undefined) event.startTime = startTime;
  if (endTime !== undefined) event.endTime = endTime;
  if (where !== undefined) event.where = where;
  if (point !== undefined) event.point = point;
  return event;
}

function personOf(entry: Parts): AtomPerson | undefined {
  const { links, uid, title, content, location } = entry;
  const url = entry.id ?? links.self;
  const id = idFrom(url) ?? idFrom(links.self);
  if (!id) return undefined;
  const type = personType(url, links);
  const person: AtomPerson = { id, links };
  if (uid) person.uid = uid;
  if (title !== undefined) person.name = title;
  if (type) person.type = type;
  if (content !== undefined) person.content = content;
  if (location) person.location = location;
  return person;
}

function authorOf({ uri, links, name }: Parts): AtomPerson {
  const id = idFrom(uri) ?? idFrom(links.self);
  const type = personType(uri, links);
  const author: AtomPerson = { links };
  if (id) author.id = id;
  if (name !== undefined) author.name = name;
  if (type) author.type = type;
  return author;
}

function decodeFeed<Entry>(feed: Parts, decode: (entry: Parts) => Entry | undefined): Feed<Entry> {
  const entries: Entry[] = [];
  for (const entry of feed.entries) {
    const record = decode(entry);
    if (record) entries.push(record); // one entry that names nothing does not cost the page
  }
  const decoded: Feed<Entry> = { links: feed.links, entries };
  const startIndex = integer(feed.startIndex);
  const itemsPerPage = integer(feed.itemPerPage) ?? integer(feed.itemsPerPage);
  const totalResults = integer(feed.totalResults);
  if (feed.title !== undefined) decoded.title = feed.title;
  if (feed.author) decoded.author = authorOf(feed.author);
  if (startIndex !== undefined) decoded.startIndex = startIndex;
  if (itemsPerPage !== undefined) decoded.itemsPerPage = itemsPerPage;
  if (totalResults !== undefined) decoded.totalResults = totalResults;
  return decoded;
}

const integer = (text: string | undefined) => (text && /^\d{1,9}$/.test(text) ? Number(text) : undefined);

/** The last segment of a URL's path. */
export function idFrom(url: string | undefined): string | undefined {
  if (url === undefined) return undefined;
  let end = url.search(/[?#]/);
  if (end === -1) end = url.length;
  while (end > 0 && url[end - 1] === '/') end--;
  return end === 0 ? undefined : url.slice(url.lastIndexOf('/', end - 1) + 1, end);
}

function personType(url: string | undefined, { self, alternate }: Parts['links']): AtomPerson['type'] {
  if (isSite(url) || isSite(self) || isSite(alternate)) return 'site';
  return isPerson(url) || isPerson(self) || isPerson(alternate) ? 'user' : undefined;
}

const isSite = (url: string | undefined) =>
  url !== undefined && (url.includes('/site/') || url.startsWith('http://site.') || url.startsWith('https://site.'));
const isPerson = (url: string | undefined) => url !== undefined && url.includes('/people/');

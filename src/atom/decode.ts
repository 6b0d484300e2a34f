/** Decodes the fields of a document into records. A field that is absent there has no member here, not an undefined one. */
import { type AtomPerson, type EventRecord, FEED_COUNT_MAX, type Feed, type Links } from '../api/event.ts';
import { present } from '../lib/objects.ts';
import type { AtomFields } from './fields.ts';
import { hasScheme, isWeb } from './links.ts';
import { AtomError } from './xml.ts';

export function decodeEvent(entry: AtomFields): EventRecord {
  const event = eventOf(entry);
  if (!event) throw new AtomError('the entry has no id');
  return event;
}

export function decodeDraft(fields: AtomFields) {
  const { title = '', term = fields.otherTerm ?? '', content = '', startTime = '', endTime = '', where = '' } = fields;
  const { invite_only, can_invite } = fields.attributes ?? {};
  return { title, term, content, startTime, endTime, where, ...present({ invite_only, can_invite }) };
}

/** Undefined without an id, because such a record cannot be requested. */
export function eventOf(fields: AtomFields): EventRecord | undefined {
  const links = fields.links ?? {};
  const id = idOf(fields.id, links.self);
  if (!id) return undefined;
  const { term = fields.otherTerm, summary, content, where, point, location } = fields;
  const { startTime, endTime } = timesOf(fields);
  const scheme = fields.term === undefined ? fields.otherScheme : fields.scheme;
  const author = fields.author && authorOf(fields.author);
  return {
    id,
    title: fields.title ?? '',
    links,
    ...present({ term, scheme, summary, content, startTime, endTime, where, point, author, location }),
    ...fields.attributes,
  };
}

export function atomPersonOf(fields: AtomFields): AtomPerson | undefined {
  const links = fields.links ?? {};
  const url = fields.id ?? links.self;
  const id = idOf(url, links.self);
  if (!id) return undefined;
  const { title: name, content, signature, location } = fields;
  const uid = fields.uid || undefined;
  return { id, links, ...present({ uid, name, type: personType(url, links), content, signature, location }) };
}

function authorOf(fields: AtomFields): AtomPerson {
  const links = fields.links ?? {};
  const { uri, name } = fields;
  const id = idOf(uri, links.self) ?? idOfPage(links.alternate);
  return { links, ...present({ id, name, type: personType(uri, links) }) };
}

/** The id in a URL; that of the self link if the first is the name of the entry only, such as a `urn:`. */
const idOf = (url: string | undefined, self: string | undefined): string | undefined =>
  (url !== undefined && hasScheme(url) && !isWeb(url) ? undefined : idFrom(url)) ?? idFrom(self) ?? idFrom(url);

const day = /^\d{4}-\d{2}-\d{2}$/;
/** A day instead of a time is the whole day, in the zone of the service. */
function timesOf({ startTime, endTime = startTime && day.test(startTime) ? startTime : undefined }: AtomFields) {
  return {
    startTime: startTime && day.test(startTime) ? `${startTime}T00:00:00+08:00` : startTime,
    endTime: endTime && day.test(endTime) ? `${endTime}T24:00:00+08:00` : endTime,
  };
}

/** The id or uid in the URL of the web page of a person or an organisation. */
const idOfPage = (url = ''): string | undefined =>
  /^https?:\/\/(?:[^/?#]+\/(?:people|site|artist)|site\.[^/?#]+)\/([^/?#]+)/.exec(url)?.[1];

export function decodeFeed<Entry>(feed: AtomFields, decode: (entry: AtomFields) => Entry | undefined): Feed<Entry> {
  // An entry without an id is null instead of failing the page, as in a list of JSON: positions stay right.
  const entries = (feed.entries ?? []).map((entry) => decode(entry) ?? null) as Entry[];
  const { title, author, itemPerPage, itemsPerPage } = feed;
  const members = {
    title,
    author: author && authorOf(author),
    startIndex: integer(feed.startIndex),
    itemsPerPage: entries.length < FEED_COUNT_MAX ? (integer(itemPerPage) ?? integer(itemsPerPage)) : FEED_COUNT_MAX,
    totalResults: integer(feed.totalResults),
    next_start: startIn(feed.links?.next),
  };
  return { links: feed.links ?? {}, entries, ...present(members) };
}

const integer = (text: string | undefined) => (text && /^\d{1,9}$/.test(text) ? Number(text) : undefined);

/** The position, from 0, of the page with this URL. Elements are numbered from 1. */
function startIn(url = ''): number | undefined {
  const [, index] = /[?&]start-index=(\d{1,9})(?![^&#])/.exec(url) ?? [];
  return index === undefined ? undefined : Number(index) - 1;
}

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

/** The page of a band, an artist, is like that of an organisation. A person may be called `site` or `artist`. */
const isSite = (url = '') =>
  (url.includes('site') || url.includes('artist')) && /\/(?:site|artist)\/[^/?#]|^https?:\/\/site\./.test(url);
const isPerson = (url: string | undefined) => url?.includes('/people/');

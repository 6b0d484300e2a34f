/** Reads and writes records as Atom documents. Other directories import only this file of `atom/`. */
import { decodeDraft, decodeEvent, decodeFeed, eventOf, atomPersonOf } from './decode.ts';
import { readAtom as read } from './reader.ts';
import { documentOf, encodeEvent, encodeFeed, encodePersonEntry } from './encode.ts';
import type { Media } from '../api/endpoint.ts';
import type { EventDraft, EventFeed, EventRecord, EventType, PersonFeed } from '../api/event.ts';
import { eventTypes } from '../api/event.ts';
import type { DocumentFormat } from '../api/service-descriptor.ts';
import { leaf } from './xml-writer.ts';
import { readableText } from './xml.ts';

export { AtomError, escape, readableText, writableText } from './xml.ts';

/** The media that are Atom documents. */
type AtomMedia = Exclude<Media, 'json' | 'empty'>;

/** Reads a document into a record; throws AtomError. `url`: of the document, for relative links. */
export const readers = {
  event: (document: string, url?: string): EventRecord => decodeEvent(read(document, 'entry', url)),
  eventFeed: (document: string, url?: string): EventFeed => decodeFeed(read(document, 'feed', url), eventOf),
  personFeed: (document: string, url?: string): PersonFeed => decodeFeed(read(document, 'feed', url), atomPersonOf),
  eventDraft: (document: string): EventDraft => decodeDraft(read(document, 'entry')),
  reason: (document: string) => ({ reason: read(document, 'entry').content ?? '' }),
  result: (document: string) => ({ result: read(document, 'entry').result ?? '' }),
} satisfies Record<AtomMedia, (document: string, url?: string) => object>;

/** Writes a record as a document; throws AtomError if a text contains a character that XML 1.0 forbids. */
export const writers = {
  event: (event: EventRecord) => documentOf('entry', encodeEvent(event)),
  eventFeed: (feed: EventFeed) => documentOf('feed', encodeFeed(feed, encodeEvent)),
  personFeed: (feed: PersonFeed) => documentOf('feed', encodeFeed(feed, encodePersonEntry)),
  eventDraft: (draft: EventDraft) => documentOf('entry', encodeEvent({ ...draft, links: {} })),
  reason: ({ reason }: { reason: string }) => documentOf('entry', [leaf('content', reason)]),
  result: ({ result }: { result: string }) => documentOf('entry', [leaf('result', result)]),
};

/** The bodies of the event interface. */
export const atomDocuments: DocumentFormat = {
  contentType: 'application/atom+xml',
  readers,
  writers,
  readable: readableText,
};

// A term begins with the URL of the scheme, without `#kind`.
const kindTerm = 'http://www.douban.com/2007#event.';

/** The category term of a type of event. */
export const termOf = (type: EventType) => kindTerm + type;

/** The type at the end of a category term; undefined for an unknown type. */
export function typeOf(term: string): EventType | undefined {
  const name = term.slice(term.lastIndexOf('.') + 1);
  const type = name === 'exhibit' ? 'exhibition' : name; // the service uses both spellings
  return eventTypes.find((known) => known === type);
}

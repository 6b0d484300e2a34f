/** Atom documents into records and back: the only door to `atom/`, where XML is known. */
import {
  decodeDraft,
  decodeEvent,
  decodeEventFeed,
  decodePersonFeed,
  decodeReason,
  decodeResult,
} from './atom/records.ts';
import { parse } from './atom/parser.ts';
import type { Parts } from './atom/parts.ts';
import { scan } from './atom/scanner.ts';
import {
  encodeDraft,
  encodeEvent,
  encodeFeed,
  encodePersonEntry,
  encodeReason,
  encodeResult,
  serialize,
} from './atom/writer.ts';
import type { Media } from './endpoint.ts';
import type { EventDraft, EventFeed, EventRecord, EventType, PersonFeed } from './event.ts';
import { eventTypes } from './event.ts';

export { AtomError } from './atom/xml.ts';

/** The media that are Atom documents. */
export type AtomMedia = Exclude<Media, 'json' | 'empty'>;

/** Reads a document into the record it stands for; throws AtomError. */
export const readers = {
  event: (text: string): EventRecord => decodeEvent(read(text, 'entry')),
  eventFeed: (text: string): EventFeed => decodeEventFeed(read(text, 'feed')),
  personFeed: (text: string): PersonFeed => decodePersonFeed(read(text, 'feed')),
  eventDraft: (text: string): EventDraft => decodeDraft(read(text, 'entry')),
  reason: (text: string) => decodeReason(read(text, 'entry')),
  result: (text: string) => decodeResult(read(text, 'entry')),
} satisfies Record<AtomMedia, (text: string) => object>;

/** Writes a record as a document; throws AtomError where a text holds what XML 1.0 cannot carry. */
export const writers = {
  event: (event: EventRecord) => serialize(encodeEvent(event)),
  eventFeed: (feed: EventFeed) => serialize(encodeFeed(feed, encodeEvent)),
  personFeed: (feed: PersonFeed) => serialize(encodeFeed(feed, encodePersonEntry)),
  eventDraft: (draft: EventDraft) => serialize(encodeDraft(draft)),
  reason: (body: { reason: string }) => serialize(encodeReason(body)),
  result: (body: { result: string }) => serialize(encodeResult(body)),
};

/** The scanner reads what it is sure of; whatever else comes is the parser's to read or to refuse. */
const read = (text: string, root: 'entry' | 'feed'): Parts => scan(text, root) ?? parse(text, root);

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

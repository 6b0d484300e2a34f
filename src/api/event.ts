import { type FeedWindow, type Representation } from './endpoint.ts';
import {
  byAuthor,
  byOwnId,
  endpoint,
  endpointTable,
  gives,
  givesRecord,
  givesThatRecord,
  takes,
} from './endpoint-table.ts';

/** Types of events: values of the filter of the city feed, and the last part of a category term. */
export const eventTypes = [
  'commonweal',
  'drama',
  'exhibition',
  'film',
  'music',
  'others',
  'party',
  'salon',
  'sports',
  'travel',
] as const;
export type EventType = (typeof eventTypes)[number];
/** Default number of entries in a page of a feed. */
export const FEED_COUNT_DEFAULT = 20;
/** Most entries in a page of a feed: one with so many is full, although it repeats a larger number that was requested. */
export const FEED_COUNT_MAX = 50;

/** Links by their `rel`; only those that are present. */
export interface Links {
  self?: string;
  alternate?: string;
  icon?: string;
  image?: string;
  homepage?: string;
  /** The next page of a feed (RFC 5005). */
  next?: string;
}
export interface AtomLocation {
  /** A pinyin word or a number; may be absent. */
  id?: string;
  name?: string;
}
/** A person: an entry of a participants or wishers feed, or the author of an event or feed. */
export interface AtomPerson {
  /** The last segment of the entry's id, or of the author's uri or self link; absent without any of them. */
  id?: string;
  uid?: string;
  name?: string;
  /** `site` if the links lead to the page of an organisation. */
  type?: 'user' | 'site';
  content?: string;
  signature?: string;
  links: Links;
  location?: AtomLocation;
}
/** An event: the values of its Atom entry, under the names of the entry. */
export interface EventRecord {
  /** The last segment of the entry's id URL. */
  id: string;
  title: string;
  /** The whole term: `{kind base}#event.music`. */
  term?: string;
  /** The scheme of the same category. */
  scheme?: string;
  author?: AtomPerson;
  links: Links;
  summary?: string;
  content?: string;
  /** `yes` or `no`. */
  invite_only?: string;
  can_invite?: string;
  /** Integer texts. */
  participants?: string;
  wishers?: string;
  /** The relation of the authorized user: participant (`participate` from the real service), wish or initiate. */
  status?: string;
  album?: string;
  location?: AtomLocation;
  /** ISO 8601 with an offset. */
  startTime?: string;
  endTime?: string;
  where?: string;
  /** `lat lon` */
  point?: string;
}

export interface Feed<Entry> {
  title?: string;
  author?: AtomPerson;
  links?: Links;
  startIndex?: number;
  /** `itemPerPage` in the specification, `itemsPerPage` from the real service. The first is written, both are read. */
  itemsPerPage?: number;
  totalResults?: number;
  /** The position of the next page, from 0, as in v2 lists; from the link with `rel` next. */
  next_start?: number;
  entries: Entry[];
}
export type EventFeed = Feed<EventRecord>;
export type PersonFeed = Feed<AtomPerson>;

/** The members of an event that a caller can write. */
export interface EventDraft {
  title: string;
  /** The whole term. */
  term: string;
  content: string;
  invite_only?: string | undefined;
  can_invite?: string | undefined;
  startTime: string;
  endTime: string;
  where: string;
}

/** An entry of a city or search feed: all members except the author. */
export const eventInFeed: Representation = { members: 'all', omits: ['author'] };
/** An entry of a person's feed. */
export const eventOfUser: Representation = { members: 'all' };

interface CityQuery extends FeedWindow {
  type?: EventType | 'all' | undefined;
}
interface EventSearch extends FeedWindow {
  q?: string | undefined;
  /** A city's id, or `all`. */
  location: string;
}

const eventFacts = {
  service: 'events',
  group: 'events',
  share: 'anonymous',
  hasFields: false,
  paging: 'start-index',
  absentBy: 'status',
} as const;

const events = { list: 'entries' } as const;

// Keep the columns aligned.
// prettier-ignore
export const eventEndpoints = endpointTable(eventFacts, {
  byId:         endpoint('GET /event/:id',                     null, takes(),             gives<EventRecord>(200, 'event'), { ...byOwnId, freshSeconds: 60 }), // people join all the time
  participants: endpoint('GET /event/:id/participants',        null, takes<FeedWindow>(), gives<PersonFeed>(200, 'personFeed'), events),
  wishers:      endpoint('GET /event/:id/wishers',             null, takes<FeedWindow>(), gives<PersonFeed>(200, 'personFeed'), events),
  ofUser:       endpoint('GET /people/:id/events',             null, takes<FeedWindow>(), gives<EventFeed>(200, 'eventFeed'), events),
  initiated:    endpoint('GET /people/:id/events/initiate',    null, takes<FeedWindow>(), gives<EventFeed>(200, 'eventFeed'), events),
  participated: endpoint('GET /people/:id/events/participate', null, takes<FeedWindow>(), gives<EventFeed>(200, 'eventFeed'), events),
  wished:       endpoint('GET /people/:id/events/wish',        null, takes<FeedWindow>(), gives<EventFeed>(200, 'eventFeed'), events),
  ofCity:       endpoint('GET /event/location/:id',            null, takes<CityQuery>(),  gives<EventFeed>(200, 'eventFeed'), { ...events, freshSeconds: 3600 }), // the city, which is read from its feed
  search:       endpoint('GET /events',                        null, takes<EventSearch>(), gives<EventFeed>(200, 'eventFeed'), events),

  create:       endpoint('POST /events',                       null, takes<EventDraft>('eventDraft'), gives<EventRecord>(201, 'event'), { ...givesRecord, ...byAuthor }),
  join:         endpoint('POST /event/:id/participants',       null, takes(),             gives(201, 'empty')),
  wish:         endpoint('POST /event/:id/wishers',            null, takes(),             gives(201, 'empty')),
  leave:        endpoint('DELETE /event/:id/participants',     null, takes(),             gives(200, 'empty')),
  unwish:       endpoint('DELETE /event/:id/wishers',          null, takes(),             gives(200, 'empty')),
  update:       endpoint('PUT /event/:id',                     null, takes<EventDraft>('eventDraft'), gives<EventRecord>(200, 'event'), { ...givesThatRecord, ...byAuthor }),
  delete:       endpoint('POST /event/:id/delete',             null, takes<{ reason: string }>('reason'), gives<{ result: string }>(200, 'result')),
});

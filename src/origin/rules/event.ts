import { termOf, typeOf } from '../../atom/media.ts';
import {
  type AtomPerson,
  type CityQuery,
  type EventDraft,
  type EventFeed,
  type EventRecord,
  type EventSearch,
  FEED_COUNT_DEFAULT,
  FEED_COUNT_MAX,
  type Feed,
  type EventType,
  type PersonFeed,
} from '../../api/event.ts';
import { firstCharacters, hasMoreThan } from '../../lib/characters.ts';
import type { FeedWindow } from '../../api/endpoint.ts';
import { address } from '../address.ts';
import { drawnUrl } from '../store/drawn-pictures.ts';
import type { CityStore } from '../store/city.ts';
import { instantOf } from '../store/clock.ts';
import type { EventStore, EventText, FeedSpan, Relation, StoredEvent } from '../store/event.ts';
import { type PeopleStore, avatarOf, webPage } from '../store/people.ts';
import type { PersonRow } from '../store/schema.ts';
import { numericId } from './numeric-id.ts';
import { personNamed } from './person.ts';
import { Rejection } from './rejection.ts';

/** What the rules of events need: stores, the person of the token, and the time. */
export interface Town {
  events: EventStore;
  people: PeopleStore;
  cities: CityStore;
  transaction: <T>(work: () => T) => T;
  /** The person of the token; null without a token. */
  viewer: string | null;
  now: number;
}
type Of = { id: string };

/** Not specified: the length of an abstract. */
const ABSTRACT_MAX = 160;

export const event = (town: Town, id: string): EventRecord => single(town, existing(town, id));

export function attendees(town: Town, relation: Relation, { id, ...window }: Of & FeedWindow): PersonFeed {
  const row = existing(town, id);
  const span = spanOf(window);
  const { rows, total } = town.events.people(row.id, relation, span);
  const title = relation === 'participate' ? `要参加 ${row.title} 活动的成员` : `对 ${row.title} 活动感兴趣的成员`;
  return {
    title,
    links: {},
    ...pageFields(span),
    totalResults: total,
    entries: rows.map(personEntry),
  };
}

const personTitles = { any: '的活动', initiate: '发起的活动', participate: '参加的活动', wish: '感兴趣的活动' };

export function eventsOfPerson(
  town: Town,
  relation: keyof typeof personTitles,
  { id, ...window }: Of & FeedWindow,
): EventFeed {
  const person = personNamed(town.people, id);
  const span = spanOf(window);
  const { rows, total } = town.events.ofPerson(person.id, relation, span);
  const feed: Feed<EventRecord> = {
    title: person.name + personTitles[relation],
    author: author(person),
    links: { alternate: `${webPage(person)}events` },
    ...pageFields(span),
    entries: entries(town, rows, true),
  };
  // The feed of initiated events has no total, as in the real service.
  return relation === 'initiate' ? feed : { ...feed, totalResults: total };
}

const typeNames: Record<EventType, string> = {
  commonweal: '公益',
  drama: '戏剧',
  exhibition: '展览',
  film: '电影',
  music: '音乐',
  others: '其他',
  party: '聚会',
  salon: '讲座',
  sports: '体育',
  travel: '旅行',
};

export function eventsOfCity(town: Town, { id, type = 'all', ...window }: Of & CityQuery): EventFeed {
  const city = town.cities.named(id);
  if (!city) throw new Rejection(1001);
  const kind = type === 'all' ? undefined : typeOf(type);
  if (type !== 'all' && !kind) throw new Rejection(999);
  const span = spanOf(window);
  const { rows, total } = town.events.ofCity(city.id, kind, span, town.now);
  const title = `同城 ${city.name} 的 ${kind ? typeNames[kind] : '所有类型'} 活动`;
  const links = { alternate: `https://www.catalog.example/location/${city.id}/events` };
  return { title, links, ...pageFields(span), totalResults: total, entries: entries(town, rows, false) };
}

export function searchEvents(town: Town, { q = '', location, ...window }: EventSearch): EventFeed {
  if (!location) throw new Rejection(1002);
  const city = location === 'all' ? undefined : town.cities.named(location);
  if (location !== 'all' && !city) throw new Rejection(1001);
  const span = spanOf(window);
  const { rows, total } = town.events.search(q, city?.id, span, town.now);
  const title = `同城${city?.name ?? ''}活动搜索 ${q.trim()} 的结果`;
  return { title, links: {}, ...pageFields(span), totalResults: total, entries: entries(town, rows, false) };
}

export function create(town: Town, person_id: string, draft: EventDraft): EventRecord {
  const home = town.people.byId(person_id)?.city_id;
  const city = home ? town.cities.byId(home) : undefined;
  // The city of an event is that of its creator. Without a city, a person cannot create events.
  if (!city) throw new Rejection(1000);
  const text = checked(draft, city.name);
  return town.transaction(() => {
    const counted = { more_participants: 0, more_wishers: 0 };
    const row = town.events.insert({ ...text, person_id, city_id: city.id, point: '', has_image: 0, ...counted });
    town.events.attend(row.id, person_id, 'participate');
    return single(town, row);
  });
}

export function update(town: Town, person: string, { id, ...draft }: Of & EventDraft): EventRecord {
  return town.transaction(() => {
    const row = own(town, person, id);
    if (row.ends_ms < town.now) throw new Rejection(1000);
    town.events.update(row.id, checked(draft, town.cities.byId(row.city_id)?.name ?? ''));
    return event(town, id);
  });
}

export function remove(town: Town, person: string, { id, reason }: Of & { reason: string }): { result: string } {
  return town.transaction(() => {
    const row = own(town, person, id);
    if (reason === '') throw new Rejection(1002);
    town.events.delete(row.id);
    return { result: 'OK' };
  });
}

/** Participation and interest exclude each other: the later one replaces the other. */
export function attend(town: Town, person: string, id: string, relation: Relation): void {
  town.transaction(() => town.events.attend(existing(town, id).id, person, relation));
}

/** Not specified: leaving an event that one has not joined. Nothing changes, and it is not an error. */
export function leaveEvent(town: Town, person: string, id: string, relation: Relation): void {
  town.transaction(() => town.events.leave(existing(town, id).id, person, relation));
}

function existing({ events }: Town, id: string): StoredEvent {
  const row = events.byId(numericId(id));
  if (!row) throw new Rejection(1001);
  return row;
}

function own(town: Town, person: string, id: string): StoredEvent {
  const row = existing(town, id);
  if (row.person_id !== person) throw new Rejection(6002);
  return row;
}

function checked(draft: EventDraft, city: string): EventText {
  const { title, term, content, startTime, endTime, where, invite_only = 'no', can_invite = 'yes' } = draft;
  if ([title, term, content, startTime, endTime, where].includes('')) throw new Rejection(1002);
  const type = typeOf(term);
  const [starts_ms, ends_ms] = [instantOf(startTime), instantOf(endTime)];
  if (!type || starts_ms === null || ends_ms === null || ends_ms < starts_ms) throw new Rejection(999);
  if (![invite_only, can_invite].every((flag) => flag === 'yes' || flag === 'no')) throw new Rejection(999);
  return {
    title,
    type,
    content,
    invite_only: invite_only === 'yes' ? 1 : 0,
    can_invite: can_invite === 'yes' ? 1 : 0,
    starts: startTime,
    ends: endTime,
    starts_ms,
    ends_ms,
    // The place begins with the city, as in the real service.
    place: where === city || where.startsWith(`${city} `) ? where : `${city} ${where}`,
  };
}

/** The first element is number 1; 0 means 1. */
function spanOf({ 'start-index': start = 1, 'max-results': count = FEED_COUNT_DEFAULT }: FeedWindow): FeedSpan {
  return { offset: Math.max(start, 1) - 1, limit: Math.min(count, FEED_COUNT_MAX) };
}

const pageFields = ({ offset, limit }: FeedSpan) => ({ startIndex: offset + 1, itemsPerPage: limit });

function single(town: Town, row: StoredEvent): EventRecord {
  const [record] = entries(town, [row], true);
  if (!record) throw new Error('an event was lost'); // one row in, one entry out
  return record;
}

function entries(town: Town, rows: readonly StoredEvent[], withAuthors: boolean): EventRecord[] {
  if (rows.length === 0) return [];
  const { viewer } = town;
  const ids = rows.map((row) => row.id);
  const headcounts = town.events.headcounts(ids);
  const relations = viewer === null ? undefined : town.events.relationsOf(viewer, ids);
  const authors = withAuthors ? town.people.byIds(rows.map((row) => row.person_id)) : undefined;
  return rows.map((row): EventRecord => {
    const isCreator = viewer === row.person_id;
    const creator = authors?.get(row.person_id);
    const city = town.cities.byId(row.city_id);
    const heads = headcounts.get(row.id);
    const short = abstract(row.content);
    const status = relations && statusOf(relations.get(row.id), isCreator);
    return {
      id: String(row.id),
      title: row.title,
      term: termOf(row.type),
      ...(creator && { author: author(creator) }),
      links: {
        self: address(`/event/${row.id}`),
        alternate: `https://www.catalog.example/event/${row.id}/`,
        ...(row.has_image === 1 && { image: drawnUrl('event', 'large', String(row.id)) }),
      },
      summary: short,
      content: isCreator ? row.content : short,
      invite_only: row.invite_only === 1 ? 'yes' : 'no',
      can_invite: row.can_invite === 1 ? 'yes' : 'no',
      participants: String(row.more_participants + (heads?.participate ?? 0)),
      wishers: String(row.more_wishers + (heads?.wish ?? 0)),
      ...(status && { status }),
      ...(city && { location: { id: city.id, name: city.name } }),
      startTime: row.starts,
      endTime: row.ends,
      where: row.place,
      ...(row.point !== '' && { point: row.point }),
    };
  });
}

/** Not specified: the status of a creator who participates. The real service returns participation. */
function statusOf(relation: Relation | undefined, isCreator: boolean) {
  if (relation === 'participate') return 'participant';
  return relation ?? (isCreator ? 'initiate' : undefined);
}

function abstract(content: string): string {
  return hasMoreThan(content, ABSTRACT_MAX) ? `${firstCharacters(content, ABSTRACT_MAX)}...` : content;
}

function author(person: PersonRow): AtomPerson {
  const { id, uid, name } = person;
  const isSite = person.type === 'site';
  const self = address(isSite ? `/site/${uid}` : `/people/${id}`);
  const alternate = isSite ? `https://site.catalog.example/${uid}/` : webPage(person);
  return { id: isSite ? uid : id, name, links: { self, alternate, icon: avatarOf(person) } };
}

function personEntry(person: PersonRow): AtomPerson {
  const { id, uid, name, intro, homepage, city_id, loc_name } = person;
  return {
    id,
    uid,
    name,
    content: intro,
    links: {
      self: address(`/people/${id}`),
      alternate: webPage(person),
      icon: avatarOf(person),
      ...(homepage !== '' && { homepage }),
    },
    ...(city_id !== null && { location: { id: city_id, name: loc_name } }),
  };
}

import { termOf, typeOf, writableText } from '../../atom/media.ts';
import {
  type AtomPerson,
  type EventDraft,
  type EventRecord,
  FEED_COUNT_DEFAULT,
  FEED_COUNT_MAX,
  type EventType,
  type eventEndpoints,
} from '../../api/event.ts';
import { firstCharacters, hasMoreThan } from '../../lib/text/characters.ts';
import type { FeedWindow } from '../../api/endpoint.ts';
import { address } from '../address.ts';
import { drawnUrl } from '../store/drawn-pictures.ts';
import { instantOf } from '../store/clock.ts';
import type { Slice } from '../store/database/database.ts';
import type { Flag, Person, Relation, Stored } from '../store/database/schema.ts';
import { type Call, type Rule, type Rules, numericId, owned, personOf } from './call.ts';
import { cityNamed } from './city.ts';
import { avatarOf, personNamed, personOfRow, webPage } from './person.ts';
import { Rejection, found } from './rejection.ts';

/** Not specified: the length of an abstract. */
const ABSTRACT_MAX = 160;

export const eventRules = {
  byId: (call, { id }) => entry(call, existing(call, id), true),
  participants: attendees('participate', (title) => `要参加 ${title} 活动的成员`),
  wishers: attendees('wish', (title) => `对 ${title} 活动感兴趣的成员`),
  ofUser: eventsOfPerson('any', '的活动'),
  initiated: eventsOfPerson('initiate', '发起的活动'),
  participated: eventsOfPerson('participate', '参加的活动'),
  wished: eventsOfPerson('wish', '感兴趣的活动'),

  ofCity(call, { id, type = 'all', ...window }) {
    const city = existingCity(call, id);
    const kind = type === 'all' ? undefined : typeOf(type);
    if (type !== 'all' && !kind) throw new Rejection(999);
    const { items, ...page } = call.events.ofCity(city.id, kind, feedSlice(window), call.now);
    const title = `同城 ${city.name} 的 ${kind ? typeNames[kind] : '所有类型'} 活动`;
    const links = { alternate: `https://www.catalog.example/location/${city.id}/events` };
    return { title, links, ...feedPage(page), entries: items.map((row) => entry(call, row, false)) };
  },

  search(call, { q = '', location, ...window }) {
    if (!location) throw new Rejection(1002);
    const city = location === 'all' ? undefined : existingCity(call, location);
    const { items, ...page } = call.events.search(q, city?.id, feedSlice(window), call.now);
    const title = `同城${city?.name ?? ''}活动搜索 ${writableText(q.trim())} 的结果`;
    return { title, links: {}, ...feedPage(page), entries: items.map((row) => entry(call, row, false)) };
  },

  create(call, draft) {
    const person_id = personOf(call);
    // The city of an event is that of its creator. Without a city, a person cannot create events.
    const home = personOfRow(call, { person_id }).city_id;
    const city = found(home === null ? undefined : call.db.find('cities', { id: home }), 1000);
    const ids = { person_id, city_id: city.id };
    const defaults = { point: '', has_image: 0, more_participants: 0, more_wishers: 0 } as const;
    const row = call.db.insert('events', { ...checked(draft, city.name), ...ids, ...defaults });
    call.db.insert('attendances', { event_id: row.id, person_id, relation: 'participate' });
    return entry(call, row, true);
  },

  update(call, { id, ...draft }) {
    const row = own(call, id);
    if (row.ends_ms < call.now) throw new Rejection(1000);
    const changes = checked(draft, cityOf(call, row).name);
    call.db.update('events', { id: row.id }, changes);
    return entry(call, { ...row, ...changes }, true);
  },

  delete(call, { id, reason }) {
    const row = own(call, id);
    if (reason === '') throw new Rejection(1002);
    call.db.remove('events', { id: row.id });
    return { result: 'OK' };
  },

  join: attend('participate'),
  wish: attend('wish'),
  leave: leave('participate'),
  unwish: leave('wish'),
} satisfies Rules<typeof eventEndpoints>;

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

/** The people with this relation to an event. */
function attendees(relation: Relation, titleOf: (title: string) => string): Rule<typeof eventEndpoints.participants> {
  return (call, { id, ...window }) => {
    const row = existing(call, id);
    const { items, ...page } = call.db.list('attendances', { event_id: row.id, relation }, feedSlice(window));
    const people = items.map((attendance) => personEntry(personOfRow(call, attendance)));
    return { title: titleOf(row.title), links: {}, ...feedPage(page), entries: people };
  };
}

function eventsOfPerson(relation: Relation | 'any' | 'initiate', title: string): Rule<typeof eventEndpoints.ofUser> {
  return (call, { id, ...window }) => {
    const person = personNamed(call, id);
    const { items, ...page } = call.events.ofPerson(person.id, relation, feedSlice(window));
    return {
      title: person.name + title,
      author: author(person),
      links: { alternate: `${webPage(person)}events` },
      ...feedPage(page),
      // The feed of initiated events has no total, as in the real service.
      ...(relation === 'initiate' && { totalResults: undefined }),
      entries: items.map((row) => entry(call, row, true)),
    };
  };
}

/** Participation and interest exclude each other: the later one replaces the other. */
function attend(relation: Relation): Rule<typeof eventEndpoints.join> {
  return (call, { id }) => {
    const attendance = { event_id: existing(call, id).id, person_id: personOf(call) };
    if (call.db.find('attendances', attendance)?.relation === relation) return;
    call.db.remove('attendances', attendance);
    call.db.insert('attendances', { ...attendance, relation });
  };
}

/** Not specified: leaving an event that one has not joined. Nothing changes, and it is not an error. */
function leave(relation: Relation): Rule<typeof eventEndpoints.leave> {
  return (call, { id }) =>
    call.db.remove('attendances', { event_id: existing(call, id).id, person_id: personOf(call), relation });
}

const existing = ({ db }: Call, id: string): Stored<'events'> => found(db.find('events', { id: numericId(id) }), 1001);

const existingCity = (call: Call, name: string): Stored<'cities'> => found(cityNamed(call, name), 1001);

const cityOf = ({ db }: Call, { city_id }: Stored<'events'>): Stored<'cities'> => db.find('cities', { id: city_id })!;

const own = (call: Call, id: string): Stored<'events'> => owned(call, existing(call, id), 6002);

function checked(draft: EventDraft, city: string) {
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
    invite_only: yesFlag(invite_only),
    can_invite: yesFlag(can_invite),
    starts: startTime,
    ends: endTime,
    starts_ms,
    ends_ms,
    // The city comes in front of whatever is written, as in the real service.
    place: `${city} ${where}`,
  };
}

const yesFlag = (value: string): Flag => (value === 'yes' ? 1 : 0);

/** The first element is number 1; 0 means 1. */
const feedSlice = ({ 'start-index': start = 1, 'max-results': count = FEED_COUNT_DEFAULT }: FeedWindow): Slice => ({
  start: Math.max(start, 1) - 1,
  count: Math.min(count, FEED_COUNT_MAX),
});

const feedPage = ({ start, count, total }: Slice & { total: number }) => ({
  startIndex: start + 1,
  itemsPerPage: count,
  totalResults: total,
});

function entry(call: Call, row: Stored<'events'>, withAuthor: boolean): EventRecord {
  const { db, reader } = call;
  const isCreator = reader === row.person_id;
  const city = cityOf(call, row);
  const short = abstract(row.content);
  const attendance = reader === null ? undefined : db.find('attendances', { event_id: row.id, person_id: reader });
  const status = statusOf(attendance?.relation, isCreator);
  const attending = (relation: Relation) => db.count('attendances', { event_id: row.id, relation });
  return {
    id: String(row.id),
    title: row.title,
    term: termOf(row.type),
    ...(withAuthor && { author: author(personOfRow(call, row)) }),
    links: {
      self: address(`/event/${row.id}`),
      alternate: `https://www.catalog.example/event/${row.id}/`,
      ...(row.has_image === 1 && { image: drawnUrl('event', 'large', String(row.id)) }),
    },
    summary: short,
    content: isCreator ? row.content : short,
    invite_only: row.invite_only === 1 ? 'yes' : 'no',
    can_invite: row.can_invite === 1 ? 'yes' : 'no',
    participants: String(row.more_participants + attending('participate')),
    wishers: String(row.more_wishers + attending('wish')),
    ...(status && { status }),
    location: { id: city.id, name: city.name },
    startTime: row.starts,
    endTime: row.ends,
    where: row.place,
    ...(row.point !== '' && { point: row.point }),
  };
}

/** Not specified: the status of a creator who participates. The real service returns participation. */
function statusOf(relation: Relation | undefined, isCreator: boolean) {
  if (relation === 'participate') return 'participant';
  return relation ?? (isCreator ? 'initiate' : undefined);
}

function abstract(content: string): string {
  return hasMoreThan(content, ABSTRACT_MAX) ? `${firstCharacters(content, ABSTRACT_MAX)}...` : content;
}

function author(person: Person): AtomPerson {
  const { id, uid, name } = person;
  const isSite = person.type === 'site';
  const self = address(isSite ? `/site/${uid}` : `/people/${id}`);
  const alternate = isSite ? `https://site.catalog.example/${uid}/` : webPage(person);
  return { id: isSite ? uid : id, name, links: { self, alternate, icon: avatarOf(person) } };
}

function personEntry(person: Person): AtomPerson {
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

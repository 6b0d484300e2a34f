import { typeOf } from '../../atom/media.ts';
import { type EventRecord, type Feed, eventEndpoints, eventInFeed } from '../../api/event.ts';
import { builder } from '../../engine/builder.ts';
import {
  asFloat,
  asObject,
  asText,
  asUrl,
  count,
  dateTime,
  flag,
  orNull,
  text,
  textOrNull,
} from '../../engine/values/decode.ts';
import { sourceIdOf } from '../../engine/values/global-id.ts';
import { revisionField } from '../../engine/fields/patch.ts';
import { type FieldBuilder, Node, referenceOf, identity, queryById } from '../../engine/fields/node.ts';
import { connectionOf } from '../../engine/fields/connection.ts';
import type { Page } from '../../engine/values/paging.ts';
import { SEARCH_TEXT_MAX, searchText } from '../types/search.ts';
import { WebPage } from '../types/web-page.ts';
import { viewerRights } from '../caller.ts';
import { Actor, User, actorOf, actorOrNull, author } from '../types/user.ts';
import { isPast, eventPatch } from './event.patch.ts';

export const EventTypeEnum = builder.enumType('EventType', {
  description: 'The type of an event.',
  values: {
    COMMONWEAL: { value: 'commonweal', description: 'For the common good.' },
    DRAMA: { value: 'drama', description: 'Theatre.' },
    EXHIBITION: { value: 'exhibition', description: 'An exhibition. Upstream: `exhibition`, `exhibit`.' },
    FILM: { value: 'film', description: 'A film showing.' },
    MUSIC: { value: 'music', description: 'A concert.' },
    OTHERS: { value: 'others', description: 'Anything else.' },
    PARTY: { value: 'party', description: 'A party.' },
    SALON: { value: 'salon', description: 'A talk or a meeting.' },
    SPORTS: { value: 'sports', description: 'Sports.' },
    TRAVEL: { value: 'travel', description: 'An outing or a journey.' },
  } as const,
});

export const EventRelation = builder.enumType('EventRelation', {
  description: 'The relation of a person to an event.',
  values: {
    INITIATED: { value: 'initiated', description: 'Created the event.' },
    PARTICIPATING: { value: 'participating', description: 'Takes part.' },
    INTERESTED: { value: 'interested', description: 'Is interested.' },
  } as const,
});

const Coordinates = builder.objectRef<{ latitude: number; longitude: number }>('Coordinates').implement({
  description: 'A point on the map, in degrees (WGS 84).',
  fields: (t) => ({
    latitude: t.exposeFloat('latitude', { description: 'From -90 in the south to 90 in the north.' }),
    longitude: t.exposeFloat('longitude', { description: 'From -180 in the west to 180 in the east.' }),
  }),
});

const eventType = orNull(
  EventTypeEnum,
  (term) => typeOf(asText(term)) ?? null,
  'it is not listed here; `typeTerm` contains it',
);
const linkOrNull = (rel: 'image' | 'alternate') =>
  orNull('URL', (links) => asUrl(asObject(links as EventRecord['links'])[rel]));

export const Event = builder.objectRef<EventRecord>('Event').implement({
  description: 'An event in a city.',
  interfaces: [Node, WebPage],
  // The Atom interface has no `fields` parameter: a response contains the whole event.
  record: { endpoint: eventEndpoints.byId, input: (id) => ({ id }) },
  nodeOf: referenceOf,
  fields: (t) => ({
    ...identity(t, 'Event'),
    title: t.reads('title', text, 'The title; empty if the service has none.'),
    summary: t.reads('summary', textOrNull, 'The beginning of the text.'),
    content: t.reads('content', textOrNull, 'The full text if the caller created the event, otherwise the summary.'),
    type: t.reads('term', eventType, 'The type.', { upstream: 'the term of the category' }),
    typeTerm: t.reads(
      'term',
      textOrNull,
      'The type as the service sends it, a text that ends in it: `http://…#event.music`.',
      { upstream: 'the term of the category' },
    ),
    startsAt: t.reads('startTime', dateTime, 'The start.', { upstream: '`gd:when`' }),
    endsAt: t.reads('endTime', dateTime, 'The end.', { upstream: '`gd:when`' }),
    isPast: t.computed({
      type: 'Boolean',
      description: 'Whether `endsAt` is in the past; false if it is unknown. A past event cannot be updated.',
      needs: ['endTime'],
      upstream: false,
      resolve: isPast,
    }),
    place: t.reads('where', textOrNull, 'The place: free text that usually begins with the city.', {
      upstream: '`gd:where`',
    }),
    imageUrl: t.reads('links', linkOrNull('image'), 'The picture of the event.', {
      upstream: 'the link with `rel` image',
    }),
    webUrl: t.reads('links', linkOrNull('alternate'), 'The web page of the event.', {
      upstream: 'the link with `rel` alternate',
    }),
    coordinates: t.reads('point', orNull(Coordinates, coordinatesFrom, 'the service sends none'), 'The coordinates.', {
      upstream: '`georss:point`',
    }),
    inviteOnly: t.reads('invite_only', flag, 'Whether only invited people may take part.'),
    canInvite: t.reads('can_invite', flag, 'Whether participants may invite others.'),
    revision: revisionField(t, eventPatch, [
      'title',
      'content',
      'startTime',
      'endTime',
      'where',
      'invite_only',
      'can_invite',
      'term',
    ]),
    participantsCount: t.reads('participants', count, 'The number of participants.'),
    interestedPeopleCount: t.reads('wishers', count, 'The number of interested people.'),
    organizer: t.reads('author', actorOrNull, 'The person or organisation that created it.', author),
    ...rightsOn(t),
  }),
});

function rightsOn(t: FieldBuilder<EventRecord>) {
  const rights = () =>
    viewerRights(t, {
      thing: 'event',
      needs: ['endTime', 'author'],
      authorOf: ({ author }) => actorOf(author),
      isChangeable: (event) => !isPast(event),
      notes: { update: 'A past event cannot be changed.' },
    });
  return { ...rights(), viewerIsOrganizer: rights().viewerDidAuthor };
}

builder.objectFields(connectionOf(Event), feedFields);
builder.objectFields(connectionOf(User), feedFields);

/** Fields about the feed itself. */
function feedFields<Entry>(t: FieldBuilder<Page<Entry>>) {
  const feedOf = ({ envelope }: Page<Entry>) => envelope as Partial<Feed<unknown>>;
  return {
    title: t.string({
      nullable: true,
      description: 'The title of the feed, in Chinese.',
      nullIf: 'the feed has none',
      needsNoItems: true,
      resolve: (page) => page.title,
    }),
    author: t.field({
      type: Actor,
      nullable: true,
      description: 'The author of the feed: for the events of a person or an organisation, that one.',
      ...author,
      mayBeReference: true,
      nullIf: 'the feed names none',
      needsNoItems: true,
      resolve: (page) => actorOf(feedOf(page).author),
    }),
    webUrl: t.field({
      type: 'URL',
      nullable: true,
      description: 'The web page of the feed.',
      upstream: 'the link with `rel` alternate',
      nullIf: 'the feed has none',
      needsNoItems: true,
      resolve: (page) => asUrl(asObject(feedOf(page).links).alternate),
    }),
  };
}

/** Parses a latitude and a longitude separated by white space or a comma; null for anything else. */
function coordinatesFrom(point: unknown): { latitude: number; longitude: number } | null {
  const [latitude, longitude, ...more] = asText(point)
    .trim()
    .split(/[\s,]+/)
    .map(asFloat);
  const isPoint = latitude != null && longitude != null && more.length === 0;
  return isPoint && Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 ? { latitude, longitude } : null;
}

queryById(Event, eventEndpoints.byId, 'An event by id.', '10504885');

builder.queryField('searchEvents', (t) =>
  t.connection({
    type: Event,
    description: 'Events whose text matches, in one city or in all cities. Without arguments, all events.',
    nullIf: 'the service has no such city',
    args: {
      query: t.arg.string({ description: `Words to search for, at most ${SEARCH_TEXT_MAX} characters (code points).` }),
      cityId: t.arg.id({ description: 'Global or bare id of a city, such as `beijing`; all cities by default.' }),
    },
    endpoint: eventEndpoints.search,
    rareField: 'author',
    input: (_, { query, cityId }) => ({
      q: searchText('query', query),
      location: cityId == null ? 'all' : sourceIdOf('City', cityId, 'cityId'),
    }),
    representation: eventInFeed,
  }),
);

/** The lists that may contain an event with its numbers of participants, and cities, which are read from events. */
export const eventLists = [
  'City',
  ...Object.values(eventEndpoints).flatMap(({ media, path }) => (media === 'eventFeed' ? [path] : [])),
];

/** Everything that contains an event. All event lists, because not every response contains its author and city. */
export const namesOfEvent = (id: string): string[] => [
  `Event:${id}`,
  `/event/${id}`,
  `/event/${id}/participants`,
  `/event/${id}/wishers`,
  ...eventLists,
];

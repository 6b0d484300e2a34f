import { typeOf } from '../../atom/media.ts';
import { type EventRecord, type Feed, eventEndpoints, eventInFeed } from '../../api/event.ts';
import { builder } from '../engine/builder.ts';
import { asFloat, asObject, asText, asUrl, count, dateTime, flag, text, textOrNull } from '../types/decode.ts';
import { sourceIdOf } from '../types/global-id.ts';
import { type FieldBuilder, Node, referenceOf, identity } from '../types/node.ts';
import { connectionOf } from '../types/connection.ts';
import type { Page } from '../types/paging.ts';
import { searchText } from '../types/search.ts';
import { User, atomUser } from '../types/user.ts';

export const EventTypeEnum = builder.enumType('EventType', {
  description: 'What kind of event it is.',
  values: {
    COMMONWEAL: { value: 'commonweal', description: 'For the common good.' },
    DRAMA: { value: 'drama', description: 'Theatre.' },
    EXHIBITION: { value: 'exhibition', description: 'An exhibition, `exhibition` or `exhibit` upstream.' },
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
  description: 'What somebody has to do with an event.',
  values: {
    INITIATED: { value: 'initiated', description: 'Called it into being.' },
    PARTICIPATING: { value: 'participating', description: 'Takes part.' },
    WISHED: { value: 'wished', description: 'Is interested.' },
  } as const,
});

const Coordinates = builder.objectRef<{ latitude: number; longitude: number }>('Coordinates').implement({
  description: 'A point on the map, in degrees (WGS 84).',
  fields: (t) => ({
    latitude: t.exposeFloat('latitude', { description: 'From -90 in the south to 90 in the north.' }),
    longitude: t.exposeFloat('longitude', { description: 'From -180 in the west to 180 in the east.' }),
  }),
});

export const Event = builder.objectRef<EventRecord>('Event').implement({
  description: 'Something happening in a city at a time.',
  interfaces: [Node],
  // Atom takes no `fields`: an event is read whole.
  record: { endpoint: eventEndpoints.byId, input: (id) => ({ id }) },
  nodeOf: referenceOf,
  fields: (t) => ({
    ...identity(t, 'Event'),
    title: t.reads('title', text, 'Empty where the service has none.'),
    summary: t.reads('summary', textOrNull, 'The beginning of its text.'),
    content: t.reads(
      'content',
      textOrNull,
      'The full text for the viewer who initiated it, the summary for everyone else.',
    ),
    type: t.field({
      type: EventTypeEnum,
      nullable: true,
      description: 'Null for a kind that is none of these; `typeTerm` tells it.',
      needs: ['term'],
      resolve: ({ term }) => typeOf(asText(term)) ?? null,
    }),
    typeTerm: t.reads(
      'term',
      textOrNull,
      'The term of its category as sent, ending in its type: `http://…#event.music`.',
    ),
    typeScheme: t.reads(
      'scheme',
      textOrNull,
      'The scheme of its category as sent: `http://…/2007#kind`. Null where the entry has none.',
    ),
    startsAt: t.reads('startTime', dateTime, 'When it begins.'),
    endsAt: t.reads('endTime', dateTime, 'When it ends.'),
    isPast: t.boolean({
      description: 'Whether `endsAt` is over; false where that is not known. Such an event cannot be updated.',
      needs: ['endTime'],
      resolve: ({ endTime }) => Date.parse(dateTime.decode(endTime) ?? '') < Date.now(),
    }),
    place: t.reads('where', textOrNull, 'Free text, the city usually in front.'),
    imageUrl: t.field({
      type: 'URL',
      nullable: true,
      description: 'Its picture.',
      needs: ['links'],
      resolve: ({ links }) => asUrl(asObject(links).image),
    }),
    webUrl: t.field({
      type: 'URL',
      nullable: true,
      description: 'Its page.',
      needs: ['links'],
      resolve: ({ links }) => asUrl(asObject(links).alternate),
    }),
    apiUrl: t.field({
      type: 'URL',
      nullable: true,
      description: 'Its address in the Atom interface, its link with `rel` self.',
      needs: ['links'],
      resolve: ({ links }) => asUrl(asObject(links).self),
    }),
    coordinates: t.field({
      type: Coordinates,
      nullable: true,
      description: 'Where it is on the map, `georss:point` upstream; null where the service gives none.',
      needs: ['point'],
      resolve: ({ point }) => coordinatesFrom(point),
    }),
    inviteOnly: t.reads('invite_only', flag, 'Whether only the invited may take part.'),
    canInvite: t.reads('can_invite', flag, 'Whether those who take part may invite others.'),
    participantsCount: t.reads('participants', count, 'How many take part.'),
    wishersCount: t.reads('wishers', count, 'How many are interested.'),
  }),
});

builder.objectFields(connectionOf(Event), feedFields);
builder.objectFields(connectionOf(User), feedFields);

/** What a feed says of itself. */
function feedFields<Entry>(t: FieldBuilder<Page<Entry>>) {
  const feedOf = ({ envelope }: Page<Entry>) => envelope as Partial<Feed<unknown>>;
  return {
    title: t.string({
      nullable: true,
      description: 'What the service calls this feed, in Chinese; null where it has no title.',
      resolve: (page) => page.title,
    }),
    author: t.field({
      type: User,
      nullable: true,
      description: 'Whose feed it is: told of the events of a person; null for other feeds.',
      resolve: (page) => atomUser(feedOf(page).author),
    }),
    webUrl: t.field({
      type: 'URL',
      nullable: true,
      description: 'The page that shows the same, its link with `rel` alternate; null where the feed has none.',
      resolve: (page) => asUrl(asObject(feedOf(page).links).alternate),
    }),
  };
}

/** Latitude and longitude, parted by white space; null for anything else. */
function coordinatesFrom(point: unknown): { latitude: number; longitude: number } | null {
  const [latitude, longitude, ...more] = asText(point).trim().split(/\s+/).map(asFloat);
  const isPoint = latitude != null && longitude != null && more.length === 0;
  return isPoint && Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 ? { latitude, longitude } : null;
}

builder.queryField('event', (t) =>
  t.call({
    type: Event,
    description: 'The event with this id; null when there is none. `GET /event/{eventID}`',
    args: { id: t.arg.id({ required: true, description: 'The id of the event, global or bare.' }) },
    endpoint: eventEndpoints.byId,
    input: (_, { id }) => ({ id: sourceIdOf('Event', id) }),
    resolve: (event) => event,
  }),
);

builder.queryField('searchEvents', (t) =>
  t.connection({
    type: Event,
    pageSize: 20,
    description:
      'Events whose text matches, in one city or in all of them; without either argument, every event. `GET /events`',
    args: {
      query: t.arg.string({ description: 'Words of the event, at most 1,000 characters (code points).' }),
      cityId: t.arg.id({ description: 'The id of a city, global or bare; without it, every city.' }),
    },
    endpoint: eventEndpoints.search,
    input: (_, { query, cityId }) => ({
      q: searchText('query', query),
      location: cityId == null ? EVERY_CITY : sourceIdOf('City', cityId),
    }),
    representation: eventInFeed,
  }),
);

const EVERY_CITY = 'all';

builder.objectField(Event, 'organizer', (t) =>
  t.field({
    type: User,
    nullable: true,
    description: 'Who initiated it, its `author`; in the feeds of a city or a search this costs one call an item.',
    needs: ['author'],
    resolve: ({ author }) => atomUser(author),
  }),
);

/** The lists that may contain an event with its numbers of participants; and cities, which are read from their events. */
export const eventLists = [
  'City',
  ...[
    eventEndpoints.search,
    eventEndpoints.ofCity,
    eventEndpoints.ofUser,
    eventEndpoints.initiated,
    eventEndpoints.participated,
    eventEndpoints.wished,
  ].map(({ path }) => path),
];

/** Everything that shows an event. All event lists, because not every response names its author and city. */
export const eventPlaces = (id: string): string[] => [
  `Event:${id}`,
  `/event/${id}`,
  `/event/${id}/participants`,
  `/event/${id}/wishers`,
  ...eventLists,
];

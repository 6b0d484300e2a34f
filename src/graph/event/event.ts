import { typeOf } from '../../atom/media.ts';
import { type EventRecord, eventEndpoints, eventInFeed } from '../../api/event.ts';
import { builder } from '../engine/builder.ts';
import { asObject, asText, asUrl, count, dateTime, flag, text, textOrNull } from '../types/decode.ts';
import { sourceIdOf } from '../types/global-id.ts';
import { Node, referenceOf, identity } from '../types/node.ts';
import { connectionOf } from '../types/connection.ts';
import { searchText } from '../types/search.ts';
import { User, atomUser } from '../types/user.ts';

export const EventType = builder.enumType('EventType', {
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
      type: EventType,
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
    inviteOnly: t.reads('invite_only', flag, 'Whether only the invited may take part.'),
    canInvite: t.reads('can_invite', flag, 'Whether those who take part may invite others.'),
    participantsCount: t.reads('participants', count, 'How many take part.'),
    wishersCount: t.reads('wishers', count, 'How many are interested.'),
  }),
});

builder.objectField(connectionOf(Event), 'title', (t) =>
  t.string({
    nullable: true,
    description: 'What the service calls this feed, in Chinese.',
    resolve: (page) => page.title,
  }),
);

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

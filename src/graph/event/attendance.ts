import { type PersonFeed, eventEndpoints, eventOfUser } from '../../api/event.ts';
import { builder } from '../../engine/builder.ts';
import { asItems, asText, siteOrNull, textOrNull } from '../../engine/values/decode.ts';
import { edgeOf } from '../../engine/fields/connection.ts';
import { Organization, User, atomUser, authorOfFeed, personMembers, userEdgeNames } from '../types/user.ts';
import { City, cityAt } from './city.ts';
import { Event, EventRelation } from './event.ts';

/** People by their relation to an event. */
const items = ({ entries }: PersonFeed) => asItems(entries, atomUser);
const people = { type: User, from: ['id' as const], rareField: 'author', items };

builder.objectFields(Event, (t) => ({
  viewerRelation: t.computed({
    type: EventRelation,
    nullable: true,
    description: 'The relation of the caller to the event.',
    nullIf: 'there is none, or the request has no token',
    viewerOnly: true,
    needs: ['status'],
    resolve: ({ status }, _, { viewer }) => (viewer.isLoggedIn ? (relations.get(asText(status).trim()) ?? null) : null),
  }),
  participants: t.connection({
    description: 'The participants, in the order of the service. Costs one call.',
    endpoint: eventEndpoints.participants,
    ...people,
  }),
  interestedPeople: t.connection({
    description: 'The interested people, in the order of the service. Costs one call.',
    endpoint: eventEndpoints.wishers,
    ...people,
  }),
}));

/** What only the lists of an event tell of a person. */
builder.objectFields(edgeOf(User), (t) => {
  const ofItem = (
    member: 'uid' | 'signature' | 'desc' | 'homepage',
    { type, decode }: typeof textOrNull,
    upstream: string,
    description: string,
    nullIf = 'there is none',
  ) =>
    t.field({
      type: type as 'String' | 'URL',
      nullable: true,
      description,
      upstream,
      nullIf,
      resolve: ({ page, index }) => decode(page.items[index]?.[member]),
    });
  const uid = 'The name of the person in URLs, chosen by the person; may equal the id.';
  return {
    uid: ofItem('uid', textOrNull, '`uid`', uid, 'the service names none'),
    signature: ofItem('signature', textOrNull, '`signature`', 'The motto of the person, one line.'),
    bio: ofItem('desc', textOrNull, '`content`', 'The self-description.'),
    homepageUrl: ofItem('homepage', siteOrNull, 'the link with `rel` homepage', 'The web site of the person.'),
    city: t.field({
      type: City,
      nullable: true,
      description: 'The home city, as the person states it.',
      nullIf: 'there is none',
      mayBeReference: true,
      resolve: ({ page, index }) => {
        const { loc_id, loc_name } = page.items[index] ?? {};
        return cityAt({ id: asText(loc_id), name: asText(loc_name) });
      },
    }),
  };
});

builder.objectField(Organization, 'events', (t) =>
  t.connection({
    type: Event,
    description: 'The events of this organisation, in the order of the service. Costs one call.',
    endpoint: eventEndpoints.ofUser,
    from: userEdgeNames,
    input: ({ id }) => ({ id }),
    representation: eventOfUser,
    provides: { members: personMembers, read: authorOfFeed },
  }),
);

builder.objectField(User, 'events', (t) =>
  t.connection({
    type: Event,
    description: 'The events of this person, in the order of the service. Costs one call.',
    args: { relation: t.arg({ type: EventRelation, description: 'Only events with this relation; all by default.' }) },
    endpoint: ({ relation }) => (relation ? byRelation[relation] : eventEndpoints.ofUser),
    endpoints: [eventEndpoints.ofUser, ...Object.values(byRelation)],
    from: userEdgeNames,
    input: ({ id }) => ({ id }),
    representation: eventOfUser,
    provides: { members: personMembers, read: authorOfFeed },
  }),
);

const byRelation = {
  initiated: eventEndpoints.initiated,
  participating: eventEndpoints.participated,
  interested: eventEndpoints.wished,
};

/** `participant` in the specification, `participate` from the real service. */
const relations: ReadonlyMap<string, keyof typeof byRelation> = new Map([
  ['participant', 'participating'],
  ['participate', 'participating'],
  ['wish', 'interested'],
  ['initiate', 'initiated'],
]);

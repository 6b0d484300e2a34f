import { eventEndpoints, eventOfUser } from '../../api/event.ts';
import { builder } from '../../engine/builder.ts';
import { asObjects, asText } from '../../engine/values/decode.ts';
import { User, atomUser, authorOfFeed, personMembers, userEdgeNames } from '../types/user.ts';
import { Event, EventRelation } from './event.ts';

builder.objectFields(Event, (t) => ({
  viewerRelation: t.computed({
    type: EventRelation,
    nullable: true,
    description: 'The relation of the caller to the event, `status` upstream.',
    nullIf: 'there is none, or the request has no token',
    viewerOnly: true,
    needs: ['status'],
    resolve: ({ status }, _, { viewer }) => (viewer.isLoggedIn ? (relations.get(asText(status).trim()) ?? null) : null),
  }),
  participants: t.connection({
    type: User,
    description: 'The participants, in the order of the service. Costs one call: `GET /event/{eventID}/participants`',
    endpoint: eventEndpoints.participants,
    from: ['id'],
    items: ({ entries }) => asObjects(entries).map(atomUser),
  }),
  wishers: t.connection({
    type: User,
    description: 'The interested people, in the order of the service. Costs one call: `GET /event/{eventID}/wishers`',
    endpoint: eventEndpoints.wishers,
    from: ['id'],
    items: ({ entries }) => asObjects(entries).map(atomUser),
  }),
}));

builder.objectField(User, 'events', (t) =>
  t.connection({
    type: Event,
    description:
      'The events of this person or organisation, in the order of the service. ' +
      'Costs one call: `GET /people/{userID}/events`, with `relation` `…/initiate`, `…/participate` or `…/wish`',
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
  wished: eventEndpoints.wished,
};

/** `participant` in the specification, `participate` from the real service. */
const relations: ReadonlyMap<string, keyof typeof byRelation> = new Map([
  ['participant', 'participating'],
  ['participate', 'participating'],
  ['wish', 'wished'],
  ['initiate', 'initiated'],
]);

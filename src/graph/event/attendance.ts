import { eventEndpoints, eventOfUser } from '../../api/event.ts';
import { builder } from '../engine/builder.ts';
import { asObjects, asText } from '../types/decode.ts';
import { User, atomUser, userEdgeNames } from '../types/user.ts';
import { Event, EventRelation } from './event.ts';

builder.objectFields(Event, (t) => ({
  viewerRelation: t.field({
    type: EventRelation,
    nullable: true,
    description: "What the viewer has to do with it, its `status`; null for none, and without the caller's own token.",
    viewerOnly: true,
    needs: ['status'],
    resolve: ({ status }, _, { viewer }) => (viewer.isLoggedIn ? (relations.get(asText(status).trim()) ?? null) : null),
  }),
  participants: t.connection({
    type: User,
    pageSize: 20,
    description: 'Who takes part, in an order of the service, for one call. `GET /event/{eventID}/participants`',
    endpoint: eventEndpoints.participants,
    from: ['id'],
    input: ({ id }) => ({ id }),
    items: ({ entries }) => asObjects(entries).map(atomUser),
  }),
  wishers: t.connection({
    type: User,
    pageSize: 20,
    description: 'Who is interested, in an order of the service, for one call. `GET /event/{eventID}/wishers`',
    endpoint: eventEndpoints.wishers,
    from: ['id'],
    input: ({ id }) => ({ id }),
    items: ({ entries }) => asObjects(entries).map(atomUser),
  }),
}));

builder.objectField(User, 'events', (t) =>
  t.connection({
    type: Event,
    pageSize: 20,
    description:
      'The events that this person or organisation has to do with, for one call; null where the service knows nobody by the id. ' +
      '`GET /people/{userID}/events`, with a relation `…/initiate`, `…/participate` or `…/wish`',
    args: { relation: t.arg({ type: EventRelation, description: 'Only those in this relation; without it, all.' }) },
    endpoint: ({ relation }) => (relation ? byRelation[relation] : eventEndpoints.ofUser),
    from: userEdgeNames,
    input: ({ id }) => ({ id }),
    representation: eventOfUser,
  }),
);

const byRelation = {
  initiated: eventEndpoints.initiated,
  participating: eventEndpoints.participated,
  wished: eventEndpoints.wished,
};

/** `participant` on paper, `participate` in life. */
const relations: ReadonlyMap<string, keyof typeof byRelation> = new Map([
  ['participant', 'participating'],
  ['participate', 'participating'],
  ['wish', 'wished'],
  ['initiate', 'initiated'],
]);

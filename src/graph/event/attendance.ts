import type { Endpoint } from '../../api/endpoint.ts';
import { type EventRecord, eventEndpoints, eventOfUser } from '../../api/event.ts';
import { builder } from '../engine/builder.ts';
import { asObjects, asText } from '../types/decode.ts';
import { sourceIdOf } from '../types/global-id.ts';
import { User, atomUser, isSite, userEdge } from '../types/user.ts';
import { readable } from '../errors/violations.ts';
import type { Write } from '../engine/mutation.ts';
import { Event, EventRelation, eventPlaces } from './event.ts';

builder.objectFields(Event, (t) => ({
  viewerRelation: t.field({
    type: EventRelation,
    nullable: true,
    description: "What the viewer has to do with it, its `status`; null for none, and without the caller's own token.",
    viewerOnly: true,
    needs: ['status'],
    resolve: ({ status }, _, { viewer }) => (viewer.isLoggedIn ? (relations.get(asText(status).trim()) ?? null) : null),
  }),
  participants: t.pages({
    of: User,
    first: 20,
    description: 'Who takes part, in an order of the service, for one call. `GET /event/{eventID}/participants`',
    ask: eventEndpoints.participants,
    from: ['id'],
    input: ({ id }) => ({ id }),
    items: ({ entries }) => asObjects(entries).map(atomUser),
  }),
  wishers: t.pages({
    of: User,
    first: 20,
    description: 'Who is interested, in an order of the service, for one call. `GET /event/{eventID}/wishers`',
    ask: eventEndpoints.wishers,
    from: ['id'],
    input: ({ id }) => ({ id }),
    items: ({ entries }) => asObjects(entries).map(atomUser),
  }),
}));

builder.objectField(User, 'events', (t) =>
  t.pages({
    of: Event,
    first: 20,
    description:
      'The events that this person has to do with, for one call; empty for an organisation, without a call. ' +
      '`GET /people/{userID}/events`, with a relation `…/initiate`, `…/participate` or `…/wish`',
    args: { relation: t.arg({ type: EventRelation, description: 'Only those in this relation; without it, all.' }) },
    ask: ({ relation }) => (relation ? byRelation[relation] : eventEndpoints.ofUser),
    from: userEdge,
    input: ({ id }) => ({ id }),
    none: isSite,
    form: eventOfUser,
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

const attendance = (mutation: string, endpoint: Endpoint<{ id: string }, void>, description: string, does: string) => {
  const name = mutation[0]!.toUpperCase() + mutation.slice(1);
  return {
    endpoint,
    description,
    payload: builder.objectRef<{ event: EventRecord }>(`${name}Payload`).implement({
      description: `What came of \`${mutation}\`.`,
      fields: (t) => ({
        event: t.field({
          type: Event,
          nullable: true,
          description: 'The event, read again where more than its id is selected.',
          resolve: ({ event }) => event,
        }),
      }),
    }),
    input: builder.inputType(`${name}Input`, {
      description: `Which event to ${does}.`,
      fields: (t) => ({ id: t.id({ required: true, description: 'Global or bare id of the event.' }) }),
    }),
    check: ({ id }: { id: string }) => readable('id', () => sourceIdOf('Event', id)),
    run: async (write: Write, input: { id: string }) => {
      const id = sourceIdOf('Event', input.id);
      await write(endpoint, { id });
      return { event: { id } as EventRecord };
    },
    clears: (input: { id: string }) => eventPlaces(sourceIdOf('Event', input.id)),
    codes: { 1001: 'EVENT_NOT_FOUND' } as const,
  };
};

builder.mutationFields((t) => ({
  joinEvent: t.write(
    attendance(
      'joinEvent',
      eventEndpoints.join,
      'Takes part in an event; being interested in it ends with that. `POST /event/{eventID}/participants`',
      'take part in',
    ),
  ),
  leaveEvent: t.write(
    attendance(
      'leaveEvent',
      eventEndpoints.leave,
      'Takes part no more. `DELETE /event/{eventID}/participants`',
      'take part in no more',
    ),
  ),
  addEventInterest: t.write(
    attendance(
      'addEventInterest',
      eventEndpoints.wish,
      'Is interested in an event; taking part in it ends with that. `POST /event/{eventID}/wishers`',
      'be interested in',
    ),
  ),
  removeEventInterest: t.write(
    attendance(
      'removeEventInterest',
      eventEndpoints.unwish,
      'Is interested no more. `DELETE /event/{eventID}/wishers`',
      'be interested in no more',
    ),
  ),
}));

import type { Endpoint } from '../../api/endpoint.ts';
import { type EventRecord, eventEndpoints } from '../../api/event.ts';
import { builder } from '../engine/builder.ts';
import { sourceIdOf } from '../types/global-id.ts';
import { validId } from '../errors/violations.ts';
import type { Write } from '../engine/mutation.ts';
import { Event, eventPlaces } from './event.ts';

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
    check: ({ id }: { id: string }) => validId('id', () => sourceIdOf('Event', id)),
    run: async (write: Write, input: { id: string }) => {
      const id = sourceIdOf('Event', input.id);
      await write(endpoint, { id });
      return { event: { id } as EventRecord };
    },
    invalidates: (input: { id: string }) => eventPlaces(sourceIdOf('Event', input.id)),
    errorCodes: { 1001: 'EVENT_NOT_FOUND' } as const,
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

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
      description: `The result of \`${mutation}\`.`,
      fields: (t) => ({
        event: t.field({
          type: Event,
          nullable: true,
          description: 'The event. Fields other than the id are loaded again.',
          nullIf: 'the service has it no longer',
          resolve: ({ event }) => event,
        }),
      }),
    }),
    input: builder.inputType(`${name}Input`, {
      description: `The event to ${does}.`,
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
      'Makes the caller a participant of an event, no longer only interested. `POST /event/{eventID}/participants`',
      'join',
    ),
  ),
  leaveEvent: t.write(
    attendance(
      'leaveEvent',
      eventEndpoints.leave,
      'Ends the participation of the caller in an event. `DELETE /event/{eventID}/participants`',
      'leave',
    ),
  ),
  addEventInterest: t.write(
    attendance(
      'addEventInterest',
      eventEndpoints.wish,
      'Marks the caller as interested in an event, no longer a participant. `POST /event/{eventID}/wishers`',
      'mark as interesting',
    ),
  ),
  removeEventInterest: t.write(
    attendance(
      'removeEventInterest',
      eventEndpoints.unwish,
      'Ends the interest of the caller in an event. `DELETE /event/{eventID}/wishers`',
      'lose interest in',
    ),
  ),
}));

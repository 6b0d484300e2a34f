import type { Endpoint } from '../../api/endpoint.ts';
import { type EventRecord, eventEndpoints } from '../../api/event.ts';
import { builder } from '../engine/builder.ts';
import type { WriteRun } from '../engine/mutation.ts';
import { idInput } from '../types/write.ts';
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
          description: 'The event. Fields other than the id cost one call.',
          nullIf: 'the service has it no longer',
          resolve: ({ event }) => event,
        }),
      }),
    }),
    input: idInput(`${name}Input`, `The event to ${does}.`, 'event'),
    target: ['id', 'Event'] as const,
    run: async ({ write, id }: WriteRun) => {
      await write(endpoint, { id });
      return { event: { id } as EventRecord };
    },
    invalidates: eventPlaces,
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

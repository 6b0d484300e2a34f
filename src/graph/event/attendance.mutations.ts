import type { Endpoint } from '../../api/endpoint.ts';
import { eventEndpoints } from '../../api/event.ts';
import { mutation } from '../../engine/fields/mutation.ts';
import { changedField } from '../../engine/fields/mutation-payloads.ts';
import { Event, eventPlaces } from './event.ts';

const attendance = (
  name: string,
  {
    endpoint,
    description,
    verb,
  }: {
    endpoint: Endpoint<{ id: string }, void>;
    description: string;
    verb: string;
  },
) =>
  mutation(name, {
    description,
    endpoint,
    target: ['id', 'Event'],
    input: { description: `The event to ${verb}.` },
    payload: {
      description: `The result of \`${name}\`.`,
      fields: (t) => ({ event: changedField(t, Event) }),
    },
    invalidates: eventPlaces,
    errorCodes: { 1001: 'EVENT_NOT_FOUND' },
  });

attendance('joinEvent', {
  endpoint: eventEndpoints.join,
  description: 'Makes the caller a participant of an event.',
  verb: 'join',
});
attendance('leaveEvent', {
  endpoint: eventEndpoints.leave,
  description: 'Ends the participation of the caller in an event.',
  verb: 'leave',
});
attendance('addEventInterest', {
  endpoint: eventEndpoints.wish,
  description: 'Marks the caller as interested in an event.',
  verb: 'mark as interesting',
});
attendance('removeEventInterest', {
  endpoint: eventEndpoints.unwish,
  description: 'Ends the interest of the caller in an event.',
  verb: 'lose interest in',
});

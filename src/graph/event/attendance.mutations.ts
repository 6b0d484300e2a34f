import type { Endpoint } from '../../api/endpoint.ts';
import { eventEndpoints } from '../../api/event.ts';
import type { WriteRule } from '../../upstream/write-guard.ts';
import { mutation } from '../../engine/fields/mutation.ts';
import { changedField } from '../../engine/fields/mutation-payloads.ts';
import { eventWrites } from './event.settling.ts';
import { Event, eventPlaces } from './event.ts';

const attendance = (
  name: string,
  {
    endpoint,
    settling,
    description,
    verb,
  }: {
    endpoint: Endpoint<{ id: string }, void>;
    settling: WriteRule<{ id: string }>;
    description: string;
    verb: string;
  },
) =>
  mutation(name, {
    description,
    endpoint,
    settling,
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
  settling: eventWrites.join,
  description: 'Makes the caller a participant of an event.',
  verb: 'join',
});
attendance('leaveEvent', {
  endpoint: eventEndpoints.leave,
  settling: eventWrites.leave,
  description: 'Ends the participation of the caller in an event.',
  verb: 'leave',
});
attendance('addEventInterest', {
  endpoint: eventEndpoints.wish,
  settling: eventWrites.wish,
  description: 'Marks the caller as interested in an event.',
  verb: 'mark as interesting',
});
attendance('removeEventInterest', {
  endpoint: eventEndpoints.unwish,
  settling: eventWrites.unwish,
  description: 'Ends the interest of the caller in an event.',
  verb: 'lose interest in',
});

import type { Endpoint } from '../../api/endpoint.ts';
import { eventEndpoints } from '../../api/event.ts';
import { mutation } from '../../engine/fields/mutation.ts';
import { changedField } from '../../engine/fields/mutation-payloads.ts';
import { Event, namesOfEvent } from './event.ts';

const attendance = (name: string, endpoint: Endpoint<{ id: string }, void>, description: string, verb: string) =>
  mutation(name, {
    description,
    endpoint,
    target: ['id', 'Event'],
    input: { description: `The event to ${verb}.` },
    payload: {
      description: `The result of \`${name}\`.`,
      fields: (t) => ({ event: changedField(t, Event) }),
    },
    invalidates: namesOfEvent,
    errorCodes: { 1001: 'EVENT_NOT_FOUND' },
  });

const { join, leave, wish, unwish } = eventEndpoints;
attendance('joinEvent', join, 'Makes the caller a participant of an event.', 'join');
attendance('leaveEvent', leave, 'Ends the participation of the caller in an event.', 'leave');
attendance('addEventInterest', wish, 'Marks the caller as interested in an event.', 'mark as interesting');
attendance('removeEventInterest', unwish, 'Ends the interest of the caller in an event.', 'lose interest in');

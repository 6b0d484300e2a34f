import type { Endpoint } from '../../api/endpoint.ts';
import { eventEndpoints } from '../../api/event.ts';
import type { WriteRule } from '../../upstream/write-guard.ts';
import { mutation } from '../../engine/fields/mutation.ts';
import { changedField } from '../../engine/fields/mutation-payloads.ts';
import { attendanceSettling } from './event.settling.ts';
import { Event, eventPlaces } from './event.ts';

const attendance = (
  name: string,
  [endpoint, settling]: readonly [Endpoint<{ id: string }, void>, WriteRule<{ id: string }>],
  description: string,
  does: string,
) =>
  mutation(name, {
    description,
    endpoint,
    settling,
    target: ['id', 'Event'],
    input: { description: `The event to ${does}.` },
    payload: {
      description: `The result of \`${name}\`.`,
      fields: (t) => ({ event: changedField(t, Event) }),
    },
    invalidates: eventPlaces,
    errorCodes: { 1001: 'EVENT_NOT_FOUND' },
  });

attendance(
  'joinEvent',
  [eventEndpoints.join, attendanceSettling.join],
  'Makes the caller a participant of an event, no longer only interested. `POST /event/{eventID}/participants`',
  'join',
);
attendance(
  'leaveEvent',
  [eventEndpoints.leave, attendanceSettling.leave],
  'Ends the participation of the caller in an event. `DELETE /event/{eventID}/participants`',
  'leave',
);
attendance(
  'addEventInterest',
  [eventEndpoints.wish, attendanceSettling.wish],
  'Marks the caller as interested in an event, no longer a participant. `POST /event/{eventID}/wishers`',
  'mark as interesting',
);
attendance(
  'removeEventInterest',
  [eventEndpoints.unwish, attendanceSettling.unwish],
  'Ends the interest of the caller in an event. `DELETE /event/{eventID}/wishers`',
  'lose interest in',
);

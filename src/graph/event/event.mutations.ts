import { AtomError, termOf, writers } from '../../atom/media.ts';
import { type EventDraft, eventEndpoints } from '../../api/event.ts';
import { type InputBuilder, builder } from '../engine/builder.ts';
import { globalId } from '../types/global-id.ts';
import { type Violation, invalidIf, required } from '../errors/violations.ts';
import { deletionPayload, recordPayload } from '../types/write.ts';
import { Event, EventTypeEnum, eventLists, eventPlaces } from './event.ts';

const CreateEventInput = builder.inputType('CreateEventInput', {
  description: 'The event to create in the city of the caller. Callers without a city cannot create events.',
  fields: (t) => ({
    title: t.string({ required: true, description: 'The title, not empty.' }),
    type: t.field({ type: EventTypeEnum, required: true, description: 'The type of the event.' }),
    ...eventFields(t),
  }),
});
const UpdateEventInput = builder.inputType('UpdateEventInput', {
  description: 'The new values of an event. REPLACES all of it: flags left out get their defaults.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Global or bare id of the event.' }),
    title: t.string({ required: true, description: 'The title, not empty.' }),
    type: t.field({
      type: EventTypeEnum,
      description: 'The type of the event. Either this or `typeTerm` is required.',
    }),
    typeTerm: t.string({
      description: 'The term of the category from `Event.typeTerm`, for a type that `EventType` does not contain.',
    }),
    ...eventFields(t),
  }),
});
const DeleteEventInput = builder.inputType('DeleteEventInput', {
  description: 'The event to delete, and the reason.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Global or bare id of the event.' }),
    reason: t.string({
      required: true,
      description: 'The reason, sent to the people who wanted to take part; not empty.',
    }),
  }),
});

function eventFields(t: InputBuilder) {
  return {
    content: t.string({ required: true, description: 'The whole text, not empty.' }),
    startsAt: t.field({ type: 'DateTime', required: true, description: 'The start.' }),
    endsAt: t.field({ type: 'DateTime', required: true, description: 'The end, not before the start.' }),
    place: t.string({
      required: true,
      description: 'The place, free text, not empty. The service adds the city in front.',
    }),
    inviteOnly: t.boolean({ defaultValue: false, description: 'Whether only invited people may take part.' }),
    canInvite: t.boolean({ defaultValue: true, description: 'Whether participants may invite others.' }),
  };
}

builder.mutationFields((t) => ({
  createEvent: t.write({
    endpoint: eventEndpoints.create,
    payload: recordPayload('CreateEventPayload', 'The new event.', 'event', Event),
    input: CreateEventInput,
    description: 'Creates an event in the city of the caller. `POST /events`',
    check: eventBroken,
    run: async ({ write }, input) => ({ event: await write(eventEndpoints.create, draftOf(input)) }),
    invalidates: () => eventLists,
    errorCodes: { 1000: 'NO_CITY' },
  }),
  updateEvent: t.write({
    endpoint: eventEndpoints.update,
    payload: recordPayload('UpdateEventPayload', 'The updated event.', 'event', Event),
    input: UpdateEventInput,
    target: ['id', 'Event'],
    description: 'REPLACES an event of the caller that is not over. `PUT /event/{eventID}`',
    check: (input) => [
      invalidIf(!input.type && !input.typeTerm?.trim(), 'type', 'MISSING_ARGUMENT'),
      ...eventBroken(input),
    ],
    run: async ({ write, id }, input) => ({ event: await write(eventEndpoints.update, { id, ...draftOf(input) }) }),
    invalidates: eventPlaces,
    errorCodes: { 1000: 'EVENT_EXPIRED', 1001: 'EVENT_NOT_FOUND' },
  }),
  deleteEvent: t.write({
    endpoint: eventEndpoints.delete,
    payload: deletionPayload('Event', 'event'),
    input: DeleteEventInput,
    target: ['id', 'Event'],
    description: 'Deletes an event of the caller, with a reason. `POST /event/{eventID}/delete`',
    check: ({ reason }) => [required('reason', reason), ...writable({ reason })],
    run: async ({ write, id }, { reason }) => {
      await write(eventEndpoints.delete, { id, reason });
      return { deletedId: globalId('Event', id) };
    },
    invalidates: eventPlaces,
    errorCodes: { 1001: 'EVENT_NOT_FOUND' },
  }),
}));

type EventInput = Omit<typeof UpdateEventInput.$inferInput, 'id'>;

function eventBroken({ title, typeTerm, content, startsAt, endsAt, place }: EventInput): (Violation | undefined)[] {
  return [
    required('title', title),
    required('content', content),
    required('place', place),
    invalidIf(Date.parse(endsAt) < Date.parse(startsAt), 'endsAt', 'EVENT_TIMES', { actual: endsAt }),
    ...writable({ title, typeTerm, content, place }),
  ];
}

/** Checks that an Atom entry can contain the texts. */
function writable(texts: Readonly<Record<string, string | null | undefined>>): Violation[] {
  return Object.entries(texts).flatMap(([field, text]) => {
    try {
      writers.reason({ reason: text ?? '' });
      return [];
    } catch (error) {
      if (error instanceof AtomError) return [{ path: ['input', field], code: 'INVALID_TEXT' }];
      throw error;
    }
  });
}

const draftOf = ({ title, type, typeTerm, content, startsAt, endsAt, place, ...flags }: EventInput): EventDraft => ({
  title,
  term: type ? termOf(type) : (typeTerm ?? ''),
  content,
  invite_only: yesOrNo(flags.inviteOnly ?? false),
  can_invite: yesOrNo(flags.canInvite ?? true),
  startTime: startsAt,
  endTime: endsAt,
  where: place,
});

const yesOrNo = (flag: boolean): string => (flag ? 'yes' : 'no');

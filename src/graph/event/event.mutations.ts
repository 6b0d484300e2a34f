import { AtomError, termOf, writers } from '../../atom/media.ts';
import { type EventDraft, type EventRecord, type EventType as WireType, eventEndpoints } from '../../api/event.ts';
import { type InputBuilder, builder } from '../engine/builder.ts';
import { globalId, sourceIdOf } from '../types/global-id.ts';
import { type Violation, invalidIf, required, validId } from '../errors/violations.ts';
import '../engine/mutation.ts';
import { Event, EventTypeEnum, eventLists, eventPlaces } from './event.ts';

const CreateEventInput = builder.inputType('CreateEventInput', {
  description: 'An event in the city of the caller; who lives in none can create none.',
  fields: (t) => ({
    title: t.string({ required: true, description: 'Not empty.' }),
    type: t.field({ type: EventTypeEnum, required: true, description: 'What kind of event it is.' }),
    ...eventFields(t),
  }),
});
const UpdateEventInput = builder.inputType('UpdateEventInput', {
  description: 'An event as it shall be. REPLACES the whole of it: flags left out take their defaults.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Global or bare id of the event.' }),
    title: t.string({ required: true, description: 'Not empty.' }),
    type: t.field({ type: EventTypeEnum, description: 'What kind of event it is. This or `typeTerm` is needed.' }),
    typeTerm: t.string({
      description: 'The term of its category as `Event.typeTerm` told it, for a kind that `type` has no name for.',
    }),
    ...eventFields(t),
  }),
});
const DeleteEventInput = builder.inputType('DeleteEventInput', {
  description: 'Which event to delete, and why.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Global or bare id of the event.' }),
    reason: t.string({ required: true, description: 'Told to those who wanted to come; not empty.' }),
  }),
});

function eventFields(t: InputBuilder) {
  return {
    content: t.string({ required: true, description: 'The whole text, not empty.' }),
    startsAt: t.field({ type: 'DateTime', required: true, description: 'When it begins.' }),
    endsAt: t.field({ type: 'DateTime', required: true, description: 'When it ends, not before it begins.' }),
    place: t.string({ required: true, description: 'Free text, not empty; the service puts the city in front.' }),
    inviteOnly: t.boolean({ defaultValue: false, description: 'Whether only the invited may take part.' }),
    canInvite: t.boolean({ defaultValue: true, description: 'Whether those who take part may invite others.' }),
  };
}

const eventPayload = (name: string, description: string) =>
  builder.objectRef<{ event: EventRecord }>(name).implement({
    description,
    fields: (t) => ({
      event: t.field({
        type: Event,
        nullable: true,
        description: 'The event, as the service answered.',
        resolve: ({ event }) => event,
      }),
    }),
  });
const CreateEventPayload = eventPayload('CreateEventPayload', 'The new event.');
const UpdateEventPayload = eventPayload('UpdateEventPayload', 'The event as it is now.');
const DeleteEventPayload = builder.objectRef<{ deletedId: string }>('DeleteEventPayload').implement({
  description: 'What is left of it.',
  fields: (t) => ({ deletedId: t.exposeID('deletedId', { description: 'The global id that it had.' }) }),
});

builder.mutationFields((t) => ({
  createEvent: t.write({
    endpoint: eventEndpoints.create,
    payload: CreateEventPayload,
    input: CreateEventInput,
    description: 'Creates an event in the city of the caller. `POST /events`',
    check: eventBroken,
    run: async (write, input) => ({ event: await write(eventEndpoints.create, draftOf(input)) }),
    invalidates: () => eventLists,
    errorCodes: { 1000: 'NO_CITY' },
  }),
  updateEvent: t.write({
    endpoint: eventEndpoints.update,
    payload: UpdateEventPayload,
    input: UpdateEventInput,
    description: 'REPLACES an event of the caller that is not over. `PUT /event/{eventID}`',
    check: (input) => [
      ...validId('id', () => sourceIdOf('Event', input.id)),
      ...invalidIf(!input.type && !input.typeTerm?.trim(), { path: ['input', 'type'], code: 'MISSING_ARGUMENT' }),
      ...eventBroken(input),
    ],
    run: async (write, input) => {
      const id = sourceIdOf('Event', input.id);
      return { event: await write(eventEndpoints.update, { id, ...draftOf(input) }) };
    },
    invalidates: ({ id }) => eventPlaces(sourceIdOf('Event', id)),
    errorCodes: { 1000: 'EVENT_EXPIRED', 1001: 'EVENT_NOT_FOUND' },
  }),
  deleteEvent: t.write({
    endpoint: eventEndpoints.delete,
    payload: DeleteEventPayload,
    input: DeleteEventInput,
    description: 'Deletes an event of the caller, and says why. `POST /event/{eventID}/delete`',
    check: ({ id, reason }) => [
      ...validId('id', () => sourceIdOf('Event', id)),
      ...required('reason', reason),
      ...writable({ reason }),
    ],
    run: async (write, input) => {
      const id = sourceIdOf('Event', input.id);
      await write(eventEndpoints.delete, { id, reason: input.reason });
      return { deletedId: globalId('Event', id) };
    },
    invalidates: ({ id }) => eventPlaces(sourceIdOf('Event', id)),
    errorCodes: { 1001: 'EVENT_NOT_FOUND' },
  }),
}));

interface EventInput {
  title: string;
  type?: WireType | null | undefined;
  typeTerm?: string | null | undefined;
  content: string;
  startsAt: string;
  endsAt: string;
  place: string;
  inviteOnly?: boolean | null | undefined;
  canInvite?: boolean | null | undefined;
}

function eventBroken({ title, typeTerm, content, startsAt, endsAt, place }: EventInput): Violation[] {
  return [
    ...required('title', title),
    ...required('content', content),
    ...required('place', place),
    ...invalidIf(Date.parse(endsAt) < Date.parse(startsAt), {
      path: ['input', 'endsAt'],
      code: 'EVENT_TIMES',
      actual: endsAt,
    }),
    ...writable({ title, typeTerm, content, place }),
  ];
}

/** Texts that an Atom entry can carry. */
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

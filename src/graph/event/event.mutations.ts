import { AtomError, termOf, writers } from '../../atom/media.ts';
import { type EventDraft, type EventRecord, type EventType as WireType, eventEndpoints } from '../../api/event.ts';
import { type InputBuilder, builder } from '../engine/builder.ts';
import { globalId, sourceIdOf } from '../types/global-id.ts';
import { type Violation, invalidIf, required, validId } from '../errors/violations.ts';
import '../engine/mutation.ts';
import { Event, EventTypeEnum, eventLists, eventPlaces } from './event.ts';

const CreateEventInput = builder.inputType('CreateEventInput', {
  description: 'The event to create in the city of the caller. Callers without a city cannot create events.',
  fields: (t) => ({
    title: t.string({ required: true, description: 'Not empty.' }),
    type: t.field({ type: EventTypeEnum, required: true, description: 'The type of the event.' }),
    ...eventFields(t),
  }),
});
const UpdateEventInput = builder.inputType('UpdateEventInput', {
  description: 'The new values of an event. REPLACES all of it: flags left out get their defaults.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Global or bare id of the event.' }),
    title: t.string({ required: true, description: 'Not empty.' }),
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

const eventPayload = (name: string, description: string) =>
  builder.objectRef<{ event: EventRecord }>(name).implement({
    description,
    fields: (t) => ({
      event: t.field({
        type: Event,
        nullable: true,
        description: 'The event in the response of the service.',
        nullIf: false,
        resolve: ({ event }) => event,
      }),
    }),
  });
const CreateEventPayload = eventPayload('CreateEventPayload', 'The new event.');
const UpdateEventPayload = eventPayload('UpdateEventPayload', 'The updated event.');
const DeleteEventPayload = builder.objectRef<{ deletedId: string }>('DeleteEventPayload').implement({
  description: 'The result of deleting an event.',
  fields: (t) => ({ deletedId: t.exposeID('deletedId', { description: 'The global id of the deleted event.' }) }),
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
    description: 'Deletes an event of the caller, with a reason. `POST /event/{eventID}/delete`',
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

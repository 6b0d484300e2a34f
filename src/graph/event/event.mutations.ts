import { AtomError, writers } from '../../atom/media.ts';
import { type EventDraft, type EventType, eventEndpoints } from '../../api/event.ts';
import type { InputBuilder } from '../../engine/builder.ts';
import { changeMutations } from '../../engine/fields/change.ts';
import { type ValuesOf, mutation } from '../../engine/fields/mutation.ts';
import { type Violation, invalidIf, required } from '../../engine/errors/violations.ts';
import { deletionPayload, recordPayload } from '../../engine/fields/mutation-payloads.ts';
import { formerOwner } from '../caller.ts';
import { Event, EventTypeEnum, eventLists, namesOfEvent } from './event.ts';
import { isTerm, eventPatch, termIn } from './event.patch.ts';

const eventFields = (t: InputBuilder, isWhole: true) => ({
  title: t.string({ required: isWhole, description: 'The title, not empty.' }),
  content: t.string({ required: isWhole, description: 'The whole text, not empty.' }),
  startsAt: t.field({ type: 'DateTime', required: isWhole, description: 'The start.' }),
  endsAt: t.field({ type: 'DateTime', required: isWhole, description: 'The end, not before the start.' }),
  place: t.string({
    required: isWhole,
    description: 'The place, free text, not empty. The service adds the city in front.',
  }),
});

const INVITE_ONLY = 'Whether only invited people may take part.';
const CAN_INVITE = 'Whether participants may invite others.';

mutation('createEvent', {
  description: 'Creates an event in the city of the caller.',
  endpoint: eventEndpoints.create,
  input: {
    description: 'The event to create in the city of the caller. Callers without a city cannot create events.',
    fields: (t: InputBuilder) => ({
      ...eventFields(t, true),
      inviteOnly: t.boolean({ defaultValue: false, description: INVITE_ONLY }),
      canInvite: t.boolean({ defaultValue: true, description: CAN_INVITE }),
      type: t.field({ type: EventTypeEnum, required: true, description: 'The type of the event.' }),
    }),
  },
  check: eventBroken,
  request: draftOf,
  payload: recordPayload('The new event.', 'event', Event),
  invalidates: (_, __, made) =>
    // It may be remembered that the new one is absent.
    made === undefined ? ['Event', eventEndpoints.byId.path, ...eventLists] : namesOfEvent(made),
  errorCodes: { 1000: 'NO_CITY' },
});
changeMutations('Event', {
  what: 'an event of the caller that is not over',
  cleared: 'everything is required, and of `type` and `typeTerm` one.',
  endpoint: eventEndpoints.update,
  target: ['id', 'Event'],
  fields: (t: InputBuilder, isWhole: true) => ({
    ...eventFields(t, isWhole),
    inviteOnly: t.boolean({ required: isWhole, description: INVITE_ONLY }),
    canInvite: t.boolean({ required: isWhole, description: CAN_INVITE }),
    type: t.field({
      type: EventTypeEnum,
      description: 'The type of the event; not together with `typeTerm`.',
    }),
    typeTerm: t.string({
      description:
        'The term of the category from `Event.typeTerm`, which ends in `#event.` and a word, for a type that `EventType` does not contain; not together with `type`.',
    }),
  }),
  patch: eventPatch,
  check: (input) => [...typeBroken(input), ...eventBroken(input)],
  request: (input, id) => ({ id, ...draftOf(input) }),
  payload: recordPayload('The changed event.', 'event', Event),
  invalidates: namesOfEvent,
  errorCodes: (isRead) => ({ 1000: isRead ? 'FORBIDDEN' : 'EVENT_EXPIRED', 1001: 'EVENT_NOT_FOUND' }),
});
mutation('deleteEvent', {
  description: 'Deletes an event of the caller, with a reason.',
  endpoint: eventEndpoints.delete,
  target: ['id', 'Event'],
  input: {
    description: 'The event to delete, and the reason.',
    fields: (t) => ({
      reason: t.string({ required: true, description: 'The reason, not empty.' }),
    }),
  },
  check: ({ reason }) => [required('reason', reason), writable('reason', reason)],
  request: ({ reason }, id) => ({ id, reason }),
  payload: deletionPayload('Event', formerOwner('organizer')),
  invalidates: namesOfEvent,
  errorCodes: { 1001: 'EVENT_NOT_FOUND' },
});

interface EventInput extends ValuesOf<typeof eventFields> {
  inviteOnly?: boolean | null | undefined;
  canInvite?: boolean | null | undefined;
  type?: EventType | null | undefined;
  typeTerm?: string | null | undefined;
}

function eventBroken({ title, typeTerm, content, startsAt, endsAt, place }: EventInput): (Violation | undefined)[] {
  return [
    required('title', title),
    required('content', content),
    required('place', place),
    invalidIf(Date.parse(endsAt) < Date.parse(startsAt), 'endsAt', 'EVENT_TIMES', { actual: endsAt }),
    ...Object.entries({ title, typeTerm, content, place }).map(([field, text]) => writable(field, text)),
  ];
}

function typeBroken({ type, typeTerm }: Pick<EventInput, 'type' | 'typeTerm'>): (Violation | undefined)[] {
  const isGiven = Boolean(typeTerm?.trim());
  const message = type
    ? 'Give `type` or `typeTerm`, not both.'
    : 'This ends in `#event.` and a word, as in `Event.typeTerm`.';
  return [
    invalidIf(!type && !isGiven, 'type', 'MISSING_ARGUMENT'),
    invalidIf(isGiven && (Boolean(type) || !isTerm(typeTerm!)), 'typeTerm', 'BAD_USER_INPUT', { message }),
  ];
}

/** A text that an Atom entry can contain. U+0000 is a violation in any input. */
function writable(field: string, text: string | null | undefined): Violation | undefined {
  try {
    writers.reason({ reason: text?.replaceAll('\0', '') ?? '' });
    return undefined;
  } catch (error) {
    if (!(error instanceof AtomError)) throw error;
    return invalidIf(true, field, 'INVALID_TEXT');
  }
}

function draftOf({ title, content, startsAt, endsAt, place, ...more }: EventInput): EventDraft {
  return {
    title,
    term: termIn(more),
    content,
    invite_only: yesOrNo(more.inviteOnly ?? false),
    can_invite: yesOrNo(more.canInvite ?? true),
    startTime: startsAt,
    endTime: endsAt,
    where: place,
  };
}

const yesOrNo = (flag: boolean): string => (flag ? 'yes' : 'no');

import { typeOf } from '../../../atom/media.ts';
import { type EventDraft, type EventRecord, FEED_COUNT_MAX, eventEndpoints } from '../../../api/event.ts';
import { type OfId, type WriteRule, absent, deletionRule, done, ruleFor, unknown } from './rule.ts';
import { type ListOf, findNew, readBefore } from './new-items.ts';
import { isOtherText, sameText } from './texts.ts';

const eventThing = ({ id }: OfId): string => `event ${id}`;
const eventAt = ({ id }: OfId): string => `GET /event/${id}`;

const PAGES = 4;

/** The service adds the city in front of the place. */
const sameEvent = (record: EventRecord, draft: EventDraft): boolean =>
  sameText(record.title, draft.title) &&
  sameText(record.content, draft.content) &&
  typeOf(record.term ?? '') === typeOf(draft.term) &&
  Date.parse(record.startTime ?? '') === Date.parse(draft.startTime) &&
  Date.parse(record.endTime ?? '') === Date.parse(draft.endTime) &&
  (record.where ?? '').trim().endsWith(draft.where.trim()) &&
  (record.invite_only ?? 'no') === (draft.invite_only ?? 'no') &&
  (record.can_invite ?? 'yes') === (draft.can_invite ?? 'yes');

/** Sorted by their start, so only the whole list shows what is new. */
const ownEvents: ListOf<EventDraft, typeof eventEndpoints.initiated> = {
  endpoint: eventEndpoints.initiated,
  page: (_, id, start) => ({ id, 'start-index': start + 1, 'max-results': FEED_COUNT_MAX }),
  items: ({ entries }) => entries,
  size: FEED_COUNT_MAX,
  pages: PAGES,
  isNewestFirst: false,
  matches: (record: EventRecord, input) => sameEvent(record, input),
  isOther: ({ title, content }: EventRecord, input) =>
    isOtherText(title, input.title) && isOtherText(content, input.content),
};

/** The caller has one relation to an event at a time. The real service writes `participate`. */
const attendance = (isDone: (status: string | undefined) => boolean): WriteRule<OfId> => ({
  thing: ({ id }) => `attendance ${id}`,
  lookAt: eventAt,
  reads: [0, 1],
  async find({ id }, { read }) {
    const event = await read(eventEndpoints.byId, { id });
    return event ? (isDone(event.status) ? done(undefined) : absent) : unknown;
  },
});
const isGoing = (status: string | undefined): boolean => status === 'participant' || status === 'participate';

export const eventWriteRules = [
  ruleFor(eventEndpoints.create, {
    thing: () => 'events',
    lookAt: () => 'GET /people/{id}/events/initiate',
    creates: true,
    reads: [PAGES, PAGES],
    before: (input, attempt) => readBefore(ownEvents, input, attempt),
    find: (input, attempt) => findNew(ownEvents, input, attempt),
  }),
  ruleFor(eventEndpoints.update, {
    thing: eventThing,
    lookAt: eventAt,
    reads: [0, 1],
    async find(input, { read }) {
      const record = await read(eventEndpoints.byId, { id: input.id });
      return record ? (sameEvent(record, input) ? done(record) : absent) : unknown;
    },
  }),
  ruleFor(
    eventEndpoints.delete,
    deletionRule(eventEndpoints.byId, { thing: eventThing, lookAt: eventAt, doneOn: [1001] }, { result: 'OK' }),
  ),
  ruleFor(eventEndpoints.join, attendance(isGoing)),
  ruleFor(
    eventEndpoints.leave,
    attendance((status) => !isGoing(status)),
  ),
  ruleFor(
    eventEndpoints.wish,
    attendance((status) => status === 'wish'),
  ),
  ruleFor(
    eventEndpoints.unwish,
    attendance((status) => status !== 'wish'),
  ),
];

/** How it is recognised whether a write to an event was carried out. */
import { typeOf } from '../../atom/media.ts';
import { type EventDraft, type EventRecord, FEED_COUNT_MAX, eventEndpoints } from '../../api/event.ts';
import type { ReadRecord, WriteRule, WriteRules } from '../../upstream/write-guard.ts';
import { timeOf } from '../../engine/values/decode.ts';
import { type ListOf, creationRule } from '../../engine/settle/new-items.ts';
import { type OfId, changeRule, deletionRule } from '../../engine/settle/record-rules.ts';
import { sameText } from '../../engine/settle/texts.ts';
import { declareWrites } from '../../engine/settle/write-rules.ts';

const PAGES = 4;

/** The service adds the city in front of the place. */
const sameEvent = (record: EventRecord, draft: EventDraft): boolean =>
  sameText(record.title, draft.title) &&
  sameText(record.content, draft.content) &&
  typeOf(record.term ?? '') === typeOf(draft.term) &&
  timeOf(record.startTime) === timeOf(draft.startTime) &&
  timeOf(record.endTime) === timeOf(draft.endTime) &&
  (record.where ?? '').trim().endsWith(draft.where.trim()) &&
  (record.invite_only ?? 'no') === (draft.invite_only ?? 'no') &&
  (record.can_invite ?? 'yes') === (draft.can_invite ?? 'yes');

/** Sorted by their start, so only the whole list shows what is new. */
const ownEvents: ListOf<EventDraft, EventRecord> = {
  async load(read, _, id, start) {
    const window = { 'start-index': start + 1, 'max-results': FEED_COUNT_MAX };
    const page = await read(eventEndpoints.initiated, { id, ...window });
    return page && { items: page.entries, total: page.totalResults, start: page.startIndex };
  },
  size: FEED_COUNT_MAX,
  pages: PAGES,
  order: 'other',
  isOurs: sameEvent,
};

const shownEvent = {
  load: ({ id }: OfId, read: ReadRecord) => read(eventEndpoints.byId, { id }),
  members: ({ title, content, term, startTime, endTime, where, invite_only, can_invite }: EventRecord): unknown => [
    ...[title, content, term, startTime, endTime, where, invite_only, can_invite],
  ],
  lookAt: ({ id }: OfId) => `GET /event/${id}`,
};

/** The caller has one relation to an event at a time. */
const attendanceRule = (isOurs: (status: string | undefined) => boolean): WriteRule<OfId> =>
  changeRule({
    ...shownEvent,
    members: ({ status }) => status,
    isOurs: ({ status }) => isOurs(status),
    response: () => undefined, // it is empty
  });
/** The real service writes `participate`. */
const isGoing = (status: string | undefined): boolean => status === 'participant' || status === 'participate';

export const eventWrites = {
  create: creationRule(ownEvents, { lookAt: () => 'GET /people/{id}/events/initiate', reads: [PAGES, PAGES] }),
  update: changeRule<EventDraft & OfId, EventRecord>({ ...shownEvent, isOurs: sameEvent }),
  delete: deletionRule({ ...shownEvent, doneOn: [1001] }, { result: 'OK' }),
  join: attendanceRule(isGoing),
  leave: attendanceRule((status) => !isGoing(status)),
  wish: attendanceRule((status) => status === 'wish'),
  unwish: attendanceRule((status) => status !== 'wish'),
} satisfies WriteRules<typeof eventEndpoints>;
declareWrites(eventEndpoints, eventWrites);

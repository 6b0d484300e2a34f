/** What the service always sends of events. */
import { type PresenceTable, words, without } from './presence.ts';

const feed = words('title links startIndex itemsPerPage totalResults entries');

export const eventPresence = {
  EventRecord: words(
    'id title links term scheme summary content invite_only can_invite participants wishers location startTime endTime where',
  ),
  AtomPerson: ['name', 'links'],
  AtomLocation: ['id', 'name'],
  EventFeed: feed,
  PersonFeed: feed,
  // Not specified for this feed.
  '/people/:id/events/initiate': without(feed, 'totalResults'),
  Links: [],
} satisfies PresenceTable;

/** What an Atom text must look like. */
export const eventTextForms: Readonly<Record<string, RegExp>> = {
  // A title that is absent is read as an empty one.
  'EventRecord.title': /\S/,
  'EventRecord.participants': /^\d+$/,
  'EventRecord.wishers': /^\d+$/,
  'EventRecord.invite_only': /^(?:yes|no)$/,
  'EventRecord.can_invite': /^(?:yes|no)$/,
  'EventRecord.startTime': /^\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:?\d{2})$/,
  'EventRecord.endTime': /^\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:?\d{2})$/,
  'EventRecord.point': /^-?[\d.]+ -?[\d.]+$/,
};

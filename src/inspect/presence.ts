/** What the service always sends of each record, and what it sends that nothing here reads. */
import type { PartialType } from '../../generated/api-shapes.ts';
import { bookPresence } from '../api/presence/book.ts';
import { eventPresence, eventTextForms } from '../api/presence/event.ts';
import { filmPresence, unreadFilmMembers } from '../api/presence/film.ts';
import { notePresence } from '../api/presence/note.ts';
import type { Presence } from '../api/presence/presence.ts';

/** A type with optional members and without a row does not compile. */
const rows = { ...bookPresence, ...filmPresence, ...notePresence, ...eventPresence } satisfies Readonly<
  Record<PartialType, Presence>
>;

export const alwaysSent: Readonly<Record<string, Presence>> = rows;
export const unreadMembers = unreadFilmMembers;
export const textForms = eventTextForms;

/** How an update of an event keeps what its input leaves out. */
import { type EventRecord, type EventType, eventEndpoints } from '../../api/event.ts';
import { termOf, typeOf } from '../../atom/media.ts';
import { dateTime, timeOf } from '../../engine/values/decode.ts';
import { isCaller, refusalOf } from '../caller.ts';
import { actorOf } from '../types/user.ts';
import type { DescribedPatch } from '../../engine/fields/change.ts';
import { type PatchContext, column, neededText } from '../../engine/fields/patch.ts';

/** The input of the whole event. */
interface WholeEvent {
  title: string;
  content: string;
  startsAt: string;
  endsAt: string;
  place: string;
  inviteOnly: boolean;
  canInvite: boolean;
  type?: EventType | null | undefined;
  typeTerm?: string | null | undefined;
}

export function isPast({ endTime }: Pick<EventRecord, 'endTime'>): boolean {
  return timeOf(endTime) < Date.now();
}

export const termIn = ({ type, typeTerm }: Pick<WholeEvent, 'type' | 'typeTerm'>): string =>
  type ? termOf(type) : (typeTerm ?? '');

const isNotOwn = refusalOf(({ author }: EventRecord) => actorOf(author));

export const eventPatch: DescribedPatch<WholeEvent, EventRecord> = {
  notes:
    'The service shows the whole text to the creator alone: unless that is certain, the code is PRESENT_VALUE_UNKNOWN, and `content` must be given.',
  read: eventEndpoints.byId,
  input: (id) => ({ id }),
  owner: ({ author }) => author?.id,
  absent: 'EVENT_NOT_FOUND',
  refusal: (event, viewer) => isNotOwn(event, viewer) ?? (isPast(event) ? 'EVENT_EXPIRED' : undefined),
  columns: [
    column('title', 'title', neededText),
    {
      fields: ['content'],
      keep: contentOf,
      shown: ({ content }) => content,
      doubt:
        'The service shows the whole text to the creator alone, and it is not certain that this is what it shows, so this is required.',
    },
    column('startsAt', 'startTime', sureTime, { written: ({ startsAt }: Partial<WholeEvent>) => timeOf(startsAt) }),
    column('endsAt', 'endTime', sureTime, { written: ({ endsAt }: Partial<WholeEvent>) => timeOf(endsAt) }),
    { fields: ['place'], keep: placeOf, shown: ({ where }) => where },
    column('inviteOnly', 'invite_only', yesOrNo),
    column('canInvite', 'can_invite', yesOrNo),
    { fields: ['type', 'typeTerm'], keep: typeIn, shown: ({ term }) => term, written: termIn },
  ],
};

/** The type as a form shows it, if it stands for the very term. */
function typeIn({ term = '' }: EventRecord) {
  const type = typeOf(term);
  if (type && termOf(type) === term) return { type };
  return isTerm(term) ? { typeTerm: term } : undefined;
}

/** What ends in a type, as the service writes it. */
export const isTerm = (term: string): boolean => /#event\.[\w-]+$/.test(term);

/** Who is not the creator gets the abstract twice. A text that is short enough is its own abstract. */
function contentOf({ content, summary, author }: EventRecord, { viewer }: PatchContext) {
  const isCreator = content !== summary || isCaller(actorOf(author), viewer.person);
  return isCreator && content ? { content } : undefined;
}

/** The service adds the city in front of what is written. */
function placeOf({ where, location }: EventRecord) {
  const city = `${location?.name} `;
  const place = location?.name && where?.startsWith(city) ? where.slice(city.length) : '';
  return place.trim() === '' ? undefined : { place };
}

function yesOrNo(word: unknown): boolean | undefined {
  return word === 'yes' || word === 'no' ? word === 'yes' : undefined;
}

function sureTime(time: unknown): string | undefined {
  return dateTime.decode(time) ?? undefined;
}

/** How an update of an event keeps what its input leaves out. */
import { type EventRecord, type EventType, eventEndpoints } from '../../api/event.ts';
import type { Keeping } from '../../engine/fields/change.ts';
import { type PatchContext, keptAs, neededText } from '../../engine/fields/patch.ts';

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

export const keptEvent: Keeping<WholeEvent, EventRecord> = {
  notes:
    'The service shows the whole text to the creator alone: unless that is certain, the code is PRESENT_VALUE_UNKNOWN, and `content` must be given.',
  read: eventEndpoints.byId,
  input: (id) => ({ id }),
  owner: ({ author }) => author?.id,
  absent: 'EVENT_NOT_FOUND',
  columns: [
    { fields: ['title'], keep: ({ title }) => ({ title }), shown: ({ title }) => title },
    {
      fields: ['content'],
      keep: contentOf,
      shown: ({ content }) => content,
      doubt:
        'The service shows the whole text to the creator alone, and it is not certain who you are, so this is required.',
    },
    {
      fields: ['startsAt'],
      keep: ({ startTime: startsAt }) => (startsAt ? { startsAt } : undefined),
      shown: ({ startTime }) => startTime,
    },
    { fields: ['endsAt'], keep: ({ endTime: at }) => keptAs('endsAt', neededText(at)), shown: ({ endTime: at }) => at },
    { fields: ['place'], keep: placeOf, shown: ({ where }) => where },
    {
      fields: ['inviteOnly'],
      keep: ({ invite_only }) => flagOf('inviteOnly', invite_only),
      shown: ({ invite_only }) => invite_only,
    },
    {
      fields: ['canInvite'],
      keep: ({ can_invite }) => flagOf('canInvite', can_invite),
      shown: ({ can_invite }) => can_invite,
    },
    {
      fields: ['type', 'typeTerm'],
      keep: ({ term: typeTerm }) => (typeTerm ? { typeTerm } : undefined),
      shown: ({ term }) => term,
    },
  ],
};

/** Who is not the creator gets the abstract twice. A text that is short enough is its own abstract. */
function contentOf({ content, summary, author }: EventRecord, { person }: PatchContext) {
  const isCreator = content !== summary || (person !== undefined && author?.id === person && author.type !== 'site');
  return isCreator && content ? { content } : undefined;
}

/** The service adds the city in front of what is written. */
function placeOf({ where, location }: EventRecord) {
  const city = `${location?.name} `;
  const place = location?.name && where?.startsWith(city) ? where.slice(city.length) : '';
  return place.trim() === '' ? undefined : { place };
}

function flagOf<Name extends string>(name: Name, word: string | undefined) {
  return keptAs(name, word === 'yes' || word === 'no' ? word === 'yes' : undefined);
}

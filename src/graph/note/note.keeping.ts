/** How an update of a note keeps what its input leaves out. */
import { type NotePrivacy, type NoteRecord, noteEndpoints, notePrivacies } from '../../api/note.ts';
import type { Keeping } from '../../engine/fields/change.ts';
import { recordOrReference } from '../../engine/fields/node.ts';
import { listIn } from '../../lib/objects.ts';
import { refusalOf } from '../caller.ts';
import type { UserShape } from '../types/user.ts';
import { keptAs, keptWord, neededText } from '../../engine/fields/patch.ts';
import { type KeptPictures, writtenNote } from './written-note.ts';

/** The input of the whole note. */
interface WholeNote extends KeptPictures {
  title: string;
  content: string;
  privacy: NotePrivacy;
  canReply: boolean;
}

export const keptNote: Keeping<WholeNote, NoteRecord> = {
  notes:
    'A text whose markup cannot be told for certain is not kept: the code is PRESENT_VALUE_UNKNOWN, and `content` must be given.',
  read: noteEndpoints.byId,
  input: (id) => ({ id, format: 'text' }),
  owner: ({ author }) => author?.id,
  absent: 'NOTE_NOT_FOUND',
  refusal: refusalOf(authorOfNote),
  columns: [
    { fields: ['title'], keep: ({ title }) => keptAs('title', neededText(title)), shown: ({ title }) => title },
    {
      fields: ['content'],
      keep: ({ content, photos }) => writtenNote(neededText(content), photos),
      shown: ({ content }) => content,
    },
    {
      fields: ['privacy'],
      keep: ({ privacy }) => keptWord('privacy', privacy, notePrivacies),
      shown: ({ privacy }) => privacy,
    },
    {
      fields: ['canReply'],
      keep: ({ can_reply: canReply }) => (typeof canReply === 'boolean' ? { canReply } : undefined),
      shown: ({ can_reply }) => can_reply,
    },
  ],
};

export function authorOfNote({ author }: { author?: unknown }): UserShape | null {
  const authors = listIn(author);
  return recordOrReference(authors ? authors[0] : author, undefined) as UserShape | null;
}

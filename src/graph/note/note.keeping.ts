/** How an update of a note keeps what its input leaves out. */
import { type NotePrivacy, type NoteRecord, noteEndpoints, notePrivacies } from '../../api/note.ts';
import type { Keeping } from '../../engine/fields/change.ts';
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

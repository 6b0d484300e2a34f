/** How an update of a note keeps what its input leaves out. */
import { type NotePrivacy, type NoteRecord, noteEndpoints, notePrivacies } from '../../api/note.ts';
import type { DescribedPatch } from '../../engine/fields/change.ts';
import { recordOrReference } from '../../engine/fields/node.ts';
import { listIn } from '../../lib/objects.ts';
import { refusalOf } from '../caller.ts';
import type { UserShape } from '../types/user.ts';
import { column, neededText, sureFlag, sureWord } from '../../engine/fields/patch.ts';
import { type KeptPictures, writtenNote } from './written-note.ts';

/** The input of the whole note. */
interface WholeNote extends KeptPictures {
  title: string;
  content: string;
  privacy: NotePrivacy;
  canReply: boolean;
}

export const notePatch: DescribedPatch<WholeNote, NoteRecord> = {
  notes:
    'A text whose markup cannot be told for certain is not kept: the code is PRESENT_VALUE_UNKNOWN, and `content` must be given.',
  read: noteEndpoints.byId,
  input: (id) => ({ id, format: 'text' }),
  owner: ({ author }) => author?.id,
  absent: 'NOTE_NOT_FOUND',
  refusal: refusalOf(authorOfNote),
  columns: [
    column('title', 'title', neededText),
    {
      fields: ['content'],
      keep: ({ content, photos }) => writtenNote(neededText(content), photos),
      shown: ({ content }) => content,
    },
    column('privacy', 'privacy', sureWord(notePrivacies)),
    column('canReply', 'can_reply', sureFlag),
  ],
};

export function authorOfNote({ author }: { author?: unknown }): UserShape | null {
  const authors = listIn(author);
  return recordOrReference(authors ? authors[0] : author, undefined) as UserShape | null;
}

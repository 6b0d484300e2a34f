/** How it is recognised whether a write to a note was carried out. */
import { COUNT_MAX } from '../../api/book.ts';
import {
  type NoteCommentRecord,
  type NoteDraft,
  type NotePictures,
  type NoteRecord,
  noteEndpoints,
} from '../../api/note.ts';
import type { ReadRecord, WriteRule, WriteRules } from '../../upstream/write-guard.ts';
import { type ListOf, creationRule } from '../../engine/settle/new-items.ts';
import { type OfId, changeRule, deletionRule } from '../../engine/settle/record-rules.ts';
import { sameNote, sameText } from '../../engine/settle/texts.ts';
import { declareWrites } from '../../engine/settle/write-rules.ts';
import { isCaller } from '../caller.ts';

const noteAt = ({ id }: OfId): string => `GET /v2/note/${id}`;

const sameDraft = (record: NoteRecord, { title, content, privacy = 'public', can_reply = true }: NoteDraft): boolean =>
  sameText(record.title, title) &&
  sameNote(record.content, content) &&
  (record.privacy ?? 'public') === privacy &&
  (record.can_reply ?? true) === can_reply;

const ownNotes: ListOf<NoteDraft, NoteRecord> = {
  async load(read, _, id) {
    const page = await read(noteEndpoints.userCreated, { id, count: COUNT_MAX, format: 'text' });
    return page && { items: page.notes, total: page.total };
  },
  size: COUNT_MAX,
  pages: 1,
  order: { timeOf: ({ publish_time = '' }) => (Date.parse(publish_time) ? publish_time : undefined) },
  isOurs: sameDraft,
};

const COMMENT_PAGES = 3;

interface CommentInput extends OfId {
  content: string;
}

/** Oldest first. */
const comments: ListOf<CommentInput, NoteCommentRecord> = {
  async load(read, { id }, _, start) {
    const page = await read(noteEndpoints.comments, { id, start, count: COUNT_MAX });
    return page && { items: page.comments, total: page.total, start: page.start };
  },
  size: COUNT_MAX,
  pages: COMMENT_PAGES,
  order: 'oldest',
  isOurs: ({ content, author }, { content: sent }, person) => author?.id === person && sameText(content, sent),
  isOthers: ({ author }, person) => isCaller(author, { id: person }) === false,
};

const shownNote = {
  load: ({ id }: OfId, read: ReadRecord) => read(noteEndpoints.byId, { id, format: 'text' }),
  members: ({ title, content, privacy, can_reply, photos, update_time }: NoteRecord) => [
    ...[title, content, privacy, can_reply, update_time],
    Object.keys(photos ?? {}),
  ],
  lookAt: noteAt,
};
const pictured = {
  ...shownNote,
  photos: ({ photos }: NoteRecord) => photos,
  /** `p_1,p_2` */
  numbers: ({ pids = '' }: { pids?: string | undefined }) =>
    pids === '' ? [] : pids.split(',').map((name) => name.replace(/\D/g, '')),
};

/** The service does not say who likes a note. */
const likeRule: WriteRule<OfId> = {
  lookAt: noteAt,
  reads: [0, 0],
  isRepeatable: true,
};

interface OfComment extends OfId {
  comment_id: string;
}

export const noteWrites = {
  create: creationRule(ownNotes, { lookAt: () => 'GET /v2/note/user_created/{id}', reads: [1, 1] }),
  update: changeRule<NoteDraft & OfId, NoteRecord>({ ...pictured, isOurs: sameDraft }),
  addPictures: changeRule<OfId & NotePictures, NoteRecord>({
    ...pictured,
    isOurs: ({ content: stored }, { content }) => content === undefined || sameNote(stored, content),
  }),
  delete: deletionRule({ ...shownNote, doneOn: [1006] }),
  like: likeRule,
  unlike: likeRule,
  createComment: creationRule(comments, {
    lookAt: ({ id }) => `GET /v2/note/${id}/comments`,
    // A long list is read once from its beginning and once at its end.
    reads: [2 * COMMENT_PAGES, COMMENT_PAGES],
  }),
  deleteComment: deletionRule<OfComment, NoteCommentRecord>({
    load: ({ id, comment_id }, read) => read(noteEndpoints.comment, { id, comment_id }),
    members: ({ content }) => content,
    lookAt: ({ id, comment_id }) => `GET /v2/note/${id}/comment/${comment_id}`,
    doneOn: [1006],
  }),
} satisfies WriteRules<typeof noteEndpoints>;
declareWrites(noteEndpoints, noteWrites);

import { COUNT_MAX } from '../../../api/book.ts';
import { type NoteCommentRecord, type NoteDraft, type NoteRecord, noteEndpoints } from '../../../api/note.ts';
import {
  type Attempt,
  type Before,
  type OfId,
  type ReadBack,
  type WriteRule,
  absent,
  deletionRule,
  done,
  ruleFor,
  unknown,
} from './rule.ts';
import { type ListOf, findNew, readBefore } from './new-items.ts';
import { isOtherText, sameNote, sameText, storedPictures } from './texts.ts';

const noteThing = ({ id }: OfId): string => `note ${id}`;
const noteAt = ({ id }: OfId): string => `GET /v2/note/${id}`;

const sameDraft = (record: NoteRecord, { title, content, privacy = 'public', can_reply = true }: NoteDraft): boolean =>
  sameText(record.title, title) &&
  sameNote(record.content, content) &&
  (record.privacy ?? 'public') === privacy &&
  (record.can_reply ?? true) === can_reply;

const ownNotes: ListOf<NoteDraft, typeof noteEndpoints.userCreated> = {
  endpoint: noteEndpoints.userCreated,
  page: (_, id) => ({ id, count: COUNT_MAX, format: 'text' }),
  items: ({ notes }) => notes,
  size: COUNT_MAX,
  pages: 1,
  isNewestFirst: true,
  matches: (record: NoteRecord, input) => sameDraft(record, input),
  isOther: ({ title, content }: NoteRecord, input) =>
    isOtherText(title, input.title) && isOtherText(content, input.content),
};

interface CommentInput extends OfId {
  content: string;
}

/** Oldest first: a long list is read from where its last ones were. */
const comments: ListOf<CommentInput, typeof noteEndpoints.comments> = {
  endpoint: noteEndpoints.comments,
  page: ({ id }, _, start) => ({ id, start, count: COUNT_MAX }),
  items: (page) => page.comments,
  size: COUNT_MAX,
  pages: 1,
  isNewestFirst: false,
  matches: ({ content, author }: NoteCommentRecord, input, person) =>
    author?.id === person && sameText(content, input.content),
  isOther: ({ content, author }: NoteCommentRecord, input, person) =>
    author?.id !== person && isOtherText(content, input.content),
};
const LAST_COMMENTS = 20;

async function commentsBefore(
  input: CommentInput,
  attempt: Pick<Attempt, 'read' | 'person'>,
): Promise<Before | undefined> {
  const { person, read } = attempt;
  const first = await readBefore(comments, input, attempt);
  if (!first || first.isWhole) return first;
  const { total = 0 } = (await read(noteEndpoints.comments, { id: input.id, start: 0, count: 1, fields: 'id' })) ?? {};
  const start = Math.max(0, total - LAST_COMMENTS);
  const last = await read(noteEndpoints.comments, comments.page(input, person!, start));
  const ids = (last?.comments ?? []).map(({ id }) => id);
  return { ids, start, isWhole: ids.length > 0 && ids.length < COUNT_MAX, person: person! };
}

/** Pictures have numbers that were never used before in the note. */
async function findPictures(
  { id }: OfId,
  { read, pictures }: Pick<Attempt, 'read' | 'pictures'>,
  isSame: (record: NoteRecord) => boolean,
): Promise<ReadBack> {
  const record = await read(noteEndpoints.byId, { id, format: 'text' });
  if (!record) return unknown;
  const stored = storedPictures(record.photos, pictures);
  if (pictures.length === 0) return isSame(record) ? done(record) : absent;
  if (stored === 'none') return absent;
  return stored === 'all' && isSame(record) ? done(record) : unknown;
}

const like: WriteRule<OfId> = { thing: ({ id }) => `like ${id}`, lookAt: noteAt, reads: [0, 0] };

export const noteWriteRules = [
  ruleFor(noteEndpoints.create, {
    thing: () => 'notes',
    lookAt: () => 'GET /v2/note/user_created/{id}',
    creates: true,
    reads: [1, 1],
    before: (input, attempt) => readBefore(ownNotes, input, attempt),
    find: (input, attempt) => findNew(ownNotes, input, attempt),
  }),
  ruleFor(noteEndpoints.update, {
    thing: noteThing,
    lookAt: noteAt,
    reads: [0, 1],
    find: (input, attempt) => findPictures(input, attempt, (record) => sameDraft(record, input)),
  }),
  ruleFor(noteEndpoints.addPictures, {
    thing: noteThing,
    lookAt: noteAt,
    reads: [0, 1],
    find: (input, attempt) => findPictures(input, attempt, () => true),
  }),
  ruleFor(noteEndpoints.delete, deletionRule(noteEndpoints.byId, { thing: noteThing, lookAt: noteAt, doneOn: [1006] })),
  ruleFor(noteEndpoints.createComment, {
    thing: ({ id }) => `comments ${id}`,
    lookAt: ({ id }) => `GET /v2/note/${id}/comments`,
    creates: true,
    reads: [3, 1],
    before: commentsBefore,
    find: (input, attempt) => findNew(comments, input, attempt),
  }),
  ruleFor(
    noteEndpoints.deleteComment,
    deletionRule(noteEndpoints.comment, {
      thing: ({ id, comment_id }) => `comment ${id} ${comment_id}`,
      lookAt: ({ id, comment_id }) => `GET /v2/note/${id}/comment/${comment_id}`,
      doneOn: [1006],
    }),
  ),
  // The service does not say who likes a note; a second like changes nothing.
  ruleFor(noteEndpoints.like, like),
  ruleFor(noteEndpoints.unlike, like),
];

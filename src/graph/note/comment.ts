import { type NoteCommentRecord, noteCommentMembers, noteEndpoints } from '../../api/note.ts';
import { builder } from '../engine/builder.ts';
import { asObjects, asText, localDateTime, text } from '../types/decode.ts';
import { badInput } from '../errors/to-client-error.ts';
import { globalId, isSourceId, keyInGlobalId } from '../types/global-id.ts';
import { Node, recordOrReference } from '../types/node.ts';
import { User, type UserShape } from '../types/user.ts';
import { Note, type NoteShape } from './note.ts';

/** The wire's comment does not say what it is on. */
export interface NoteCommentShape extends NoteCommentRecord {
  note_id?: string;
}

export const NoteComment = builder.objectRef<NoteCommentShape>('NoteComment').implement({
  description: 'What somebody said about a note. Its id is made of the two, `NoteComment:<note>:<comment>`.',
  interfaces: [Node],
  record: {
    endpoint: noteEndpoints.comment,
    input: (key) => {
      const colon = key.indexOf(':');
      return { id: key.slice(0, colon), comment_id: key.slice(colon + 1) };
    },
    members: noteCommentMembers,
    keyOf: placeOf,
    read: (comment: NoteCommentRecord, key) => ({ ...comment, note_id: key.slice(0, key.indexOf(':')) }),
  },
  nodeOf: (key) => {
    const [note, comment, ...more] = key.split(':');
    // Known by its place alone, which stands in `id`, as in the handle of any record.
    return note && comment && isSourceId(note) && isSourceId(comment) && more.length === 0 ? { id: key } : null;
  },
  fields: (t) => ({
    id: t.id({
      description: 'The global id, to be treated as opaque.',
      needs: ['id', 'note_id'],
      resolve: (comment) => globalId('NoteComment', placeOf(comment)),
    }),
    sourceId: t.id({
      description: 'The bare id, as the service knows it among the comments of the note.',
      needs: ['id'],
      resolve: ({ id }) => asText(id).replace(/^.*:/, ''),
    }),
    content: t.reads('content', text, 'What was said, plain text.'),
    createdAt: t.reads('created', localDateTime, 'When it was said.'),
    note: t.field({
      type: Note,
      nullable: true,
      description: 'The note that it is on; more than its id costs one call. Null where the caller may not see it.',
      needs: ['note_id'],
      resolve: ({ note_id }) => recordOrReference<NoteShape>(null, note_id),
    }),
    author: t.field({
      type: User,
      nullable: true,
      description: 'Who said it.',
      needs: ['author'],
      resolve: ({ author }) => recordOrReference<UserShape>(author),
    }),
  }),
});

builder.objectField(Note, 'comments', (t) =>
  t.connection({
    type: NoteComment,
    pageSize: 20,
    description: 'What was said about the note, oldest first, from `GET /v2/note/{id}/comments`.',
    endpoint: noteEndpoints.comments,
    from: ['id'],
    input: ({ id }) => ({ id }),
    items: ({ comments }, { id }) =>
      asObjects(comments).map((comment): NoteCommentShape => ({ ...comment, note_id: id })),
  }),
);

builder.objectField(Note, 'comment', (t) =>
  t.call({
    type: NoteComment,
    description: 'One comment on the note, from `GET /v2/note/{id}/comment/{comment_id}`; null when there is none.',
    args: { id: t.arg.id({ required: true, description: 'Global id of a comment on this very note, or bare id.' }) },
    endpoint: noteEndpoints.comment,
    from: ['id'],
    input: ({ id: note }, { id }) => ({ id: note, comment_id: commentIdOf(note, id) }),
    resolve: (comment, _, { id }) => ({ ...comment, note_id: id }),
  }),
);

/** The bare id of a comment on this note; refuses that of another note before any call. */
export function commentIdOf(note: string, id: string): string {
  const key = keyInGlobalId('NoteComment', id);
  const comment = key !== id && key.startsWith(`${note}:`) ? key.slice(note.length + 1) : key;
  if (!isSourceId(comment)) throw badInput('That is not the id of a comment on this note.', { argument: 'id' });
  return comment;
}

/** The note and the comment; a handle has both in its `id` already, and no bare id holds a colon. */
function placeOf({ note_id, id }: Partial<NoteCommentShape>): string {
  const comment = asText(id);
  return comment.includes(':') ? comment : `${asText(note_id)}:${comment}`;
}

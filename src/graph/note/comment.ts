import { type NoteCommentRecord, noteCommentMembers, noteEndpoints } from '../../api/note.ts';
import { builder } from '../../engine/builder.ts';
import { asItems, asText, localDateTime, textOrEmpty } from '../../engine/values/decode.ts';
import { badInput } from '../../engine/errors/to-client-error.ts';
import { globalId, isSourceId, keyInGlobalId } from '../../engine/values/global-id.ts';
import { Node } from '../../engine/fields/node.ts';
import { viewerRights } from '../caller.ts';
import { UID, User, author, authorUid } from '../types/user.ts';
import { Note } from './note.ts';

/** The record of the service does not contain the id of the note. */
interface NoteCommentShape extends NoteCommentRecord {
  note_id?: string;
}

export const NoteComment = builder.objectRef<NoteCommentShape>('NoteComment').implement({
  description: 'A comment on a note. The global id is `NoteComment:<note>:<comment>`.',
  interfaces: [Node],
  record: {
    endpoint: noteEndpoints.comment,
    input: (key) => {
      const colon = key.indexOf(':');
      return { id: key.slice(0, colon), comment_id: key.slice(colon + 1) };
    },
    members: noteCommentMembers,
    keyOf,
    read: (comment: NoteCommentRecord, key) => ({ ...comment, note_id: key.slice(0, key.indexOf(':')) }),
  },
  nodeOf: (key) => {
    const [note, comment, ...more] = key.split(':');
    // A reference has only its key, in `id`.
    return note && comment && isSourceId(note) && isSourceId(comment) && more.length === 0 ? { id: key } : null;
  },
  fields: (t) => ({
    id: t.computed({
      type: 'ID',
      description: 'The global id. Treat it as opaque.',
      needs: ['id', 'note_id'],
      resolve: (comment) => globalId('NoteComment', keyOf(comment)),
    }),
    sourceId: t.computed({
      type: 'ID',
      nullable: true,
      nullIf: false,
      description: 'The id in the service, unique among the comments of the note.',
      needs: ['id'],
      resolve: ({ id }) => asText(id).replace(/^.*:/, ''),
    }),
    content: t.reads('content', textOrEmpty, 'The plain text of the comment.'),
    createdAt: t.reads('created', localDateTime, 'The time of creation.'),
    note: t.record(Note, { id: 'note_id' }, 'The note. Fields other than the id cost one call.', {
      nullIf: 'the caller may not see it',
    }),
    author: t.record(User, { member: 'author' }, 'The author of the comment.', author),
    authorUid: t.reads('author', authorUid, UID),
    ...viewerRights(t, {
      thing: 'comment',
      needs: ['author'],
      authorOf: ({ author }) => author,
      isChangeable: () => false,
      notes: {
        update: 'Always false for a known caller: the service has no operation that changes a comment.',
        delete:
          'It tells the right of its author; whether the author of the note may delete it too, the service does not say.',
      },
    }),
  }),
});

builder.objectFields(Note, (t) => ({
  comments: t.connection({
    type: NoteComment,
    description: 'The comments on the note, as a rule oldest first.',
    endpoint: noteEndpoints.comments,
    from: ['id'],
    backReference: 'note',
    items: ({ comments }, { id }) => asItems(comments, (comment): NoteCommentShape => ({ ...comment, note_id: id })),
  }),
  noteComment: t.call({
    type: NoteComment,
    description: 'One comment on the note.',
    args: {
      id: t.arg.id({
        required: true,
        description: 'Global id of a comment on this note, or bare id, such as `104800113`.',
      }),
    },
    endpoint: noteEndpoints.comment,
    from: ['id'],
    backReference: 'note',
    input: ({ id: note }, { id }) => ({ id: note, comment_id: commentIdOf(note, id) }),
    resolve: (comment, _, { id }) => ({ ...comment, note_id: id }),
  }),
}));

/** The bare id of a comment on this note. Rejects the id of a comment on another note before any call. */
export function commentIdOf(note: string, id: string): string {
  const key = keyInGlobalId('NoteComment', id);
  const comment = key !== id && key.startsWith(`${note}:`) ? key.slice(note.length + 1) : key;
  if (!isSourceId(comment)) throw badInput('This is not the id of a comment on this note.', { argument: 'id' });
  return comment;
}

/** The key, `<note>:<comment>`. The `id` of a reference is already this key; no bare id contains a colon. */
function keyOf({ note_id, id }: Partial<NoteCommentShape>): string {
  const comment = asText(id);
  return comment.includes(':') ? comment : `${asText(note_id)}:${comment}`;
}

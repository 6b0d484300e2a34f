import {
  type NoteFormat as WireFormat,
  type NoteRecord,
  noteEndpoints,
  noteMembers,
  notePrivacies,
} from '../../api/note.ts';
import { ContentBlock, ContentPhoto, contentOf, contentPhotos, noteBlocks } from '../types/content-blocks.ts';
import { parseBlocksOnce } from '../types/content-cache.ts';
import { builder } from '../engine/builder.ts';
import {
  asObjects,
  asOneOf,
  asText,
  count,
  flag,
  localDateTime,
  text,
  textOrNull,
  urlOrNull,
} from '../types/decode.ts';
import { sourceIdOf } from '../types/global-id.ts';
import { Node, recordOrReference, referenceOf, identity } from '../types/node.ts';
import { User, type UserShape, isSite } from '../types/user.ts';

/** The service does not tell who wrote a note; the way through its user does. */
export interface NoteShape extends NoteRecord {
  author?: UserShape;
}

export const Privacy = builder.enumType('Privacy', {
  description: 'Who may see a note.',
  values: {
    PUBLIC: { value: 'public', description: 'Everyone.' },
    FRIEND: { value: 'friend', description: "Its author's friends." },
    PRIVATE: { value: 'private', description: 'Its author alone.' },
  } as const,
});

const NoteFormat = builder.enumType('NoteFormat', {
  description: 'How the content of a note is written.',
  values: {
    TEXT: {
      description:
        'Text with `[img=<number>:<layout>]<caption>[/img]` for pictures and `[url="<url>"]<title>[/url]` for links.',
    },
    HTML_FULL: { description: 'The whole content as HTML, neither cleaned nor made safe here.' },
    HTML_SHORT: { description: 'The content cut short, as HTML, neither cleaned nor made safe here.' },
    ABSTRACT: { description: 'The content cut short, as plain text.' },
  } as const,
});

export const Note = builder.objectRef<NoteShape>('Note').implement({
  description:
    "An entry in a person's diary. Only callers who are logged in may read notes, each as its privacy allows.",
  interfaces: [Node],
  record: { endpoint: noteEndpoints.byId, input: (id) => ({ id }), members: noteMembers },
  nodeOf: referenceOf,
  fields: (t) => ({
    ...identity(t, 'Note'),
    title: t.reads('title', text, 'Its headline.'),
    summary: t.reads('summary', textOrNull, 'A short description.'),
    webUrl: t.reads('alt', urlOrNull, 'Its page.'),
    content: t.call({
      type: 'String',
      description:
        'The whole text. TEXT is in the record; each other format costs a call of `GET /v2/note/{id}`, in the notes of a person one for the whole list.',
      args: {
        format: t.arg({ type: NoteFormat, defaultValue: 'TEXT', description: 'How to write it, and how much of it.' }),
      },
      endpoint: noteEndpoints.byId,
      from: ['id'],
      input: ({ id }, args) => ({ id, format: formatOf(args) ?? 'text' }),
      embedded: {
        member: 'content',
        representation: { names: [] },
        when: (args: Formatted) => formatOf(args) === undefined,
      },
      variant: { param: 'format', of: formatOf },
      resolve: contentOf,
    }),
    blocks: t.field({
      type: [ContentBlock],
      nullable: true,
      description: 'The content as a tree: paragraphs with their links, pictures. Empty where there is no content.',
      needs: ['content', 'photos'],
      resolve: ({ content, photos }, _, context) => parseBlocksOnce(context, noteBlocks, asText(content), photos),
    }),
    photos: t.field({
      type: [ContentPhoto],
      description: 'All its pictures by number.',
      needs: ['photos'],
      resolve: ({ photos }) => contentPhotos(photos),
    }),
    privacy: t.field({
      type: Privacy,
      nullable: true,
      description: 'Who may see it; null for a word that is none of the known.',
      needs: ['privacy'],
      resolve: ({ privacy }) => asOneOf(notePrivacies, privacy),
    }),
    canReply: t.reads('can_reply', flag, 'Whether comments are allowed.'),
    publishedAt: t.reads('publish_time', localDateTime, 'When it was first published.'),
    updatedAt: t.reads('update_time', localDateTime, 'When it was last edited.'),
    commentsCount: t.reads(
      ['comments_count', 'comment_count'],
      count,
      'How many comments it has; the service spells it in two ways.',
    ),
    likesCount: t.reads('liked_count', count, 'How many people like it.'),
    recommendationsCount: t.reads('recs_count', count, 'How many people recommended it.'),
    author: t.field({
      type: User,
      nullable: true,
      description: 'Who wrote it: known only where the note was reached through its user, null elsewhere.',
      needs: ['author'],
      resolve: ({ author }) => recordOrReference(author),
    }),
  }),
});

builder.objectField(User, 'notes', (t) =>
  t.connection({
    type: Note,
    pageSize: 20,
    description:
      'The notes of this person that the caller may see, newest first, from `GET /v2/note/user_created/{id}`. For callers who are logged in.',
    endpoint: noteEndpoints.userCreated,
    from: ['id', 'type', 'uid', 'name', 'signature', 'desc', 'avatar', 'alt', 'homepage'],
    input: ({ id }) => ({ id }),
    variants: 'format',
    items: ({ notes }, author) => asObjects(notes).map((note): NoteShape => ({ ...note, author })),
    isEmpty: isSite,
  }),
);

builder.queryField('note', (t) =>
  t.call({
    type: Note,
    description: 'A note by id, from `GET /v2/note/{id}`; null when there is none. For callers who are logged in.',
    args: { id: t.arg.id({ required: true, description: 'Global or bare id.' }) },
    endpoint: noteEndpoints.byId,
    input: (_, { id }) => ({ id: sourceIdOf('Note', id) }),
    resolve: (note) => note,
  }),
);

interface Formatted {
  format?: keyof typeof wireFormats | null;
}
const wireFormats = {
  TEXT: undefined,
  HTML_FULL: 'html_full',
  HTML_SHORT: 'html_short',
  ABSTRACT: 'abstract',
} as const;
/** The `format` to request; undefined for the text that the record has without it. */
function formatOf({ format }: Formatted): WireFormat | undefined {
  return wireFormats[format ?? 'TEXT'];
}

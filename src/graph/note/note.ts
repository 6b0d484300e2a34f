import {
  type NoteFormat as WireFormat,
  type NoteRecord,
  noteEndpoints,
  noteMembers,
  notePrivacies,
} from '../../api/note.ts';
import { ContentBlock, photosByNumber } from '../types/content-blocks.ts';
import { noteBlocks } from '../types/content-markup.ts';
import { contentByFormat } from '../types/content-format.ts';
import { ContentInterface } from '../types/content.ts';
import { WebPage } from '../types/web-page.ts';
import { oncePer } from '../../lib/remember.ts';
import { builder } from '../../engine/builder.ts';
import type { ResolverContext } from '../../engine/context.ts';
import {
  asText,
  count,
  countOrZero,
  flag,
  localDateTime,
  wordOrNull,
  text,
  textOrNull,
  urlOrNull,
} from '../../engine/values/decode.ts';
import { revisionField } from '../../engine/fields/patch.ts';
import { Node, referenceOf, identity, queryById } from '../../engine/fields/node.ts';
import { viewerRights } from '../caller.ts';
import { User, type UserShape, author, isSite, userEdgeNames } from '../types/user.ts';
import { authorOfNote, notePatch } from './note.patch.ts';

export interface NoteShape extends Omit<NoteRecord, 'author'> {
  /** The real service returns it in a list. */
  author?: UserShape | UserShape[];
}

export const NotePrivacyEnum = builder.enumType('NotePrivacy', {
  description: 'Who may see a note.',
  values: {
    PUBLIC: { value: 'public', description: 'Everyone may see it.' },
    FRIEND: { value: 'friend', description: 'Only friends of the author may see it.' },
    PRIVATE: { value: 'private', description: 'Only the author may see it.' },
  } as const,
});

const NoteFormat = builder.enumType('NoteFormat', {
  description: 'The format of the content of a note.',
  values: {
    TEXT: {
      value: 'text',
      description:
        'Text with `[img=<number>:<layout>]<caption>[/img]` for pictures and `[url="<url>"]<title>[/url]` for links.',
    },
    HTML_FULL: { value: 'html_full', description: 'The whole content as HTML of the service, not sanitized.' },
    HTML_SHORT: {
      value: 'html_short',
      description: 'The beginning of the content as HTML of the service, not sanitized.',
    },
    ABSTRACT: { value: 'abstract', description: 'The beginning of the content as plain text.' },
  } as const,
});

/** Parses each text of an operation once, however many aliases select it: texts have any length. */
const blocksIn = oncePer((_: ResolverContext) =>
  oncePer(({ content, photos }: Pick<NoteShape, 'content' | 'photos'>) => noteBlocks(asText(content), photos)),
);

export const Note = builder.objectRef<NoteShape>('Note').implement({
  description:
    "An entry in a person's diary. Only logged-in callers can read notes, and only those whose `privacy` allows it.",
  interfaces: [Node, ContentInterface, WebPage],
  record: { endpoint: noteEndpoints.byId, input: (id) => ({ id }), members: noteMembers },
  nodeOf: referenceOf,
  fields: (t) => ({
    ...identity(t, 'Note'),
    title: t.reads('title', text, 'The title.'),
    summary: t.reads('summary', textOrNull, 'A short description.'),
    webUrl: t.reads('alt', urlOrNull, 'The web page of the note.'),
    content: t.call({
      type: 'String',
      description:
        'The content. TEXT is part of the record. Any other format is loaded together with other fields; a second format costs a call more. For all notes of a person it is one call.',
      args: {
        format: t.arg({
          type: NoteFormat,
          defaultValue: 'text',
          description: 'The format and the length of the text.',
        }),
      },
      endpoint: noteEndpoints.byId,
      ...contentByFormat<WireFormat>(),
    }),
    blocks: t.computed({
      type: [ContentBlock],
      nullable: true,
      nullIf: false,
      description: 'The content as a tree of paragraphs with links, and pictures. Empty if there is no content.',
      needs: ['content', 'photos'],
      resolve: (note, _, context) => blocksIn(context)(note),
    }),
    pictures: t.reads('photos', photosByNumber, 'All pictures in the order of their numbers.'),
    privacy: t.reads('privacy', wordOrNull(NotePrivacyEnum, notePrivacies), 'Who may see it.'),
    canReply: t.reads('can_reply', flag, 'Whether comments are allowed.'),
    createdAt: t.reads('publish_time', localDateTime, 'The time of publication.'),
    updatedAt: t.reads('update_time', localDateTime, 'The time of the last edit.'),
    commentsCount: t.reads(['comments_count', 'comment_count'], countOrZero, 'The number of comments.'),
    likesCount: t.reads('liked_count', count, 'The number of people who like it.'),
    recommendationsCount: t.reads('recs_count', count, 'The number of people who recommended it.'),
    revision: revisionField(t, notePatch, ['title', 'content', 'privacy', 'can_reply']),
    author: t.computed({
      type: User,
      nullable: true,
      description: 'The author.',
      ...author,
      mayBeReference: true,
      nullIf: 'the service does not return it with the note',
      needs: ['author'],
      resolve: authorOfNote,
    }),
    ...viewerRights(t, { thing: 'note', needs: ['author'], authorOf: authorOfNote }),
  }),
});

builder.objectField(User, 'notes', (t) =>
  t.connection({
    type: Note,
    description:
      'The notes of this person that the caller may see, as a rule newest first. Requires a logged-in caller.',
    endpoint: noteEndpoints.userCreated,
    newestFirst: { time: 'publish_time', id: 'id' },
    from: userEdgeNames,
    input: ({ id }) => ({ id }),
    variants: 'format',
    isEmpty: isSite,
  }),
);

builder.objectField(User, 'noteChanges', (t) =>
  t.changes({
    type: Note,
    description:
      "What has changed in the person's notes that the caller may see, for a copy of them on a phone: call it until `hasMore` is false. All are read, a hundred a call, because an edit does not move a note in its list. Requires a logged-in caller.",
    nullIf: 'the user is an organisation, or unknown',
    endpoint: noteEndpoints.userCreated,
    newestFirst: { time: 'publish_time', id: 'id', changed: 'update_time' },
    from: userEdgeNames,
    input: ({ id }) => ({ id }),
    variants: 'format',
    isUnavailable: isSite,
  }),
);

queryById(Note, noteEndpoints.byId, 'A note by id. Requires a logged-in caller.', '244600053');

import { builder } from '../../engine/builder.ts';
import { Node } from '../../engine/fields/node.ts';
import { ContentBlock, ContentPhoto } from './content-blocks.ts';
import { User } from './user.ts';

const NAMED = 'Null if no response has named the caller yet, or the author is not known.';

/** What notes and annotations have in common, so that one component can show both. */
export const ContentInterface = builder.interfaceRef<object>('Content').implement({
  description: 'A text by a person, with pictures: a note or an annotation.',
  interfaces: [Node],
  fields: (t) => ({
    sourceId: t.id({ nullable: true, description: 'The id in the service. Null only beside an error.' }),
    revision: t.string({ description: 'What an update changes, as a short text: `unchangedSince` of its input.' }),
    viewerDidAuthor: t.boolean({ nullable: true, description: `Whether the caller made it. ${NAMED}` }),
    viewerCanUpdate: t.boolean({ nullable: true, description: `Whether the caller may change it. ${NAMED}` }),
    viewerCanDelete: t.boolean({ nullable: true, description: `Whether the caller may delete it. ${NAMED}` }),
    content: t.string({
      nullable: true,
      description: 'The whole text in the format of its type. Null if there is none.',
    }),
    blocks: t.field({
      type: [ContentBlock],
      nullable: true,
      description: 'The content as a tree of paragraphs and pictures. Null only beside an error.',
    }),
    pictures: t.field({ type: [ContentPhoto], description: 'All pictures, in the order of their numbers.' }),
    author: t.field({ type: User, nullable: true, description: 'The author. Null if the service names none.' }),
    commentsCount: t.int({ nullable: true, description: 'The number of comments. Null only beside an error.' }),
  }),
});

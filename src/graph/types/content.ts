import { builder } from '../../engine/builder.ts';
import { ContentBlock, ContentPhoto } from './content-blocks.ts';
import { User } from './user.ts';

/** What notes and annotations have in common, so that one component can show both. */
export const ContentInterface = builder.interfaceRef<object>('Content').implement({
  description: 'A text by a person, with pictures: a note or an annotation.',
  fields: (t) => ({
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

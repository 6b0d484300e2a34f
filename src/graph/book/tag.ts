import { RECORD_TAGS, TAGS_MAX, bookEndpoints } from '../../api/book.ts';
import { builder } from '../engine/builder.ts';
import { asObjects, count, text } from '../types/decode.ts';
import { badInput } from '../errors/to-client-error.ts';
import { User, isSite, userEdgeNames } from '../types/user.ts';
import { Book } from './book.ts';

/** Inside a book it is named by `name`, in the tag lists by `title`; the real service writes both. */
interface TagShape {
  name?: string;
  title?: string;
  count?: number;
}

export const Tag = builder.objectRef<TagShape>('Tag').implement({
  description: 'A word that readers put on books.',
  fields: (t) => ({
    name: t.reads(['name', 'title'], text, 'The word itself.'),
    count: t.reads(
      'count',
      count,
      'Of a book: how many readers gave it. Of a person: how many of their books have it.',
    ),
  }),
});

builder.objectField(Book, 'tags', (t) =>
  t.call({
    type: [Tag],
    description: `The tags that most readers gave, most used first. Up to ${RECORD_TAGS} are in the book itself; more cost a call of \`GET /v2/book/{id}/tags\`.`,
    args: { first: t.arg.int({ defaultValue: RECORD_TAGS, description: `How many at most, 1 to ${TAGS_MAX}.` }) },
    endpoint: bookEndpoints.tags,
    from: ['id'],
    input: ({ id }, { first }) => ({ id, ...{ count: tagsWanted(first) } }),
    embedded: { member: 'tags', upTo: RECORD_TAGS, representation: { names: 'all' } },
    assumedSize: TAGS_MAX,
    resolve: ({ tags }, { first }) => asObjects<TagShape>(tags).slice(0, tagsWanted(first)),
  }),
);

builder.objectField(User, 'bookTags', (t) =>
  t.connection({
    type: Tag,
    pageSize: 20,
    description: 'The tags that this person puts on books, most used first, from `GET /v2/book/user/{name}/tags`.',
    endpoint: bookEndpoints.userTags,
    from: userEdgeNames,
    input: ({ id }) => ({ name: id }),
    isEmpty: isSite,
  }),
);

function tagsWanted(first: number | null | undefined): number {
  const wanted = first ?? RECORD_TAGS;
  if (wanted < 1 || wanted > TAGS_MAX)
    throw badInput(`\`first\` must be from 1 to ${TAGS_MAX}.`, { argument: 'first', limit: TAGS_MAX });
  return wanted;
}

import { type BookTag as EmbeddedTag, RECORD_TAGS, TAGS_MAX, bookEndpoints } from '../../api/book.ts';
import { builder } from '../../engine/builder.ts';
import { asInt, asItems, asObjects, asText, count, text } from '../../engine/values/decode.ts';
import type { FieldBuilder } from '../../engine/fields/node.ts';
import { requireRange } from '../../engine/errors/to-client-error.ts';
import { User, isSite, userEdgeNames } from '../types/user.ts';
import { Book } from './book.ts';
import { Collection } from './collection.ts';

/** A book has `name`, tag lists have `title`; the real service writes both. */
interface TagShape extends Partial<EmbeddedTag> {
  /** The person who uses the tag; set in the list of a person's tags. */
  owner?: string;
}

const nameOf = ({ name, title }: TagShape): string => asText(name) || asText(title);

/** The fields of both kinds of tags. */
const tagFields = <Shape extends TagShape>(t: FieldBuilder<Shape>) => ({
  name: t.reads(['name', 'title'], text, 'The word.'),
  books: t.connection({
    type: Book,
    description: 'The books with this tag, in the order of the service.',
    endpoint: bookEndpoints.search,
    from: ['name', 'title'],
    input: (tag) => ({ tag: nameOf(tag) }),
    isEmpty: (tag) => nameOf(tag).trim() === '',
  }),
});

const BookTag = builder.objectRef<TagShape>('BookTag').implement({
  description: 'A word with which readers tag a book.',
  members: ['name', 'title', 'count'],
  fields: (t) => ({
    ...tagFields(t),
    count: t.reads('count', count, 'The number of readers who gave it to the book.'),
  }),
});

const UserBookTag = builder.objectRef<TagShape>('UserBookTag').implement({
  description: 'A word with which a person tags books.',
  noun: 'person',
  members: ['name', 'title', 'count'],
  fields: (t) => ({
    ...tagFields(t),
    count: t.reads('count', count, "The number of the person's books with it."),
    collections: t.connection({
      type: Collection,
      description: "The person's public collections with this tag, as a rule last changed first.",
      endpoint: bookEndpoints.collections,
      newestFirst: { time: 'updated', id: 'id' },
      from: ['name', 'title', 'owner'],
      input: ({ owner = '', ...tag }) => ({ name: owner, tag: nameOf(tag) }),
      isEmpty: (tag) => nameOf(tag).trim() === '',
    }),
  }),
});

builder.objectField(Book, 'tagsCount', (t) =>
  t.call({
    type: 'Int',
    description:
      'The number of different tags that readers gave to the book. Costs one call, the one of `tags` if more of these are selected.',
    nullIf: 'the service does not return it',
    endpoint: bookEndpoints.tags,
    from: ['id'],
    input: ({ id }) => ({ id, count: RECORD_TAGS }),
    resolve: ({ total }) => asInt(total),
  }),
);

builder.objectField(Book, 'tags', (t) =>
  t.call({
    type: [BookTag],
    description: `The tags of the book, as a rule the most used first. The book contains the first ${RECORD_TAGS}; more cost a call. Empty if nobody has tagged it.`,
    nullIf: 'the service no longer has the book',
    args: {
      first: t.arg.int({ defaultValue: RECORD_TAGS, description: `The most tags to return, 1 to ${TAGS_MAX}.` }),
    },
    endpoint: bookEndpoints.tags,
    from: ['id'],
    input: ({ id }, { first }) => ({ id, count: tagsWanted(first) }),
    embedded: { member: 'tags', upTo: RECORD_TAGS, representation: { members: 'all' } },
    assumedSize: TAGS_MAX,
    resolve: ({ tags }, { first }) => asObjects<TagShape>(tags).slice(0, tagsWanted(first)),
  }),
);

builder.objectField(User, 'bookTags', (t) =>
  t.connection({
    type: UserBookTag,
    description: 'The tags that this person gives to books, as a rule the most used first.',
    endpoint: bookEndpoints.userTags,
    from: userEdgeNames,
    input: ({ id }) => ({ name: id }),
    items: ({ tags }, { id }) => asItems<TagShape, TagShape>(tags, (tag) => ({ ...tag, owner: id })),
    isEmpty: isSite,
  }),
);

function tagsWanted(first: number | null | undefined): number {
  requireRange('first', first, 1, TAGS_MAX);
  return first ?? RECORD_TAGS;
}

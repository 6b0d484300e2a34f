import {
  type BookRecord,
  COMMENT_MAX,
  type CollectionDraft,
  type CollectionRecord,
  RATING_MAX,
  RATING_MIN,
  bookEndpoints,
  bookMembers,
  bookWithin,
  collectionMembers,
  collectionStatuses,
  viewerCollection,
} from '../../api/book.ts';
import { type InputBuilder, builder } from '../engine/builder.ts';
import { asObject, asOneOf, asText, localDateTime, textOrNull, texts } from '../types/decode.ts';
import { badInput } from '../errors/to-client-error.ts';
import { globalId, isSourceId, sourceIdOf } from '../types/global-id.ts';
import { type FieldBuilder, Node, embedded } from '../types/node.ts';
import { UserRating, userRating } from '../types/rating.ts';
import { UpstreamRefusal } from '../../upstream/errors.ts';
import { User, type UserShape, isSite, userEdge } from '../types/user.ts';
import { type Violation, atMost, between, broken, readable } from '../errors/violations.ts';
import type { Codes } from '../engine/mutation.ts';
import '../engine/mutation.ts';
import { Book } from './book.ts';

export const CollectionStatus = builder.enumType('CollectionStatus', {
  description: 'How far a reader is with a book.',
  values: {
    WISH: { value: 'wish', description: 'Wants to read it.' },
    READING: { value: 'reading', description: 'Is reading it; `doing` is another word for it upstream.' },
    READ: { value: 'read', description: 'Has read it; `done` is another word for it upstream.' },
  },
});

export const Collection = builder.objectRef<CollectionRecord>('Collection').implement({
  description:
    'A book on the shelf of a reader, with what the reader says of it. Its id is made of the two, `Collection:<user>:<book>`.',
  interfaces: [Node],
  record: { ask: bookEndpoints.collection, input: shelfPlace, members: collectionMembers, keyOf },
  node: (key) => {
    const [user, book, ...more] = key.split(':');
    return user && book && isSourceId(user) && isSourceId(book) && more.length === 0 ? handle(key) : null;
  },
  fields: (t) => ({
    id: t.id({
      description: 'The global id, to be treated as opaque.',
      needs: ['user_id', 'book_id'],
      resolve: (collection) => globalId('Collection', placeOf(collection)),
    }),
    sourceId: t.id({
      description:
        'The ids of the reader and the book, `<user>:<book>`: no operation takes the number that the service keeps.',
      needs: ['user_id', 'book_id'],
      resolve: placeOf,
    }),
    status: t.field({
      type: CollectionStatus,
      nullable: true,
      description: 'Null for a word that is none of the known.',
      needs: ['status'],
      resolve: ({ status }) => asOneOf(collectionStatuses, status),
    }),
    rating: t.field({
      type: UserRating,
      nullable: true,
      description: 'What the reader gave; null when unrated.',
      needs: ['rating'],
      resolve: ({ rating }) => userRating(rating),
    }),
    comment: t.reads('comment', textOrNull, 'A short opinion of at most 350 characters; null when there is none.'),
    tags: t.reads('tags', texts, "The reader's own tags for the book; empty when there are none."),
    updatedAt: t.reads('updated', localDateTime, 'When the reader last changed it.'),
    book: t.field({
      type: Book,
      nullable: true,
      description: 'The book collected.',
      needs: ['book'],
      idIn: 'book_id',
      form: bookWithin,
      resolve: ({ book, book_id }) => embedded(book, book_id),
    }),
    user: t.field({
      type: User,
      nullable: true,
      description: 'The reader, known by id alone.',
      needs: ['user_id'],
      resolve: ({ user_id }): UserShape | null => embedded<UserShape>(null, user_id),
    }),
  }),
});

builder.objectField(Book, 'collection', (t) =>
  t.ask({
    type: Collection,
    description:
      'The book on the shelf of a person, from `GET /v2/book/{id}/collection`; null when it is not there, or is private.',
    args: { userId: t.arg.id({ required: true, description: 'Global id, bare id, or uid of the person.' }) },
    ask: bookEndpoints.collection,
    from: ['id'],
    input: ({ id }, { userId }) => ({ id, user_id: sourceIdOf('User', userId) }),
    resolve: (collection) => collection,
  }),
);

builder.objectField(Book, 'viewerCollection', (t) =>
  t.ask({
    type: Collection,
    description:
      "The book on the caller's own shelf: null when it is not there, and without the caller's own token. `current_user_collection` of the book tells all but its tags and comment, which cost a call.",
    ask: bookEndpoints.collection,
    from: ['id'],
    input: ({ id }) => ({ id }),
    hand: { name: 'current_user_collection', form: viewerCollection },
    viewerOnly: true,
    resolve: (collection) => (Object.keys(asObject(collection)).length > 0 ? collection : null),
  }),
);

builder.objectField(User, 'bookCollections', (t) =>
  t.pages({
    of: Collection,
    first: 20,
    description: "The person's public shelf, last changed first, from `GET /v2/book/user/{name}/collections`.",
    args: {
      status: t.arg({
        type: CollectionStatus,
        description: 'Only books that the reader is so far with; all by default.',
      }),
      tag: t.arg.string({ description: 'Only books with this tag of the reader.' }),
      updatedAfter: t.arg({
        type: 'DateTime',
        description: 'Only what was changed from this moment on; `from` upstream.',
      }),
      updatedBefore: t.arg({
        type: 'DateTime',
        description: 'Only what was changed up to this moment; `to` upstream.',
      }),
      rating: t.arg.int({ description: `Only books that the reader gave this, ${RATING_MIN} to ${RATING_MAX}.` }),
    },
    ask: bookEndpoints.collections,
    from: userEdge,
    input: ({ id }, { status, tag, updatedAfter, updatedBefore, rating }) => {
      if (rating != null && (rating < RATING_MIN || rating > RATING_MAX)) {
        throw badInput(`\`rating\` must be from ${RATING_MIN} to ${RATING_MAX}.`, {
          argument: 'rating',
          limit: RATING_MAX,
        });
      }
      return {
        name: id,
        status: status ?? undefined,
        tag: tag?.trim() || undefined,
        from: updatedAfter ?? undefined,
        to: updatedBefore ?? undefined,
        rating: rating ?? undefined,
      };
    },
    none: isSite,
  }),
);

const OnConflict = builder.enumType('OnConflict', {
  description: 'What becomes of a book that the caller has collected before.',
  values: {
    FAIL: { description: 'It is the error COLLECTION_EXISTS, and stays as it was.' },
    UPDATE: { description: 'Its collection is replaced, as `updateCollection` does it: a second call.' },
  } as const,
});

const CollectBookInput = builder.inputType('CollectBookInput', {
  description: 'A book for the shelf of the caller.',
  fields: (t) => ({
    ...collectionFields(t),
    private: t.boolean({
      description:
        'Whether it is for the caller alone; public without it. Needed with `onConflict: UPDATE`, which replaces the whole.',
    }),
    onConflict: t.field({
      type: OnConflict,
      defaultValue: 'FAIL',
      description: 'What to do where it is there already.',
    }),
  }),
});

const UpdateCollectionInput = builder.inputType('UpdateCollectionInput', {
  description: 'A collection as it shall be. REPLACES the whole of it: a rating, tags or comment left out are cleared.',
  fields: (t) => ({
    ...collectionFields(t),
    private: t.boolean({ required: true, description: 'Whether it is for the caller alone.' }),
  }),
});

const DeleteCollectionInput = builder.inputType('DeleteCollectionInput', {
  description: 'Which book to take off the shelf.',
  fields: (t) => ({ bookId: t.id({ required: true, description: 'Global or bare id of the book.' }) }),
});

/** Not specified: how many tags a collection may have. */
const TAGS_GIVEN_MAX = 100;

function collectionFields(t: InputBuilder) {
  return {
    bookId: t.id({ required: true, description: 'Global or bare id of the book.' }),
    status: t.field({ type: CollectionStatus, required: true, description: 'How far the caller is with it.' }),
    rating: t.int({ description: `From ${RATING_MIN} to ${RATING_MAX}; none leaves it unrated.` }),
    tags: t.stringList({
      description: `Single words, at most ${TAGS_GIVEN_MAX} of them: the service parts tags by spaces.`,
    }),
    comment: t.string({ description: `A short opinion, at most ${COMMENT_MAX} characters (code points).` }),
  };
}

interface CollectionPayload {
  collection: CollectionRecord;
  book: BookRecord;
}

const CollectBookPayload = builder.objectRef<CollectionPayload & { created: boolean }>('CollectBookPayload').implement({
  description: 'What came of collecting a book.',
  fields: (t) => ({
    ...collectionPayload(t),
    created: t.exposeBoolean('created', {
      description: 'False where `onConflict: UPDATE` replaced one that was there.',
    }),
  }),
});
const UpdateCollectionPayload = builder.objectRef<CollectionPayload>('UpdateCollectionPayload').implement({
  description: 'The collection as it is now.',
  fields: collectionPayload,
});
const DeleteCollectionPayload = builder
  .objectRef<Pick<CollectionPayload, 'book'>>('DeleteCollectionPayload')
  .implement({
    description: 'The book, which is on the shelf no more.',
    fields: bookPayload,
  });

function bookPayload<Shape extends Pick<CollectionPayload, 'book'>>(t: FieldBuilder<Shape>) {
  return {
    book: t.field({
      type: Book,
      nullable: true,
      description: 'The book. What the answer to the write does not tell of it costs a call.',
      form: { names: [] }, // it holds what is known of it, undefined where that is nothing
      resolve: ({ book }) => book,
    }),
  };
}
function collectionPayload<Shape extends CollectionPayload>(t: FieldBuilder<Shape>) {
  return {
    collection: t.field({
      type: Collection,
      nullable: true,
      description: 'The collection, as the service answered.',
      resolve: ({ collection }) => collection,
    }),
    ...bookPayload(t),
  };
}

/** A missing scope draws the same; but who may write at all meets this one every day. */
const collectionAbsent: Codes = { 1001: 'COLLECTION_NOT_FOUND' };

builder.mutationFields((t) => ({
  collectBook: t.write({
    endpoint: bookEndpoints.collect,
    payload: CollectBookPayload,
    input: CollectBookInput,
    description: 'Puts a book on the shelf of the caller. `POST /v2/book/{id}/collection`',
    calls: 2,
    check: (input) => [
      ...collectionBroken(input),
      ...broken(input.onConflict === 'UPDATE' && input.private == null, {
        path: ['input', 'private'],
        code: 'MISSING_ARGUMENT',
      }),
    ],
    run: async (write, input) => {
      const draft = draftOf(input);
      try {
        return { ...collected(draft.id, await write(bookEndpoints.collect, draft)), created: true };
      } catch (error) {
        const exists = error instanceof UpstreamRefusal && error.word.code === 6011;
        if (!exists || input.onConflict !== 'UPDATE') throw error;
        return { ...collected(draft.id, await write(bookEndpoints.updateCollection, draft)), created: false };
      }
    },
    clears: ({ bookId }) => shelved(bookId),
  }),
  updateCollection: t.write({
    endpoint: bookEndpoints.updateCollection,
    payload: UpdateCollectionPayload,
    input: UpdateCollectionInput,
    description: 'REPLACES what the caller says of a book on the shelf. `PUT /v2/book/{id}/collection`',
    check: collectionBroken,
    run: async (write, input) => {
      const draft = draftOf(input);
      return collected(draft.id, await write(bookEndpoints.updateCollection, draft));
    },
    clears: ({ bookId }) => shelved(bookId),
    codes: collectionAbsent,
  }),
  deleteCollection: t.write({
    endpoint: bookEndpoints.deleteCollection,
    payload: DeleteCollectionPayload,
    input: DeleteCollectionInput,
    description: 'Takes a book off the shelf of the caller. `DELETE /v2/book/{id}/collection`',
    check: ({ bookId }) => readable('bookId', () => sourceIdOf('Book', bookId)),
    run: async (write, { bookId }) => {
      const id = sourceIdOf('Book', bookId);
      await write(bookEndpoints.deleteCollection, { id });
      return { book: { id, current_user_collection: null } as unknown as BookRecord };
    },
    clears: ({ bookId }) => shelved(bookId),
    codes: collectionAbsent,
  }),
}));

interface CollectionInput {
  bookId: string;
  status: CollectionDraft['status'];
  rating?: number | null | undefined;
  tags?: readonly string[] | null | undefined;
  comment?: string | null | undefined;
  private?: boolean | null | undefined;
}

function collectionBroken({ bookId, rating, tags, comment }: CollectionInput): Violation[] {
  return [
    ...readable('bookId', () => sourceIdOf('Book', bookId)),
    ...between('rating', rating, [RATING_MIN, RATING_MAX], 'RATING_OUT_OF_RANGE'),
    ...tagsBroken(tags ?? []),
    ...atMost('comment', comment, COMMENT_MAX, 'COMMENT_TOO_LONG'),
  ];
}

function tagsBroken(tags: readonly string[]): Violation[] {
  const path = ['input', 'tags'];
  if (tags.length > TAGS_GIVEN_MAX)
    return [{ path, code: 'TOO_MANY_TAGS', limit: TAGS_GIVEN_MAX, actual: tags.length }];
  return tags.flatMap((tag, index) =>
    broken(!/^\S+$/u.test(tag), { path: [...path, index], code: 'INVALID_TAG', actual: tag }),
  );
}

const draftOf = ({ bookId, status, rating, tags, comment, private: isPrivate }: CollectionInput) => ({
  id: sourceIdOf('Book', bookId),
  status,
  tags: tags?.length ? tags.join(' ') : undefined,
  comment: comment || undefined,
  privacy: isPrivate == null ? undefined : isPrivate ? 'private' : 'public',
  rating: rating ?? undefined,
});

/** The answer, and the book of it, which has learned that it is on the shelf. Both hold all that they can hold. */
function collected(id: string, answer: CollectionRecord): CollectionPayload {
  const collection = held(collectionMembers, { ...answer, book_id: answer.book_id ?? id });
  const { book } = answer;
  const known = book ? held(bookMembers, book) : { id };
  return { collection, book: { ...known, current_user_collection: collection } as BookRecord };
}

/** A record with every member it can have: undefined where the service left one out, which is its default. */
const held = <Shape extends object>(members: readonly (keyof Shape)[], record: Shape): Shape => ({
  ...(Object.fromEntries(members.map((name) => [name, undefined])) as Shape),
  ...record,
});

/**
 * Everything that shows a collection or its book, whose rating and tags depend on its readers. All shelves, because a person has two names
 * and not every response contains one of them.
 */
const shelved = (bookId: string): string[] => {
  const id = sourceIdOf('Book', bookId);
  return [`Book:${id}`, `/v2/book/${id}/tags`, `/v2/book/${id}/collection`, 'Collection', 'Annotation', ...shelves];
};

const shelves = [
  bookEndpoints.byIsbn,
  bookEndpoints.search,
  bookEndpoints.seriesBooks,
  bookEndpoints.collections,
  bookEndpoints.userTags,
  bookEndpoints.userTagsOld,
  bookEndpoints.annotations,
  bookEndpoints.userAnnotations,
  bookEndpoints.annotation,
].map(({ path }) => path);

/** A collection known by its place alone stands for it in `id`, as the handle of any record does. */
const handle = (key: string): { id: string } => ({ id: key });

const placeOf = ({ user_id, book_id }: Pick<CollectionRecord, 'user_id' | 'book_id'>): string =>
  `${asText(user_id)}:${asText(book_id)}`;

/** The place that a record or a handle can be asked by; null where a record does not tell it. */
function keyOf(collection: Partial<CollectionRecord>): string | null {
  const { user_id = '', book_id = '', id } = collection;
  if (asText(user_id) && asText(book_id)) return placeOf({ user_id, book_id });
  return asText(id).includes(':') ? asText(id) : null;
}

function shelfPlace(key: string): { id: string; user_id: string } {
  const colon = key.indexOf(':');
  return { id: key.slice(colon + 1), user_id: key.slice(0, colon) };
}

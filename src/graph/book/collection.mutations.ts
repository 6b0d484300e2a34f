import {
  type BookRecord,
  COMMENT_MAX,
  type CollectionDraft,
  type CollectionRecord,
  RATING_MAX,
  RATING_MIN,
  bookEndpoints,
  bookMembers,
  collectionMembers,
} from '../../api/book.ts';
import { type InputBuilder, builder } from '../engine/builder.ts';
import { sourceIdOf } from '../types/global-id.ts';
import { type FieldBuilder } from '../types/node.ts';
import { UpstreamRejection } from '../../upstream/errors.ts';
import { type Violation, maxLength, inRange, invalidIf, validId } from '../errors/violations.ts';
import type { ErrorCodes } from '../engine/mutation.ts';
import '../engine/mutation.ts';
import { Book } from './book.ts';
import { Collection, CollectionStatusEnum } from './collection.ts';

const OnConflict = builder.enumType('OnConflict', {
  description: 'What becomes of a book that the caller has collected before.',
  values: {
    FAIL: { description: 'It is the error COLLECTION_EXISTS, and stays as it was.' },
    KEEP: {
      description:
        'It stays as it was, and is the answer, with `created: false`: a second call, `GET /v2/book/{id}/collection`.',
    },
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
    status: t.field({ type: CollectionStatusEnum, required: true, description: 'How far the caller is with it.' }),
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
      description:
        'False where the book was collected before: `onConflict: UPDATE` replaced that, `KEEP` left it as it was.',
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
      representation: { names: [] }, // it holds what is known of it, undefined where that is nothing
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
const collectionAbsent: ErrorCodes = { 1001: 'COLLECTION_NOT_FOUND' };

builder.mutationFields((t) => ({
  collectBook: t.write({
    endpoint: bookEndpoints.collect,
    payload: CollectBookPayload,
    input: CollectBookInput,
    description: 'Puts a book on the shelf of the caller. `POST /v2/book/{id}/collection`',
    maxCalls: 2,
    check: (input) => [
      ...collectionBroken(input),
      ...invalidIf(input.onConflict === 'UPDATE' && input.private == null, {
        path: ['input', 'private'],
        code: 'MISSING_ARGUMENT',
      }),
    ],
    run: async (write, input, read) => {
      const draft = draftOf(input);
      try {
        return { ...collected(draft.id, await write(bookEndpoints.collect, draft)), created: true };
      } catch (error) {
        const exists = error instanceof UpstreamRejection && error.details.code === 6011;
        if (!exists || input.onConflict === 'FAIL' || !input.onConflict) throw error;
        if (input.onConflict === 'KEEP') {
          const existing = await read(bookEndpoints.collection, { id: draft.id });
          if (!existing) throw error; // it was removed in between
          return { ...collected(draft.id, existing), created: false };
        }
        return { ...collected(draft.id, await write(bookEndpoints.updateCollection, draft)), created: false };
      }
    },
    invalidates: ({ bookId }) => shelved(bookId),
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
    invalidates: ({ bookId }) => shelved(bookId),
    errorCodes: collectionAbsent,
  }),
  deleteCollection: t.write({
    endpoint: bookEndpoints.deleteCollection,
    payload: DeleteCollectionPayload,
    input: DeleteCollectionInput,
    description: 'Takes a book off the shelf of the caller. `DELETE /v2/book/{id}/collection`',
    check: ({ bookId }) => validId('bookId', () => sourceIdOf('Book', bookId)),
    run: async (write, { bookId }) => {
      const id = sourceIdOf('Book', bookId);
      await write(bookEndpoints.deleteCollection, { id });
      return { book: { id, current_user_collection: null } as unknown as BookRecord };
    },
    invalidates: ({ bookId }) => shelved(bookId),
    errorCodes: collectionAbsent,
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
    ...validId('bookId', () => sourceIdOf('Book', bookId)),
    ...inRange('rating', rating, [RATING_MIN, RATING_MAX], 'RATING_OUT_OF_RANGE'),
    ...tagsBroken(tags ?? []),
    ...maxLength('comment', comment, COMMENT_MAX, 'COMMENT_TOO_LONG'),
  ];
}

function tagsBroken(tags: readonly string[]): Violation[] {
  const path = ['input', 'tags'];
  if (tags.length > TAGS_GIVEN_MAX)
    return [{ path, code: 'TOO_MANY_TAGS', limit: TAGS_GIVEN_MAX, actual: tags.length }];
  return tags.flatMap((tag, index) =>
    invalidIf(!/^\S+$/u.test(tag), { path: [...path, index], code: 'INVALID_TAG', actual: tag }),
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

import {
  type BookRecord,
  COMMENT_MAX,
  type CollectionRecord,
  RATING_MAX,
  RATING_MIN,
  bookEndpoints,
  bookMembers,
  collectionMembers,
} from '../../api/book.ts';
import type { Endpoint } from '../../api/endpoint.ts';
import type { PersonFacts } from '../../upstream/auth/viewer.ts';
import { CodedRejection, UpstreamRejection } from '../../upstream/errors.ts';
import { type InputBuilder, builder } from '../../engine/builder.ts';
import { changeMutations } from '../../engine/fields/change.ts';
import { type ErrorCodes, type ValuesOf, type Written, mutation } from '../../engine/fields/mutation.ts';
import type { ClientCode } from '../../engine/errors/codes.ts';
import { type Violation, inRange, invalidIf, maxLength } from '../../engine/errors/violations.ts';
import { globalId } from '../../engine/values/global-id.ts';
import type { FieldBuilder } from '../../engine/fields/node.ts';
import { returnedField } from '../../engine/fields/mutation-payloads.ts';
import { formerOwner } from '../caller.ts';
import { Book } from './book.ts';
import { Collection, CollectionStatusEnum, collectionKeyOf } from './collection.ts';
import { collectionPatch } from './collection.patch.ts';

const CollectBookConflict = builder.enumType('CollectBookConflict', {
  description: 'What to do if the caller has already collected the book.',
  values: {
    FAIL: {
      description:
        'Reports the error COLLECTION_EXISTS and leaves the collection unchanged. `extensions.existing.id` is its id, if the caller is known: see `Viewer.user`.',
    },
    KEEP: {
      description:
        'Returns the unchanged collection with `created: false`. Costs a second call. Upstream: `GET /v2/book/{id}/collection`.',
    },
    UPDATE: {
      description:
        'Changes the collection like `updateCollection`: what the input leaves out stays, and null clears. Costs two calls more, and without `isPrivate` up to two to find out who may see it.',
    },
    REPLACE: {
      description:
        'Replaces the collection like `replaceCollection`: what the input leaves out is cleared. Costs a second call.',
    },
  } as const,
});

/** Not specified: how many tags a collection may have. */
export const TAGS_GIVEN_MAX = 100;

const collectionFields = (t: InputBuilder, isWhole: true) => ({
  status: t.field({ type: CollectionStatusEnum, required: isWhole, description: 'The reading status.' }),
  rating: t.int({ description: `The rating, from ${RATING_MIN} to ${RATING_MAX}; unrated by default.` }),
  tags: t.stringList({
    description: `At most ${TAGS_GIVEN_MAX} tags without spaces, because the service separates tags by spaces.`,
  }),
  comment: t.string({ description: `A short opinion, at most ${COMMENT_MAX} characters (code points).` }),
});

interface Collected {
  collection: CollectionRecord;
  book: BookRecord;
}

const bookField = <Result extends Pick<Collected, 'book'>>(t: FieldBuilder<Written<Result>>) => ({
  book: t.field({
    type: Book,
    nullable: true,
    description: 'The book. Fields that the response to the write does not provide cost a call.',
    nullIf: 'the service has it no longer',
    representation: { members: [] }, // members of the record that are known, some of them as undefined
    resolve: ({ result }) => result.book,
  }),
});
const collectionAndBook = <Result extends Collected>(t: FieldBuilder<Written<Result>>) => ({
  collection: returnedField(t, Collection, 'collection', ({ result }) => result.collection),
  ...bookField(t),
});

/** Code 1001 also means "missing scope", but for callers who may write it nearly always means "not found". */
const collectionAbsent: ErrorCodes = { 1001: 'COLLECTION_NOT_FOUND' };

mutation('collectBook', {
  description: "Adds a book to the caller's shelf.",
  upstream: '`POST /v2/book/{id}/collection`',
  endpoint: bookEndpoints.collect,
  target: ['bookId', 'Book'],
  input: {
    description: 'The collection to create.',
    fields: (t: InputBuilder) => ({
      ...collectionFields(t, true),
      isPrivate: t.boolean({
        description:
          'Whether only the caller may see it; public by default. Required with `onConflict: REPLACE`, which replaces the whole collection.',
      }),
      onConflict: t.field({
        type: CollectBookConflict,
        defaultValue: 'FAIL',
        description: 'What to do if the caller has already collected the book.',
      }),
    }),
  },
  check: (input) => [
    ...collectionBroken(input),
    invalidIf(input.onConflict === 'REPLACE' && input.isPrivate == null, 'isPrivate', 'MISSING_ARGUMENT'),
  ],
  request: draftOf,
  patch: collectionPatch,
  isPatch: ({ onConflict }) => onConflict === 'UPDATE',
  run: async ({ send, write, change, read, id, viewer }, input) => {
    try {
      return { ...collected(id, await send()), created: true };
    } catch (error) {
      const exists = error instanceof UpstreamRejection && error.details.code === 6011;
      if (!exists) throw error;
      if (input.onConflict === 'FAIL' || !input.onConflict) throw existing(error, viewer.person, id);
      const answer =
        input.onConflict === 'KEEP'
          ? await read(bookEndpoints.collection, { id })
          : await write(bookEndpoints.updateCollection, draftOf(await change(), id));
      if (!answer) throw error; // it was removed in between
      return { ...collected(id, answer), created: false };
    }
  },
  maxCalls: (input) => ((input?.onConflict ?? 'UPDATE') === 'FAIL' ? 1 : 2),
  payload: {
    description: 'The result of collecting a book.',
    fields: (t) => ({
      ...collectionAndBook(t),
      created: t.boolean({
        description:
          'False if the book was already collected: `onConflict: UPDATE` changed that collection, `REPLACE` replaced it, `KEEP` left it unchanged.',
        resolve: ({ result }) => result.created,
      }),
    }),
  },
  invalidates: shelved,
});
changeMutations('Collection', {
  what: "the caller's collection of a book",
  cleared: 'a rating, tags or comment left out are cleared.',
  endpoint: bookEndpoints.updateCollection,
  target: ['bookId', 'Book'],
  fields: (t: InputBuilder, isWhole: true) => ({
    ...collectionFields(t, isWhole),
    isPrivate: t.boolean({ required: isWhole, description: 'Whether only the caller may see it.' }),
  }),
  patch: collectionPatch,
  check: collectionBroken,
  request: draftOf,
  run: async ({ send, id }) => collected(id, await send()),
  payload: { description: 'The changed collection.', fields: collectionAndBook },
  invalidates: shelved,
  errorCodes: collectionAbsent,
});
mutation('deleteCollection', {
  description: "Removes a book from the caller's shelf.",
  endpoint: bookEndpoints.deleteCollection,
  target: ['bookId', 'Book'],
  input: { description: 'The book to remove from the shelf.' },
  run: async ({ send, id }) => {
    await send();
    return { book: { id, current_user_collection: null } as unknown as BookRecord };
  },
  payload: {
    description: 'The result of removing a book from the shelf.',
    fields: (t) => ({
      deletedId: t.id({
        nullable: true,
        description: 'The global id of the removed collection.',
        nullIf: 'no response has named the caller yet: see `Viewer.user`',
        resolve: ({ id }, _, { viewer: { person } }) => (person ? collectionIdOf(person, id) : null),
      }),
      ...bookField(t),
      ...formerOwner('user')(t),
    }),
  },
  invalidates: shelved,
  errorCodes: collectionAbsent,
});

/** The rejection with the id of the collection that exists, if the caller is known: it consists of the ids of reader and book. */
function existing(error: UpstreamRejection, person: PersonFacts | undefined, book_id: string): UpstreamRejection {
  if (!person) return error;
  const extensions = { existing: { id: collectionIdOf(person, book_id) } };
  return new CodedRejection(error.details, 'COLLECTION_EXISTS' satisfies ClientCode, extensions);
}

const collectionIdOf = ({ id }: PersonFacts, book_id: string): string =>
  globalId('Collection', collectionKeyOf({ user_id: id, book_id }));

type CollectionInput = ValuesOf<typeof collectionFields> & { isPrivate?: boolean | null };

function collectionBroken({ rating, tags, comment }: CollectionInput) {
  return [
    inRange('rating', rating, [RATING_MIN, RATING_MAX], 'RATING_OUT_OF_RANGE'),
    ...tagsBroken(tags ?? []),
    maxLength('comment', comment, COMMENT_MAX, 'COMMENT_TOO_LONG'),
  ];
}

function tagsBroken(tags: readonly string[]): (Violation | undefined)[] {
  const [limit, actual] = [TAGS_GIVEN_MAX, tags.length];
  if (actual > limit) return [{ path: ['input', 'tags'], code: 'TOO_MANY_TAGS', limit, actual }];
  return tags.map((tag, index) => invalidIf(!/^\S+$/u.test(tag), ['tags', index], 'INVALID_TAG', { actual: tag }));
}

function draftOf({ status, rating, tags, comment, isPrivate }: CollectionInput, id: string) {
  return {
    id,
    status,
    tags: tags?.length ? tags.join(' ') : undefined,
    comment: comment || undefined,
    privacy: isPrivate == null ? undefined : isPrivate ? 'private' : 'public',
    rating: rating ?? undefined,
  };
}

/** The returned collection and its book, which gets it as `current_user_collection`. Both have every member of their type. */
function collected(id: string, answer: CollectionRecord): Collected {
  const collection = held(collectionMembers, { ...answer, book_id: answer.book_id ?? id });
  const { book } = answer;
  const known = book ? held(bookMembers, book) : { id };
  return { collection, book: { ...known, current_user_collection: collection } as BookRecord };
}

/** A record with every member of its type: one that the service omitted is undefined, because it has its default value. */
function held<Shape extends object>(members: readonly (keyof Shape)[], record: Shape): Shape {
  const absent: Partial<Record<keyof Shape, undefined>> = {};
  for (const member of members) absent[member] = undefined;
  return { ...absent, ...record };
}

/**
 * Everything that contains a collection or its book, whose rating and tags depend on its readers. All shelves, because a person has an id
 * and a uid, and not every response contains either.
 */
function shelved(id: string): string[] {
  return [`Book:${id}`, `/v2/book/${id}/tags`, `/v2/book/${id}/collection`, 'Collection', 'Annotation', ...shelves];
}

/** What the id of the book names: of every other list, all responses are invalidated. */
const ofOneBook: readonly Endpoint[] = [bookEndpoints.byId, bookEndpoints.tags, bookEndpoints.collection];
const shelves = Object.values<Endpoint>(bookEndpoints)
  .filter((endpoint) => endpoint.method === 'GET' && !ofOneBook.includes(endpoint))
  .map(({ path }) => path);

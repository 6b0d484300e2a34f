import {
  type AnnotationRecord,
  type CollectionRecord,
  RATING_MAX,
  RATING_MIN,
  bookEndpoints,
  bookWithin,
  collectionMembers,
  collectionStatuses,
  viewerCollection,
} from '../../api/book.ts';
import type { Viewer } from '../../upstream/auth/viewer.ts';
import { oncePer } from '../../lib/remember.ts';
import { builder } from '../../engine/builder.ts';
import { asItems, asObject, asText, localDateTime, wordOrNull, textOrNull, texts } from '../../engine/values/decode.ts';
import { requireRange } from '../../engine/errors/to-client-error.ts';
import { globalId, isSourceId, sourceIdOf } from '../../engine/values/global-id.ts';
import { revisionField } from '../../engine/fields/patch.ts';
import { LOCAL_ZONE } from '../../engine/values/iso-time.ts';
import { Node } from '../../engine/fields/node.ts';
import { ratingBy } from '../types/rating.ts';
import { isCaller, viewerRights } from '../caller.ts';
import { User, isSite, userEdgeNames, userIdOf } from '../types/user.ts';
import { Annotation } from './annotation.ts';
import { Book } from './book.ts';
import { isPrivateEntry, collectionPatch, readsOfPrivacy } from './collection.patch.ts';

export const CollectionStatusEnum = builder.enumType('CollectionStatus', {
  description: 'The reading status of a book.',
  values: {
    WISH: { value: 'wish', description: 'Wants to read it.' },
    READING: { value: 'reading', description: 'Is reading it. Upstream: `reading`, `doing`.' },
    READ: { value: 'read', description: 'Has read it. Upstream: `read`, `done`.' },
  },
});

/** The entries of which an operation asks whether they are private. */
const askedBy = oncePer((_: Viewer) => new Set<string>());

const statusOrNull = wordOrNull(CollectionStatusEnum, collectionStatuses);

export const Collection = builder.objectRef<CollectionRecord>('Collection').implement({
  description:
    "A book on a reader's shelf, with the reader's status, rating, tags and comment. The global id is `Collection:<user>:<book>`.",
  interfaces: [Node],
  record: {
    endpoint: bookEndpoints.collection,
    input: inputOf,
    members: collectionMembers,
    keyOf,
    keyMembers: ['user_id', 'book_id'],
  },
  nodeOf: (key) => {
    const [user, book, ...more] = key.split(':');
    return user && book && isSourceId(user) && isSourceId(book) && more.length === 0
      ? { user_id: user, book_id: book }
      : null;
  },
  fields: (t) => ({
    id: t.computed({
      type: 'ID',
      description: 'The global id. Treat it as opaque.',
      needs: ['user_id', 'book_id'],
      resolve: (collection) => globalId('Collection', collectionKeyOf(collection)),
    }),
    sourceId: t.computed({
      type: 'ID',
      nullable: true,
      nullIf: false,
      description:
        'The ids of the reader and the book, `<user>:<book>`: no operation accepts the number that the service assigns.',
      needs: ['user_id', 'book_id'],
      resolve: collectionKeyOf,
    }),
    status: t.reads('status', statusOrNull, 'The reading status.'),
    rating: t.reads('rating', ratingBy, 'The rating by the reader.'),
    comment: t.reads('comment', textOrNull, 'A short opinion of at most 350 characters.'),
    tagNames: t.reads('tags', texts, "The reader's own tags for the book; empty if there are none."),
    updatedAt: t.reads('updated', localDateTime, 'The time of the last change.'),
    isPrivate: t.computed({
      type: 'Boolean',
      nullable: true,
      description:
        "Whether only the caller may see it, of the caller's own collections. One call without your token, for all entries of a page together; a second one if that does not tell.",
      nullIf: 'it is not known as the own one, or it cannot be found out',
      upstream: false,
      viewerOnly: 'named',
      needs: ['id', 'user_id', 'book_id', 'updated'],
      readsAsNobody: readsOfPrivacy,
      async resolve(collection, _, { viewer, readAsNobody, listing }) {
        if (!isCaller({ id: asText(collection.user_id) }, viewer.person)) return null;
        const asked = askedBy(viewer).add(collectionKeyOf(collection));
        await Promise.resolve(); // so that all of this tick are known
        const isAlone = !listing && asked.size === 1;
        return (await isPrivateEntry(collection, readAsNobody!, isAlone ? 'last' : 'first', listing)) ?? null;
      },
    }),
    revision: revisionField(t, collectionPatch, ['status', 'rating', 'tags', 'comment']),
    book: t.record(Book, { member: 'book', id: 'book_id' }, 'The collected book.', { representation: bookWithin }),
    user: t.record(User, { id: 'user_id' }, 'The reader. `name`, `avatarUrl` and `webUrl` cost a call.'),
    ...viewerRights(t, {
      thing: 'collection',
      needs: ['user_id'],
      authorOf: ({ user_id }) => ({ id: asText(user_id) }),
    }),
  }),
});

const NONE = 'there is none, or it is private';

builder.objectFields(Book, (t) => ({
  collection: t.call({
    type: Collection,
    description: 'The collection of this book by a person.',
    nullIf: NONE,
    args: {
      userId: t.arg.id({ required: true, description: 'Global id, bare id or uid of the person, such as `alice`.' }),
    },
    endpoint: bookEndpoints.collection,
    from: ['id'],
    input: ({ id }, { userId }) => ({ id, user_id: userIdOf(userId, 'userId') }),
    resolve: (collection, { userId }, { id }) => withKey(collection, userIdOf(userId, 'userId'), id),
  }),
  viewerCollection: t.call({
    type: Collection,
    description:
      "The caller's collection of this book. `tagNames` and `comment` cost a call; the book contains the other fields.",
    nullIf: 'there is none, or the request has no token',
    endpoint: bookEndpoints.collection,
    from: ['id'],
    embedded: { member: 'current_user_collection', representation: viewerCollection },
    viewerOnly: true,
    resolve: (collection, _, { id }) =>
      Object.keys(asObject(collection)).length > 0 ? withKey(collection, '', id) : null,
  }),
}));

builder.objectField(User, 'bookCollection', (t) =>
  t.call({
    type: Collection,
    description: "The person's collection of a book.",
    nullIf: NONE,
    args: { bookId: t.arg.id({ required: true, description: 'Global or bare id of the book, such as `6082808`.' }) },
    endpoint: bookEndpoints.collection,
    from: userEdgeNames,
    backReference: 'user',
    input: ({ id }, { bookId }) => ({ id: sourceIdOf('Book', bookId, 'bookId'), user_id: id }),
    isUnavailable: isSite,
    resolve: (collection, { bookId }, { id }) => withKey(collection, id, sourceIdOf('Book', bookId, 'bookId')),
  }),
);

builder.objectField(Annotation, 'authorCollection', (t) =>
  t.call({
    type: Collection,
    description: "The author's collection of the annotated book, with the rating. Costs one call.",
    nullIf: NONE,
    endpoint: bookEndpoints.collection,
    from: ['author_id', 'author_user', 'book_id'],
    input: (annotation) => ({ id: annotation.book_id, user_id: authorIdOf(annotation) }),
    isUnavailable: (annotation) =>
      isSite(asObject(annotation.author_user)) ||
      ![authorIdOf(annotation), asText(annotation.book_id)].every((id) => isSourceId(id)),
    resolve: (collection, _, annotation) => withKey(collection, authorIdOf(annotation), annotation.book_id),
  }),
);

const authorIdOf = ({ author_id, author_user }: Pick<AnnotationRecord, 'author_id' | 'author_user'>): string =>
  asText(asObject(author_user).id) || asText(author_id);

builder.objectField(User, 'bookCollections', (t) =>
  t.connection({
    type: Collection,
    description: "The person's public collections, as a rule last changed first.",
    args: {
      status: t.arg({
        type: CollectionStatusEnum,
        description: 'Only books with this reading status; all by default.',
      }),
      tag: t.arg.string({ description: 'Only books that the reader gave this tag.' }),
      updatedFrom: t.arg({
        type: 'LocalDateTime',
        description: 'Only collections changed at or after this time, as `updatedAt` has it. Upstream: `from`.',
      }),
      updatedTo: t.arg({
        type: 'LocalDateTime',
        description: 'Only collections changed at or before this time, as `updatedAt` has it. Upstream: `to`.',
      }),
      rating: t.arg.int({ description: `Only books with this rating by the reader, ${RATING_MIN} to ${RATING_MAX}.` }),
    },
    endpoint: bookEndpoints.collections,
    isReadAsNobody: true,
    items: ({ collections }, { id }) =>
      asItems(collections, (each) => withKey(each, id, asText(asObject(each.book).id))),
    newestFirst: { time: 'updated', id: 'id' },
    from: userEdgeNames,
    backReference: 'user',
    input: ({ id }, { status, tag, updatedFrom, updatedTo, rating }) => {
      requireRange('rating', rating, RATING_MIN, RATING_MAX);
      return {
        name: id,
        status: status ?? undefined,
        tag: tag?.trim() || undefined,
        from: updatedFrom == null ? undefined : updatedFrom + LOCAL_ZONE,
        to: updatedTo == null ? undefined : updatedTo + LOCAL_ZONE,
        rating: rating ?? undefined,
      };
    },
    isEmpty: isSite,
  }),
);

builder.objectField(User, 'shelfChanges', (t) =>
  t.changes({
    type: Collection,
    description:
      "What has changed on the person's shelf, for a copy of it on a phone: call it until `hasMore` is false. A call reads a hundred entries: those that changed, or all if one was removed.",
    nullIf: 'the user is an organisation, or unknown',
    endpoint: bookEndpoints.collections,
    newestFirst: { time: 'updated', id: 'id' },
    from: userEdgeNames,
    backReference: 'user',
    input: ({ id }) => ({ name: id }),
    isUnavailable: isSite,
  }),
);

export const collectionKeyOf = ({ user_id, book_id }: Pick<CollectionRecord, 'user_id' | 'book_id'>): string =>
  `${asText(user_id)}:${asText(book_id)}`;

/** The key of a collection, `<user>:<book>`; null if the record does not have both ids. */
function keyOf({ user_id = '', book_id = '' }: Partial<CollectionRecord>): string | null {
  return asText(user_id) && asText(book_id) ? collectionKeyOf({ user_id, book_id }) : null;
}

/** A collection with both ids: a member that repeats the request may be absent. */
const withKey = (collection: CollectionRecord, user: string, book: string): CollectionRecord =>
  keyOf(collection)
    ? collection
    : { ...collection, user_id: asText(collection.user_id) || user, book_id: asText(collection.book_id) || book };

function inputOf(key: string): { id: string; user_id: string } {
  const colon = key.indexOf(':');
  return { id: key.slice(colon + 1), user_id: key.slice(0, colon) };
}

import {
  type BookRecord,
  COMMENT_MAX,
  type CollectionDraft,
  type CollectionRecord,
  type CollectionStatus,
  type bookEndpoints,
  collectionStatuses,
  statusAliases,
} from '../../api/book.ts';
import { hasMoreThan } from '../../lib/characters.ts';
import { instantOf, timestamp } from '../store/clock.ts';
import type { CollectionContent, StoredCollection } from '../store/collection.ts';
import { type Rules, personOf, sliceOf } from './call.ts';
import { givenRating, isPrivate, isRating, ratingOrNone } from './opinion.ts';
import { personNamed } from './person.ts';
import { Rejection, found } from './rejection.ts';

export const collectionRules = {
  /** The collection of `user_id`, or of the reader. For other users, a private collection does not exist. */
  collection(call, { id, user_id }) {
    const { books, collections, reader } = call;
    if (!books.has(id)) throw new Rejection(6000);
    const owner = user_id === undefined ? reader : personNamed(call, user_id).id;
    // Not specified: a request with neither a token nor a user id; there is no collection.
    const collection = owner === null ? undefined : collections.find(owner, id);
    if (!collection || (collection.private && owner !== reader)) throw new Rejection(1001);
    return toRecord(collection, books.byId(id));
  },

  collections(call, { name, ...query }) {
    const { status, tag, from, to, rating } = query;
    const person = personNamed(call, name);
    if (status !== undefined && !collectionStatuses.includes(status)) throw new Rejection(999);
    // Not specified: a filter by an invalid rating. Ignoring it would return collections that do not match.
    if (rating !== undefined && !isRating(rating)) throw new Rejection(999);
    // Not specified: whether the owner's own list contains private collections; it does.
    const filter = { all: person.id === call.reader, status, tag, from: localTime(from), to: localTime(to), rating };
    const { items, ...page } = call.collections.list(person.id, filter, sliceOf(query));
    const books = call.books.byIds(items.map((item) => item.book_id));
    return { ...page, collections: items.map((item) => toRecord(item, books.get(item.book_id))) };
  },

  collect(call, { id, ...draft }) {
    const { books, collections } = call;
    if (!books.has(id)) throw new Rejection(6000);
    const added = collections.add(personOf(call), id, checked(draft)); // a unique constraint finds a second one
    return toRecord(found(added, 6011), books.byId(id));
  },

  /** Clears what the draft leaves out. Not specified: updating a missing collection; the error is that it does not exist. */
  updateCollection(call, { id, ...draft }) {
    const { books, collections } = call;
    if (!books.has(id)) throw new Rejection(6000);
    const replaced = collections.replace(personOf(call), id, checked(draft));
    return toRecord(found(replaced, 1001), books.byId(id));
  },

  deleteCollection(call, { id }) {
    if (!call.books.has(id)) throw new Rejection(6000);
    if (!call.collections.remove(personOf(call), id)) throw new Rejection(1001);
  },
} satisfies Partial<Rules<typeof bookEndpoints>>;

function checked(draft: CollectionDraft): CollectionContent {
  const { comment = '', tags = '', rating, privacy } = draft;
  if (draft.status === undefined) throw new Rejection(1002);
  const status = statusAliases[draft.status] ?? draft.status;
  if (!isStatus(status)) throw new Rejection(999);
  if (hasMoreThan(comment, COMMENT_MAX)) throw new Rejection(6010);
  return {
    status,
    comment,
    rating: ratingOrNone(rating),
    private: isPrivate(privacy) ? 1 : 0,
    tags: [...new Set(tags.split(/\s+/u).filter(Boolean))],
  };
}

const isStatus = (status: string): status is CollectionStatus =>
  (collectionStatuses as readonly string[]).includes(status);

/** The time in the time zone of the service, as in the stored records. */
function localTime(rfc3339: string | undefined) {
  if (rfc3339 === undefined) return undefined;
  const instant = instantOf(rfc3339);
  if (instant === null) throw new Rejection(999);
  return timestamp(instant);
}

/** Members without a value are absent, not empty, as in the real service. */
function toRecord(collection: StoredCollection, book: BookRecord | undefined): CollectionRecord {
  const { id, book_id, comment, rating, status, tags, updated, person_id } = collection;
  return {
    id,
    ...(book && { book }),
    book_id,
    ...(comment !== '' && { comment }),
    ...givenRating(rating),
    status,
    ...(tags.length > 0 && { tags }),
    updated,
    user_id: person_id,
  };
}

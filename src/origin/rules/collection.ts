import {
  type BookRecord,
  COMMENT_MAX,
  COUNT_DEFAULT,
  type CollectionDraft,
  type CollectionPage,
  type CollectionRecord,
  type CollectionStatus,
  type CollectionsQuery,
  collectionStatuses,
  statusAliases,
} from '../../api/book.ts';
import { hasMoreThan } from '../../lib/characters.ts';
import { instantOf, timestamp } from '../store/clock.ts';
import type { CollectionContent, StoredCollection } from '../store/collection.ts';
import type { Stores } from '../store/stores.ts';
import { givenRating, isPrivate, isRating, ratingOrNone } from './opinion.ts';
import { personNamed } from './person.ts';
import { Rejection } from './rejection.ts';

/** The collection of `whose`, or of the reader. For other users, a private collection does not exist. */
export function collectionOf(
  stores: Stores,
  reader: string | null,
  id: string,
  whose: string | undefined,
): CollectionRecord {
  const { books, collections, people } = stores;
  if (!books.has(id)) throw new Rejection(6000);
  const owner = whose === undefined ? reader : personNamed(people, whose).id;
  // Not specified: a request with neither a token nor a user id; there is no collection.
  const collection = owner === null ? undefined : collections.find(owner, id);
  if (!collection || (collection.private && owner !== reader)) throw new Rejection(1001);
  return toRecord(collection, books.byId(id));
}

export function collectionsOf(
  stores: Stores,
  reader: string | null,
  name: string,
  query: CollectionsQuery,
): CollectionPage {
  const { start = 0, count = COUNT_DEFAULT, status, tag, from, to, rating } = query;
  const person = personNamed(stores.people, name);
  if (status !== undefined && !collectionStatuses.includes(status)) throw new Rejection(999);
  // Not specified: a filter by an invalid rating. Ignoring it would return collections that do not match.
  if (rating !== undefined && !isRating(rating)) throw new Rejection(999);
  const filter = {
    // Not specified: whether the owner's own list contains private collections; it does.
    all: person.id === reader,
    status,
    tag,
    from: localTime(from),
    to: localTime(to),
    rating,
  };
  const { total, items } = stores.collections.list(person.id, filter, { start, count });
  const books = stores.books.byIds(items.map((item) => item.book_id));
  return { start, count, total, collections: items.map((item) => toRecord(item, books.get(item.book_id))) };
}

export function collect(stores: Stores, reader: string, id: string, draft: CollectionDraft): CollectionRecord {
  const { books, collections } = stores;
  if (!books.has(id)) throw new Rejection(6000);
  const content = checked(draft);
  return stores.transaction(() => {
    const added = collections.add(reader, id, content); // a unique constraint decides between concurrent requests
    if (!added) throw new Rejection(6011);
    return toRecord(added, books.byId(id));
  });
}

/** Clears what the draft leaves out. Not specified: updating a missing collection; the error is that it does not exist. */
export function updateCollection(stores: Stores, reader: string, id: string, draft: CollectionDraft): CollectionRecord {
  const { books, collections } = stores;
  if (!books.has(id)) throw new Rejection(6000);
  const content = checked(draft);
  return stores.transaction(() => {
    const replaced = collections.replace(reader, id, content);
    if (!replaced) throw new Rejection(1001);
    return toRecord(replaced, books.byId(id));
  });
}

export function deleteCollection(stores: Stores, reader: string, id: string) {
  const { books, collections } = stores;
  if (!books.has(id)) throw new Rejection(6000);
  stores.transaction(() => {
    if (!collections.remove(reader, id)) throw new Rejection(1001);
  });
}

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
    private: isPrivate(privacy),
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

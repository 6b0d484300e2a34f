import {
  COMMENT_MAX,
  type CollectionDraft,
  type CollectionRecord,
  type bookEndpoints,
  collectionStatuses,
  statusAliases,
} from '../../../api/book.ts';
import { hasMoreThan } from '../../../lib/text/characters.ts';
import { instantOf, timestamp } from '../../store/clock.ts';
import type { CollectionContent } from '../../store/collection.ts';
import type { Stored } from '../../store/database/schema.ts';
import { bookOfRow, existingBook } from './book-record.ts';
import { type Call, type Rules, personOf, sliceOf } from '../call.ts';
import { givenRating, privateFlag, isRating, ratingOrNone } from '../opinion.ts';
import { personNamed } from '../person.ts';
import { Rejection, found } from '../rejection.ts';

export const collectionRules = {
  /** The collection of `user_id`, or of the reader. For other users, a private collection does not exist. */
  collection(call, { id, user_id }) {
    const { reader } = call;
    const book = existingBook(call, id);
    const owner = user_id === undefined ? reader : personNamed(call, user_id).id;
    // Not specified: a request with neither a token nor a user id; there is no collection.
    const collection = owner === null ? undefined : collectionOf(call, owner, book);
    if (!collection || (collection.private && owner !== reader)) throw new Rejection(1001);
    return toRecord(call, collection);
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
    return { ...page, collections: items.map((row) => toRecord(call, row)) };
  },

  collect(call, { id, ...draft }) {
    const book = existingBook(call, id);
    const added = call.collections.add(personOf(call), book.id, checked(draft)); // a unique constraint finds a second one
    return toRecord(call, found(added, 6011));
  },

  /** Clears what the draft leaves out. Not specified: updating a missing collection; the error is that it does not exist. */
  updateCollection(call, { id, ...draft }) {
    const book = existingBook(call, id);
    const content = checked(draft);
    return toRecord(call, call.collections.replace(ownCollection(call, book), content));
  },

  deleteCollection(call, { id }) {
    call.collections.remove(ownCollection(call, existingBook(call, id)));
  },
} satisfies Partial<Rules<typeof bookEndpoints>>;

const collectionOf = ({ db }: Call, person_id: string, { id }: Stored<'books'>) =>
  db.find('collections', { person_id, book_id: id });

const ownCollection = (call: Call, book: Stored<'books'>): Stored<'collections'> =>
  found(collectionOf(call, personOf(call), book), 1001);

function checked(draft: CollectionDraft): CollectionContent {
  const { comment = '', tags = '', rating, privacy } = draft;
  if (draft.status === undefined) throw new Rejection(1002);
  const named = statusAliases[draft.status] ?? draft.status;
  const status = found(
    collectionStatuses.find((one) => one === named),
    999,
  );
  if (hasMoreThan(comment, COMMENT_MAX)) throw new Rejection(6010);
  return {
    status,
    comment,
    rating: ratingOrNone(rating),
    private: privateFlag(privacy),
    tags: [...new Set(tags.split(/\s+/u).filter(Boolean))],
  };
}

/** The time in the time zone of the service, as in the stored records. */
function localTime(rfc3339: string | undefined) {
  if (rfc3339 === undefined) return undefined;
  const instant = instantOf(rfc3339);
  if (instant === null) throw new Rejection(999);
  return timestamp(instant);
}

/** Members without a value are absent, not empty, as in the real service. */
function toRecord(call: Call, row: Stored<'collections'>): CollectionRecord {
  const { id, book_id, comment, rating, status, updated, person_id } = row;
  const tags = call.collections.tagsIn(row);
  return {
    id,
    book: bookOfRow(call, row),
    book_id,
    ...(comment !== '' && { comment }),
    ...givenRating(rating),
    status,
    ...(tags.length > 0 && { tags }),
    updated,
    user_id: person_id,
  };
}

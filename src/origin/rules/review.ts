import { REVIEW_MORE_THAN, type ReviewDraft, type ReviewRecord, type bookEndpoints } from '../../api/book.ts';
import { hasMoreThan } from '../../lib/text/characters.ts';
import { timestamp } from '../store/clock.ts';
import type { Stored } from '../store/database/schema.ts';
import { bookOfRow, existingBook } from './book/book-record.ts';
import { type Call, type Rules, numericId, owned, personOf } from './call.ts';
import { givenRating, ratingOrNone } from './opinion.ts';
import { personOfRow, userRecord } from './person.ts';
import { Rejection, found } from './rejection.ts';

export const reviewRules = {
  /** Not specified: the number of reviews of one book by one person; it is not limited. */
  createReview(call, draft) {
    if (draft.book === undefined) throw new Rejection(1002);
    const ids = { person_id: personOf(call), book_id: existingBook(call, draft.book).id };
    const now = timestamp();
    const row = { ...ids, ...checked(draft), votes: 0, useless: 0, comments: 0, published: now, updated: now };
    return toRecord(call, call.db.insert('reviews', row));
  },

  updateReview(call, { id, ...draft }) {
    const review = ownReview(call, id);
    const changes = { ...checked(draft), updated: timestamp() };
    call.db.update('reviews', { id: review.id }, changes);
    return toRecord(call, { ...review, ...changes });
  },

  deleteReview(call, { id }) {
    call.db.remove('reviews', { id: ownReview(call, id).id });
    return 'OK';
  },
} satisfies Partial<Rules<typeof bookEndpoints>>;

const ownReview = (call: Call, id: string) =>
  owned(call, found(call.db.find('reviews', { id: numericId(id) }), 6006), 6002);

function checked({ title, content, rating }: ReviewDraft) {
  if (!title?.trim() || content === undefined) throw new Rejection(1002);
  if (!hasMoreThan(content, REVIEW_MORE_THAN)) throw new Rejection(6004);
  return { title, content, rating: ratingOrNone(rating) };
}

function toRecord(call: Call, review: Stored<'reviews'>): ReviewRecord {
  const { id, title, content, rating, votes, useless, comments, published, updated } = review;
  return {
    id,
    title,
    alt: `https://book.catalog.example/review/${id}/`,
    author: userRecord(personOfRow(call, review)),
    book: bookOfRow(call, review),
    ...givenRating(rating),
    votes,
    useless,
    comments,
    content,
    published,
    updated,
  };
}

import { REVIEW_MORE_THAN, type ReviewDraft, type ReviewRecord, type bookEndpoints } from '../../api/book.ts';
import { hasMoreThan } from '../../lib/characters.ts';
import { userRecord } from '../store/people.ts';
import type { ReviewContent } from '../store/review.ts';
import type { Stored } from '../store/schema.ts';
import { type Call, type Rules, personOf } from './call.ts';
import { givenRating, ratingOrNone } from './opinion.ts';
import { numericId } from './numeric-id.ts';
import { Rejection, found } from './rejection.ts';

export const reviewRules = {
  /** Not specified: the number of reviews of one book by one person; it is not limited. */
  createReview(call, draft) {
    if (draft.book === undefined) throw new Rejection(1002);
    if (!call.books.has(draft.book)) throw new Rejection(6000);
    return toRecord(call, call.reviews.add(personOf(call), draft.book, checked(draft)));
  },

  updateReview(call, { id, ...draft }) {
    const review = ownReview(call, id);
    return toRecord(call, call.reviews.replace(review.id, checked(draft)));
  },

  deleteReview(call, { id }) {
    call.reviews.remove(ownReview(call, id).id);
    return 'OK';
  },
} satisfies Partial<Rules<typeof bookEndpoints>>;

function ownReview({ reviews, reader }: Call, id: string): Stored<'reviews'> {
  const review = found(reviews.find(numericId(id)), 6006);
  if (review.person_id !== reader) throw new Rejection(6002);
  return review;
}

function checked({ title, content, rating }: ReviewDraft): ReviewContent {
  if (!title?.trim() || content === undefined) throw new Rejection(1002);
  if (!hasMoreThan(content, REVIEW_MORE_THAN)) throw new Rejection(6004);
  return { title, content, rating: ratingOrNone(rating) };
}

function toRecord({ books, people }: Call, review: Stored<'reviews'>): ReviewRecord {
  const { id, title, content, rating, votes, useless, comments, published, updated } = review;
  const author = people.byId(review.person_id);
  const book = books.byId(review.book_id);
  return {
    id,
    title,
    alt: `https://book.catalog.example/review/${id}/`,
    ...(author && { author: userRecord(author) }),
    ...(book && { book }),
    ...givenRating(rating),
    votes,
    useless,
    comments,
    content,
    published,
    updated,
  };
}

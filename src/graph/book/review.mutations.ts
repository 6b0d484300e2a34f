import { RATING_MAX, RATING_MIN, REVIEW_MORE_THAN, bookEndpoints } from '../../api/book.ts';
import type { InputBuilder } from '../../engine/builder.ts';
import { changeMutations } from '../../engine/fields/change.ts';
import { type ValuesOf, mutation } from '../../engine/fields/mutation.ts';
import { inRange, longerThan, required } from '../../engine/errors/violations.ts';
import { deletion, recordPayload } from '../../engine/fields/mutation-payloads.ts';
import { formerOwner } from '../caller.ts';
import { Review } from './review.ts';

const reviewFields = (t: InputBuilder) => ({
  title: t.string({ required: true, description: 'The title, not empty.' }),
  content: t.string({
    required: true,
    description: `The text, more than ${REVIEW_MORE_THAN} characters (code points).`,
  }),
  rating: t.int({ description: `The rating, from ${RATING_MIN} to ${RATING_MAX}; unrated by default.` }),
});

type ReviewInput = ValuesOf<typeof reviewFields>;

const reviewBroken = ({ title, content, rating }: ReviewInput) => [
  required('title', title),
  longerThan('content', content, REVIEW_MORE_THAN, 'REVIEW_TOO_SHORT'),
  inRange('rating', rating, [RATING_MIN, RATING_MAX], 'RATING_OUT_OF_RANGE'),
];

const draftOf = ({ title, content, rating }: ReviewInput) => ({ title, content, rating: rating ?? undefined });

// No endpoint reads book reviews, so no cache entry becomes stale.
mutation('createReview', {
  description: 'Creates a review of a book.',
  endpoint: bookEndpoints.createReview,
  target: ['bookId', 'Book'],
  input: { description: 'The review to create.', fields: reviewFields },
  check: reviewBroken,
  request: (input, book) => ({ book, ...draftOf(input) }),
  payload: recordPayload('The new review.', 'review', Review),
  invalidates: 'nothing',
});
// No endpoint reads a review, so nothing of it can be kept.
changeMutations('Review', {
  what: 'a review of the caller',
  cleared: 'a rating left out is cleared.',
  endpoint: bookEndpoints.updateReview,
  target: ['id', 'Review'],
  fields: reviewFields,
  check: reviewBroken,
  request: (input, id) => ({ id, ...draftOf(input) }),
  payload: recordPayload('The new review in place of the one before.', 'review', Review),
  invalidates: 'nothing',
});
deletion('Review', {
  description: 'Deletes a review of the caller.',
  endpoint: bookEndpoints.deleteReview,
  owner: formerOwner('author'),
  invalidates: 'nothing',
});
